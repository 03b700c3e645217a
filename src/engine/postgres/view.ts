// What one transaction sees and has changed so far: the items of the keys it is about, read under
// the lock of the head, and over them its own changes, which can be taken back to a mark.
import { createHash } from 'node:crypto';
import type { Instant } from '../../time/instant.js';
import { encodeValues } from '../../value/key.js';
import { valueAt } from '../../value/path.js';
import type { Container, Item, ItemKey, Lsn, Serial } from '../engine.js';
import type { Lease } from './connection.js';
import type { Head, Place } from './head.js';
import { ITEM_WIDTH, itemColumns, itemOf, keyOf } from './record.js';
import { sql } from './sql.js';

export interface Mark {
  readonly undo: number;
  readonly head: Pick<Head, 'lsn' | 'nextSerial' | 'items' | 'bytes'>;
}
export interface UniqueEntry {
  readonly index: string;
  readonly hash: string;
}

/** A line of the log of versions. */
export interface LoggedVersion {
  readonly kind: 'create' | 'replace' | 'delete' | 'expire';
  readonly item: Pick<Item, 'key' | 'serial' | 'doc'>;
  readonly lsn: Lsn;
  readonly at: Instant;
  readonly previous: Lsn | undefined;
}

export class View {
  /** As the caller sees it whose changes are being applied: rules of expiry may differ. */
  place: Place;
  readonly head: Head;
  readonly #lease: Lease;
  /** By encoded key: the item there, dead ones included. */
  readonly #items = new Map<string, Item | undefined>();
  /** By hash: the serial that holds a value of a unique index. */
  readonly #holders = new Map<string, Item | undefined>();
  /** What is different from the database, by serial; undefined is gone. */
  readonly #changed = new Map<Serial, Item | undefined>();
  readonly #uniques = new Map<string, { serial: Serial; index: string } | undefined>();
  readonly #log: LoggedVersion[] = [];
  readonly #undo: (() => void)[] = [];

  constructor(lease: Lease, place: Place, head: Head) {
    this.#lease = lease;
    this.place = place;
    this.head = head;
  }

  know(key: string, item: Item | undefined): void {
    this.#items.set(key, item);
  }

  at(key: ItemKey): Item | undefined {
    const encoded = hex(keyOf(key));
    if (!this.#items.has(encoded)) throw new Error(`'${key.id}' was not read under the lock`);
    return this.#items.get(encoded);
  }

  /** Kept only where the container keeps versions. */
  log(version: LoggedVersion): void {
    if (this.head.retentionMs === undefined) return;
    this.#log.push(version);
    this.#undo.push(() => this.#log.pop());
  }

  store(item: Item, previous: Item | undefined): void {
    this.#set(this.#items, hex(keyOf(item.key)), item);
    this.#set(this.#changed, item.serial, item);
    this.head.bytes += item.doc.bytes.length - (previous?.doc.bytes.length ?? 0);
    if (!previous) this.head.items += 1;
    if (previous) this.#free(previous);
    for (const { hash, index } of this.uniquesOf(item)) {
      this.#set(this.#holders, hash, item);
      this.#set(this.#uniques, hash, { serial: item.serial, index });
    }
  }

  remove(item: Item): void {
    this.#set(this.#items, hex(keyOf(item.key)), undefined);
    this.#set(this.#changed, item.serial, undefined);
    this.head.items -= 1;
    this.head.bytes -= item.doc.bytes.length;
    this.#free(item);
  }

  uniquesOf(item: Pick<Item, 'key' | 'doc'>): readonly UniqueEntry[] {
    return uniquesOf(this.place.container, item);
  }

  /** The item that holds a value of a unique index, dead or alive. */
  async holderOf(hash: string): Promise<Item | undefined> {
    if (!this.#holders.has(hash)) {
      const { schema, container, bucket } = this.place;
      const tables = schema.of(container.id);
      const { rows } =
        await this.#lease.query(sql`select ${itemColumns('d')} from ${tables.unique} u
        join ${tables.items} d on d.bucket = u.bucket and d.serial = u.serial
        where u.bucket = ${bucket} and u.u = ${Buffer.from(hash, 'hex')}`);
      this.#holders.set(hash, rows[0] && itemOf(rows[0], 0));
    }
    return this.#holders.get(hash);
  }

  mark(): Mark {
    const { lsn, nextSerial, items, bytes } = this.head;
    return { undo: this.#undo.length, head: { lsn, nextSerial, items, bytes } };
  }

  hasChangedSince(mark: Mark): boolean {
    return this.#undo.length > mark.undo;
  }

  rollBack(mark: Mark): void {
    while (this.#undo.length > mark.undo) this.#undo.pop()?.();
    Object.assign(this.head, mark.head);
  }

  get isChanged(): boolean {
    return this.#undo.length > 0;
  }

  /** What to write: an item that came and went is not among it. */
  changes() {
    const stored: Item[] = [];
    const removed: Serial[] = [];
    for (const [serial, item] of this.#changed) {
      if (item) stored.push(item);
      else removed.push(serial);
    }
    const held: { hash: string; serial: Serial; index: string }[] = [];
    const freed: string[] = [];
    for (const [hash, holder] of this.#uniques) {
      if (holder === undefined) freed.push(hash);
      else held.push({ hash, ...holder });
    }
    return { stored, removed, held, freed, log: this.#log };
  }

  #free(item: Item): void {
    for (const { hash } of this.uniquesOf(item)) {
      this.#set(this.#holders, hash, undefined);
      this.#set(this.#uniques, hash, undefined);
    }
  }

  #set<K, V>(map: Map<K, V>, key: K, value: V): void {
    const had = map.has(key);
    const before = map.get(key) as V;
    this.#undo.push(() => {
      if (had) map.set(key, before);
      else map.delete(key);
    });
    map.set(key, value);
  }
}

/** What an item holds in unique indexes: per partition, and a missing value counts as null. */
export function uniquesOf(
  container: Container,
  { key, doc }: Pick<Item, 'key' | 'doc'>,
): readonly UniqueEntry[] {
  const unique = container.indexes.filter((index) => index.unique);
  return unique.flatMap(({ name, paths, listed }) => {
    const found = paths.map(({ path }) => valueAt(doc.value, path));
    // A list holds each of its texts, and a missing one none.
    const tuples = listed
      ? [...new Set((found[0] ?? []) as readonly unknown[])].map((text) => [text])
      : [found.map((value) => value ?? null)];
    return tuples.map((values) => {
      const encoded = encodeValues([name, key.partition.length, ...key.partition, ...values]);
      return { index: name, hash: createHash('sha256').update(encoded).digest('hex') };
    });
  });
}

/** Reads the items of keys, each once. */
export async function readKeys(lease: Lease, place: Place, keys: readonly ItemKey[]) {
  const { schema, container, bucket } = place;
  const encoded = new Map(keys.map((key) => [hex(keyOf(key)), key]));
  const wanted = [...encoded.keys()].map((key) => Buffer.from(key, 'hex'));
  const { rows } = await lease.query(sql`select d.k, ${itemColumns('d')}
    from ${schema.of(container.id).items} d
    where d.bucket = ${bucket} and d.k = any(${wanted}::bytea[])`);
  const found = new Map<string, Item | undefined>();
  for (const key of encoded.keys()) found.set(key, undefined);
  for (const row of rows) {
    const key = hex(row[0] as Buffer);
    found.set(key, itemOf(row, row.length - ITEM_WIDTH, encoded.get(key)));
  }
  return found;
}

function hex(bytes: Buffer): string {
  return bytes.toString('hex');
}
