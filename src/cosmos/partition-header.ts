// The partition key of a request: the header `x-ms-documentdb-partitionkey` in all its forms, and
// the ranges that feeds may be limited to.
//
//   ["a"]  [1]  [true]  [null]   a value
//   [{}]                         the property is missing
//   ["t","u"]                    a hierarchical key
//   []                           missing too, on containers made from legacy ones without a key
import type { IncomingHttpHeaders } from 'node:http';
import type { PartitionRange } from '../catalog/ranges.js';
import type { StoredContainer } from '../catalog/resources.js';
import type { Scope } from '../documents/list.js';
import type { EpkSpan } from '../engine/engine.js';
import { failure } from '../value/errors.js';
import { isTooDeep } from '../value/json.js';
import {
  extractPartitionKey,
  type PartitionKey,
  parsePartitionKey,
} from '../value/partition-key.js';
import { isBeforeSystemKeys } from './legacy.js';
import { header } from './request.js';
import { containerRid } from './rid.js';

const PARTITION_BYTES_MAX = { v1: 101, v2: 2048, multi: 2048 };
const EPK = /^[0-9A-F]{0,320}$/;

/** For operations on one item, which need the whole key; a range they name has to be there. */
export function fullPartitionKey(
  headers: IncomingHttpHeaders,
  container: StoredContainer,
): PartitionKey {
  rangeSpan(headers, container, 'refused');
  return fullPartitionKeyOf(header(headers, 'x-ms-documentdb-partitionkey'), container);
}

/** The same for a key that is not in a header, in the same form. */
export function fullPartitionKeyOf(
  text: string | undefined,
  container: StoredContainer,
): PartitionKey {
  const key = partitionKey(text, container) ?? absentKey(container);
  if (key === undefined) throw failure('partitionKeyMissing');
  if (key.length < container.engine.partitionPaths.length) throw failure('partitionKeyTooFew');
  return key;
}

export function checkedPartitionKey(
  headers: IncomingHttpHeaders,
  container: StoredContainer,
  value: unknown,
): PartitionKey {
  const given = fullPartitionKey(headers, container);
  checkPartitionKey(given, container, value);
  return given;
}

/**
 * The key in the item must be the one of the request: the service routes by one and stores by the
 * other.
 */
export function checkPartitionKey(
  given: PartitionKey,
  container: StoredContainer,
  value: unknown,
): void {
  const found = extractPartitionKey(value, container.engine.partitionPaths);
  if ('unsupported' in found) {
    throw failure('partitionKeyUnsupported', { value: JSON.stringify(found.unsupported) });
  }
  if (!given.every((component, index) => component === found.key[index])) {
    throw failure('partitionKeyMismatch');
  }
  const limit = PARTITION_BYTES_MAX[container.engine.partitionHash];
  for (const component of given) {
    if (typeof component !== 'string' || component.length * 3 <= limit) continue;
    const bytes = Buffer.byteLength(component);
    if (bytes > limit) throw failure('partitionKeyTooLong', { bytes, limit });
  }
}

/**
 * For feeds and queries: a whole key, the beginning of a hierarchical one, a physical range, a
 * span, or everything.
 */
export function scopeOf(
  headers: IncomingHttpHeaders,
  container: StoredContainer,
  goneRanges: 'refused' | 'answered' = 'refused',
): Scope {
  const given = partitionKey(header(headers, 'x-ms-documentdb-partitionkey'), container);
  const span = intersect(rangeSpan(headers, container, goneRanges), epkSpan(headers));
  if (!container.definition.partitionKey.systemKey) return { partition: given, span };
  const partition = given ?? (isBeforeSystemKeys(headers) ? NO_KEY : undefined);
  // Clients look for items without a key in the first range, wherever those are.
  const isKeyless = partition !== undefined && partition[0] === undefined;
  return { partition, span: isKeyless ? undefined : span };
}

const NO_KEY: PartitionKey = [undefined];

/** Where containers have a system key, no key is a key. */
function absentKey({ definition }: StoredContainer): PartitionKey | undefined {
  return definition.partitionKey.systemKey ? NO_KEY : undefined;
}

function partitionKey(
  text: string | undefined,
  container: StoredContainer,
): PartitionKey | undefined {
  if (text === undefined || text === '') return undefined;
  if (isTooDeep(text)) throw failure('partitionKeyMalformed', { value: text });
  const key = parsePartitionKey(text, container.engine.partitionPaths.length);
  if (key.length > 0) return key;
  const absent = absentKey(container);
  if (absent) return absent;
  throw failure('partitionKeyTooFew');
}

/** The physical range that a request names; some clients write `containerRid,rangeId`. */
export function namedRange(headers: IncomingHttpHeaders): number | undefined {
  const text = header(headers, 'x-ms-documentdb-partitionkeyrangeid');
  if (text === undefined || text === '') return undefined;
  const match = /^(?:[^,]*,)?(\d{1,9})$/.exec(text);
  if (!match) throw failure('rangeIdInvalid', { value: text });
  return Number(match[1]);
}

/**
 * A range that was split is gone, but can be answered for: together its children still are what
 * it was.
 */
function rangeSpan(
  headers: IncomingHttpHeaders,
  container: StoredContainer,
  goneRanges: 'refused' | 'answered',
): EpkSpan | undefined {
  const id = namedRange(headers);
  if (id === undefined) return undefined;
  const isMeant = (range: PartitionRange) =>
    range.id === id || (goneRanges === 'answered' && range.parents.includes(id));
  const [first, ...more] = container.ranges.filter(isMeant);
  if (first) return { from: first.from, to: (more.at(-1) ?? first).to };
  throw failure('rangeGone', { id, rid: containerRid(container) });
}

function epkSpan(headers: IncomingHttpHeaders): EpkSpan | undefined {
  const from = header(headers, 'x-ms-start-epk');
  const to = header(headers, 'x-ms-end-epk');
  if (from === undefined && to === undefined) return undefined;
  const bound = (name: string, value: string) => {
    const upper = value.toUpperCase();
    if (EPK.test(upper) && upper.length % 2 === 0) return upper;
    const why = 'It must be an effective partition key in hexadecimal digits.';
    throw failure('invalidHeader', { header: name, value, why });
  };
  return { from: bound('x-ms-start-epk', from ?? ''), to: bound('x-ms-end-epk', to || 'FF') };
}

function intersect(a: EpkSpan | undefined, b: EpkSpan | undefined): EpkSpan | undefined {
  if (!a || !b) return a ?? b;
  const later = (one: string, other: string) => (one > other ? one : other);
  const sooner = (one: string, other: string) => (one > other ? other : one);
  return { from: later(a.from, b.from), to: sooner(a.to, b.to) };
}
