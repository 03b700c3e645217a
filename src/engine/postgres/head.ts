// The numbers of a container that every write moves on. The row is locked first by whoever writes,
// so that writers of a container follow each other, and what a reader sees of the change order up
// to a head is all there will ever be.
import { type Container, ContainerGone, type Lsn, type Serial } from '../engine.js';
import type { Row } from './connection.js';
import type { Schema } from './schema.js';
import { raw, type Sql, sql } from './sql.js';

export interface Head {
  lsn: Lsn;
  nextSerial: Serial;
  items: number;
  bytes: number;
  /** For each server that wrote: the last of its groups that is part of this. */
  readonly writers: Readonly<Record<string, WriterMark>>;
  /** How long versions are kept, if at all, and up to where they are not, or not any more. */
  readonly retentionMs: number | undefined;
  readonly forgotten: Lsn;
}
export interface WriterMark {
  readonly group: number;
  readonly at: number;
}

/** A container with the bucket all of it lies in. */
export interface Place {
  readonly schema: Schema;
  readonly container: Container;
  readonly bucket: number;
}

/** Servers that wrote no more for so long have nothing left to ask. */
const WRITER_MS_MAX = 3_600_000;

export function headSql({ schema, container, bucket }: Place, isLocked: boolean): Sql {
  const lock = isLocked ? raw('for update') : raw('');
  return sql`select lsn, serial, items, bytes, writers, retention, forgotten from ${schema.head}
    where bucket = ${bucket} and id = ${container.id} ${lock}`;
}

export function headOf(row: Row | undefined, id: string): Head {
  if (!row) throw new ContainerGone(`the engine has no container '${id}'`);
  const [lsn, nextSerial, items, bytes] = row as [number, number, number, number];
  const [writers, retention, forgotten] = row.slice(4) as [string, number | null, number];
  const versions = { retentionMs: retention ?? undefined, forgotten };
  return { lsn, nextSerial, items, bytes, writers: JSON.parse(writers), ...versions };
}

export function storeHeadSql(place: Place, head: Head, writers: Head['writers']): Sql {
  const { schema, container, bucket } = place;
  return sql`update ${schema.head} set lsn = ${head.lsn}, serial = ${head.nextSerial},
    items = ${head.items}, bytes = ${head.bytes}, writers = ${JSON.stringify(writers)}
    where bucket = ${bucket} and id = ${container.id}`;
}

export function withMark(head: Head, server: string, mark: WriterMark): Head['writers'] {
  const kept = Object.entries(head.writers).filter(([, { at }]) => at > mark.at - WRITER_MS_MAX);
  return { ...Object.fromEntries(kept), [server]: mark };
}
