// Writing documents of a collection: what is stored beside the bytes (fuses, unique keys, place),
// and commits. Whatever decides a write sees the document as it is at that moment.
import type { StoredCollection } from '../catalog/collections.js';
import type {
  Change,
  Container,
  Decision,
  Draft,
  Engine,
  Item,
  Refusal,
  WriteBatch,
  WriteGroup,
} from '../engine/engine.js';
import { collectionFuses, dueAt, isTtl } from '../time/expiry.js';
import { type Instant, secondsOf } from '../time/instant.js';
import type { Purger } from '../time/purger.js';
import { decodeValue, findField, readInt64AsNumber, typeBefore } from '../value/bson/read.js';
import { BsonType } from '../value/bson/types.js';
import type { Bytes, Value } from '../value/bson/value.js';
import { bsonOf, REPLACED, storedBson } from '../value/bson-image.js';
import { keyText, keyTextOf } from '../value/bson-key.js';
import { docFromBytes } from '../value/doc.js';
import type { PartitionKey } from '../value/partition-key.js';

/**
 * What a collection's definition makes of a document; compiled by the face that knows BSON filters.
 * It is asked for when a write is decided, because indexes may come while the write is on its way.
 */
export type ShapeNow = () => CollectionShape;
export interface CollectionShape {
  readonly collection: StoredCollection;
  readonly unique: readonly {
    readonly name: string;
    keysOf(document: Bytes): readonly string[];
  }[];
  readonly dates: readonly {
    readonly rule: string;
    earliest(document: Bytes): number | undefined;
  }[];
  /** Each throws where an index cannot have the document. */
  readonly checks: readonly ((document: Bytes) => unknown)[];
  /** The place of a document; throws where it lacks a part of the shard key. */
  partitionOf(document: Bytes): PartitionKey;
}

/** Pure and synchronous; may run more than once, and throw what the client is to be told. */
export type Edit = (current: Bytes | undefined) => EditResult;
export type EditResult =
  | { readonly put: Bytes; readonly isReplacement?: boolean }
  | { readonly remove: true }
  | { readonly keep: true }
  | { readonly refuse: Refusal };

export interface EditAt {
  readonly partition: PartitionKey;
  readonly id: string;
  readonly edit: Edit;
}
/** `item` is the document afterwards; undefined where it is gone. */
export type EditOutcome =
  | { readonly item: Item | undefined }
  | { readonly refused: Refusal }
  | { readonly error: unknown };

/** What is written in the same commit as some edits. */
export interface Beside {
  /** `changed` says, once they are decided, which of them change something. */
  group(changed: () => readonly number[]): Promise<WriteGroup>;
  /** Why it was refused, where it was. */
  refusal(): Error;
  /** All of it is written. */
  written(changed: readonly number[]): void;
}

export interface CollectionStore {
  readonly engine: Engine;
  readonly purger: Purger;
}

/** All documents of a collection that is not sharded live here. */
export const ONE_PLACE: PartitionKey = [null];

const ID = Buffer.from('_id');
const TTL = Buffer.from('ttl');
/** Versions are told apart by their position in the change order. */
const NO_ETAG = '""';

export function idOf(document: Bytes): Value | undefined {
  return fieldOf(document, ID);
}

export function idText(id: Value): string {
  return keyText(id);
}

/** T31, T32: the `ttl` of a document where it is one. */
export function ttlOf(document: Bytes): number | undefined {
  const at = findField(document, 0, TTL);
  if (at < 0) return undefined;
  const type = typeBefore(document, at, TTL);
  const value =
    type === BsonType.long
      ? readInt64AsNumber(document, at)
      : type === BsonType.double || type === BsonType.int
        ? plainNumber(decodeValue(document, type, at))
        : undefined;
  return isTtl(value) ? value : undefined;
}

/** Everything that is stored for a document written now. */
export function draftOf(
  shape: CollectionShape,
  document: Bytes,
  at: Instant,
  isReplacement = false,
): Draft {
  const id = idOf(document);
  if (id === undefined) throw new Error('a document without _id was to be stored');
  const dates: { readonly rule: string; readonly ms: number }[] = [];
  for (const { rule, earliest } of shape.dates) {
    const ms = earliest(document);
    if (ms !== undefined) dates.push({ rule, ms });
  }
  for (const check of shape.checks) check(document);
  const unique = new Map<string, readonly string[]>();
  for (const { name, keysOf } of shape.unique) {
    const keys = keysOf(document);
    if (keys.length > 0) unique.set(name, keys);
  }
  if (isReplacement && shape.collection.definition.watched) unique.set(REPLACED, []);
  const fuses = collectionFuses(ttlOf(document), dates, secondsOf(at));
  const doc = docFromBytes(storedBson(document, unique));
  return { id: idText(id), etag: NO_ETAG, fuses, doc };
}

/** Each by itself, all in one commit; what one throws is its own outcome. */
export async function editEach(
  store: CollectionStore,
  shape: ShapeNow,
  edits: readonly EditAt[],
  at: Instant,
): Promise<readonly EditOutcome[]> {
  const thrown = new Map<number, unknown>();
  const batches = edits.map(({ partition, id, edit }, index): WriteBatch => {
    const decide = (current: Item | undefined): Decision => {
      thrown.delete(index);
      try {
        return decisionOf(shape, edit, current, at);
      } catch (error) {
        thrown.set(index, error);
        return { keep: true };
      }
    };
    return { partition, changes: [{ kind: 'update', id, decide }] };
  });
  const outcomes = await store.engine.commit(shape().collection.engine, batches, at);
  return outcomes.map((outcome, index): EditOutcome => {
    if (thrown.has(index)) return { error: thrown.get(index) };
    if ('refused' in outcome) return { refused: outcome.refused };
    expect(store, shape(), outcome.items[0]);
    return { item: outcome.items[0] };
  });
}

/**
 * All of them or none, in one place, and what is beside them; the first that fails is told. A
 * refusal of what is beside them is thrown.
 */
export async function editTogether(
  store: CollectionStore,
  shape: ShapeNow,
  edits: readonly EditAt[],
  at: Instant,
  beside?: Beside,
): Promise<
  | { readonly items: readonly (Item | undefined)[] }
  | { readonly failed: number; readonly outcome: EditOutcome }
> {
  const partition = edits[0]?.partition ?? ONE_PLACE;
  let failed: { readonly failed: number; readonly outcome: EditOutcome } | undefined;
  const changed = new Set<number>();
  const changes = edits.map(({ id, edit }, index): Change => {
    const decide = (current: Item | undefined): Decision => {
      if (index === 0) {
        failed = undefined;
        changed.clear();
      }
      try {
        const decision = decisionOf(shape, edit, current, at);
        if ('put' in decision || 'delete' in decision) changed.add(index);
        return decision;
      } catch (error) {
        failed = { failed: index, outcome: { error } };
        return { refuse: 'preconditionFailed' };
      }
    };
    return { kind: 'update', id, decide };
  });
  const container = shape().collection.engine;
  const group = await beside?.group(() => [...changed]);
  const outcome = await commitWith(store, container, { partition, changes }, group, at);
  if ('refused' in outcome) {
    if (beside && outcome.isBeside) throw beside.refusal();
    return failed ?? { failed: outcome.index, outcome: { refused: outcome.refused } };
  }
  beside?.written([...changed]);
  for (const item of outcome.items) expect(store, shape(), item);
  return { items: outcome.items };
}

async function commitWith(
  { engine }: CollectionStore,
  container: Container,
  batch: WriteBatch,
  beside: WriteGroup | undefined,
  at: Instant,
): Promise<
  | { readonly items: readonly (Item | undefined)[] }
  | { readonly refused: Refusal; readonly index: number; readonly isBeside: boolean }
> {
  if (beside) {
    const outcome = await engine.commitTogether([{ container, batches: [batch] }, beside], at);
    if ('refused' in outcome) return { ...outcome, isBeside: outcome.group === 1 };
    return { items: outcome.groups[0]?.batches[0] ?? [] };
  }
  const [outcome] = await engine.commit(container, [batch], at);
  if (!outcome) throw new Error('one batch has one outcome');
  return 'refused' in outcome ? { ...outcome, isBeside: false } : outcome;
}

export function decisionOf(
  shape: ShapeNow,
  edit: Edit,
  current: Item | undefined,
  at: Instant,
): Decision {
  const result = edit(current && bsonOf(current.doc.bytes));
  if (!('put' in result)) return 'remove' in result ? { delete: true } : result;
  return { put: draftOf(shape(), result.put, at, result.isReplacement) };
}

export function shardText(values: readonly Value[]): PartitionKey {
  return [keyTextOf(values)];
}

function expect(
  { purger }: CollectionStore,
  { collection }: CollectionShape,
  item: Item | undefined,
) {
  if (item) purger.expect(collection.engine.id, dueAt(item.fuses, collection.engine.expiry));
}

function fieldOf(document: Bytes, name: Bytes): Value | undefined {
  const at = findField(document, 0, name);
  return at < 0 ? undefined : decodeValue(document, typeBefore(document, at, name), at);
}

function plainNumber(value: Value): number {
  return typeof value === 'number' ? value : (value as { readonly value: number }).value;
}
