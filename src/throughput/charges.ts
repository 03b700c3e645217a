// Request units: what an operation costs. The model and where its figures come from are in
// docs/request-units.md; a price that changes here changes there.
import type { Container, Item } from '../engine/engine.js';
import type { Doc } from '../value/doc.js';
import type { MayflyError } from '../value/errors.js';
import { indexedValues } from './indexed-values.js';

const KB = 1024;
/** A document of one published kilobyte is stored with our own properties on top. */
const SYSTEM_BYTES = 256;

/** The published figures: 1 for a kilobyte and 10 for a hundred. */
const READ = { first: 1, perKb: 9 / 99 };
/** The published figures without an index: 5 for a kilobyte and 50 for a hundred. */
const WRITE = { first: 5, perKb: 45 / 99 };
/** Each value that an index finds again, so that a small document comes to 5.5 and up. */
const PER_INDEXED_VALUE = 0.2;
const PER_UNIQUE_KEY = 0.3;
/** A replacement reads what was there and takes it out of the index. */
const REPLACED = 1.5;

/** The least that a query costs in each range it asks, whatever it finds. */
const QUERY_BASE = 2.3;
const PER_INDEX_READ = 0.2;
const PER_DOCUMENT = 0.05;
const PER_KB_LOADED = 0.02;
const PER_KB_ANSWERED = 0.02;
const PER_FUNCTION_CALL = 0.02;
const LEAST = 0.01;

/** Of a script: what starting it takes, and each millisecond that it computes. */
const SCRIPT_BASE = 1;
const PER_SCRIPT_MS = 0.1;

export const LOOKUP_CHARGE = 1;
export const REFUSAL_CHARGE = 1.24;
/** Told to those who are turned away for want of request units, and taken from nobody. */
export const THROTTLED_CHARGE = 0.38;
export const DEFINITION_READ_CHARGE = 2;
export const DEFINITION_WRITE_CHARGE = 4.95;

export function readCharge(bytes: number): number {
  return round(READ.first + furtherKb(bytes) * READ.perKb);
}

/** Of an item that is not there, or is the one the client has. */
export function itemReadCharge(item: Item | undefined, isCurrent = false): number {
  return item && !isCurrent ? readCharge(item.doc.bytes.length) : LOOKUP_CHARGE;
}

export function writeCharge(container: Container, doc: Doc, replaced: boolean): number {
  const { indexing, indexes } = container;
  const created =
    WRITE.first +
    furtherKb(doc.bytes.length) * WRITE.perKb +
    indexedValues(indexing, doc.value) * PER_INDEXED_VALUE +
    indexes.length * PER_UNIQUE_KEY;
  return round(replaced ? created * REPLACED : created);
}

/** A delete takes out what a create put in. */
export function deleteCharge(container: Container, doc: Doc): number {
  return writeCharge(container, doc, false);
}

export function refusalCharge({ kind: { status } }: MayflyError): number {
  if (status === 429) return THROTTLED_CHARGE;
  return status === 404 ? LOOKUP_CHARGE : REFUSAL_CHARGE;
}

/** What a page of a list, a query or a feed took. */
export interface PageWork {
  readonly documents: number;
  readonly documentBytes: number;
  readonly answerBytes: number;
  /** Calls of user-defined functions. */
  readonly functionCalls?: number;
  /** Indexes that were read. */
  readonly indexes?: number;
  /** Physical partitions that were asked. */
  readonly ranges: number;
}

/**
 * Work is charged on the page that does it and the base with the first page alone, so that page
 * sizes change no total.
 */
export function pageCharge(work: PageWork, isFirst: boolean): number {
  const { documents, documentBytes, answerBytes, functionCalls = 0, indexes = 0 } = work;
  const base = isFirst ? QUERY_BASE * work.ranges + indexes * PER_INDEX_READ : 0;
  const charge =
    base +
    documents * PER_DOCUMENT +
    (documentBytes / KB) * PER_KB_LOADED +
    (answerBytes / KB) * PER_KB_ANSWERED +
    functionCalls * PER_FUNCTION_CALL;
  return Math.max(LEAST, round(charge));
}

/** Of the change feed: asking costs a look-up, and what is new what it takes to load it. */
export function feedCharge(documents: number, bytes: number): number {
  if (documents === 0) return LOOKUP_CHARGE;
  const work = { documents, documentBytes: bytes, answerBytes: bytes, ranges: 1 };
  return round(LOOKUP_CHARGE + pageCharge(work, false));
}

export function bytesOf(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + item.doc.bytes.length, 0);
}

/** Of a script: the operations it carried out, by their own charges, and its own computing. */
export function scriptCharge(operations: number, computedMs: number): number {
  return round(SCRIPT_BASE + operations + computedMs * PER_SCRIPT_MS);
}

/** Of removing expired items, many in one commit: no more than reading them. */
export function purgeCharge(items: number, bytes: number): number {
  return items === 0 ? 0 : items * readCharge(bytes / items);
}

function furtherKb(bytes: number): number {
  return Math.max(0, (bytes - SYSTEM_BYTES) / KB - 1);
}

/** Sums of charges of two digits have two digits, however they are rounded in between. */
export function round(charge: number): number {
  return Math.round(charge * 100) / 100;
}
