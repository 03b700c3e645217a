// An item as a row, and back.
import type { ExpiryRule, Fuse } from '../../time/expiry.js';
import { type Instant, instant } from '../../time/instant.js';
import { docFromBytes } from '../../value/doc.js';
import { boundKey, decodeValues, encodeValues } from '../../value/key.js';
import { effectivePartitionKey } from '../../value/partition-hash.js';
import type { PartitionKey } from '../../value/partition-key.js';
import type { Container, Item, ItemKey } from '../engine.js';
import type { Row } from './connection.js';
import { fuseOf, KEY_BYTES_MAX, NEVER } from './schema.js';
import { allOf, raw, type Sql, sql } from './sql.js';
import { indexText } from './text.js';

/** What is read of an item, in the order that `itemOf` expects. */
export const ITEM_COLUMNS = [
  ...['serial', 'lsn', 'k', 'whole', 'own', 'dflt', 'more', 'etag', 'body'],
] as const;
export const ITEM_WIDTH = ITEM_COLUMNS.length;

/** Fuses that most items do not have come as NULL, which costs nothing on the way. */
export function itemColumns(alias: string): Sql {
  const column = (name: string) =>
    name === 'own' || name === 'dflt' ? `nullif(${alias}.${name}, ${NEVER})` : `${alias}.${name}`;
  return raw(ITEM_COLUMNS.map(column).join(', '));
}

export function keyOf(key: ItemKey): Buffer {
  return bufferOf(boundKey(encodeValues([...key.partition, key.id]), KEY_BYTES_MAX));
}

/** From a row that has these columns from here on; undefined where the join found none. */
export function itemOf(row: Row, from: number, known?: ItemKey): Item | undefined {
  const [serial, lsn, k, whole, own, dflt, more, etag, body] = row.slice(from, from + ITEM_WIDTH);
  if (serial === null || serial === undefined) return undefined;
  return {
    key: known ?? decodeKey((whole ?? k) as Buffer),
    serial: serial as number,
    etag: etag as string,
    lsn: lsn as number,
    fuses: fusesOf(own as number | null, dflt as number | null, more as string | null),
    doc: docFromBytes(body as Buffer),
  };
}

/** The columns of an upsert, each an array with one value per item. */
export function columnsOf(container: Container, items: readonly Item[]): readonly unknown[][] {
  const columns: unknown[][] = Array.from({ length: WRITTEN.length }, () => []);
  for (const item of items) {
    const values = rowOf(container, item);
    values.forEach((value, index) => {
      columns[index]?.push(value);
    });
  }
  return columns;
}

export const WRITTEN = [
  ['serial', 'bigint'],
  ['lsn', 'bigint'],
  ['k', 'bytea'],
  ['whole', 'bytea'],
  ['epk', 'text'],
  ['own', 'bigint'],
  ['dflt', 'bigint'],
  ['more', 'jsonb'],
  ['etag', 'text'],
  ['size', 'int'],
  ['body', 'bytea'],
  ['x', 'text'],
] as const;

/** What is written of each, as `u` has it. */
export const WRITTEN_VALUES = raw(
  WRITTEN.map(([name]) => {
    if (name === 'body') return `coalesce(u.body, convert_to(u.x, 'UTF8'))`;
    return name === 'x' ? 'u.x::jsonb' : `u.${name}`;
  }).join(', '),
);

function rowOf(container: Container, item: Item): readonly unknown[] {
  const { key, fuses, doc } = item;
  const whole = encodeValues([...key.partition, key.id]);
  const k = boundKey(whole, KEY_BYTES_MAX);
  const { own, dflt, more } = columnsOfFuses(fuses);
  const [body, x] = [bufferOf(doc.bytes), indexText(doc.value, doc.bytes)];
  return [
    item.serial,
    item.lsn,
    bufferOf(k),
    k.length < whole.length ? bufferOf(whole) : null,
    effectivePartitionKey(key.partition, container.partitionHash),
    own,
    dflt,
    more,
    item.etag,
    doc.bytes.length,
    // Most documents are, byte for byte, what is indexed of them, and are sent but once.
    Buffer.from(x).equals(body) ? null : body,
    x,
  ];
}

/**
 * The twin of `isLive` in SQL, pinned to it by the contract suite: `at + lag > now` for all fuses
 * of enabled rules.
 */
export function isLiveSql(rules: readonly ExpiryRule[], now: Instant): Sql {
  const enabled = rules.filter((rule) => rule.enabled);
  return allOf(enabled.map(({ name, lagMs }) => sql`${fuseOf(name)} > ${now - lagMs}::bigint`));
}

function decodeKey(encoded: Buffer): ItemKey {
  const values = decodeValues(encoded);
  return { partition: values.slice(0, -1) as PartitionKey, id: values.at(-1) as string };
}

function columnsOfFuses(fuses: readonly Fuse[]) {
  const more: Record<string, number[]> = {};
  let [own, dflt] = [NEVER, NEVER];
  for (const { rule, at } of fuses) {
    if (rule === 'own' && own === NEVER) own = at;
    else if (rule === 'default' && dflt === NEVER) dflt = at;
    else if (rule === 'own' || rule === 'default') throw new Error(`two fuses of '${rule}'`);
    else more[rule] = [...(more[rule] ?? []), at].sort((a, b) => a - b);
  }
  return { own, dflt, more: Object.keys(more).length === 0 ? null : JSON.stringify(more) };
}

function fusesOf(own: number | null, dflt: number | null, more: string | null): readonly Fuse[] {
  const fuses: Fuse[] = [];
  if (own !== null) fuses.push({ rule: 'own', at: instant(own) });
  if (dflt !== null) fuses.push({ rule: 'default', at: instant(dflt) });
  if (more === null) return fuses;
  for (const [rule, ats] of Object.entries(JSON.parse(more) as Record<string, number[]>)) {
    for (const at of ats) fuses.push({ rule, at: instant(at) });
  }
  return fuses;
}

export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
