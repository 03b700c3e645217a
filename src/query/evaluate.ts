// From one document to the rows it makes: sources nested in each other, then the filter. Subqueries
// work on the same frame, in slots of their own.

import { bytesMaxOf, sortableBytes } from '../engine/indexing.js';
import { failure } from '../value/errors.js';
import { boundKey, encodeValue } from '../value/key.js';
import { type Compiled, compilerWith, type Frame, type SubqueryMode } from './compile.js';
import type { Value } from './function.js';
import { type Aggregate, aggregates } from './functions/aggregates.js';
import type { AggregateCall, Order, Query, Source } from './logical.js';

/** Calls `visit` for every row; it answers false to stop. */
export type Rows = (frame: Frame, visit: () => boolean) => boolean;

const SUBQUERY_ROWS_MAX = 100_000;
/** There is an end to how far JOINs may multiply. */
const ROWS_PER_DOCUMENT_MAX = 100_000;

/** The rows of a document that are made in one go; those before are passed over once more. */
export interface RowWindow {
  from: number;
  until: number;
  /** How many there were so far; more than `until` says that the window was too small. */
  seen: number;
}

export const compile = compilerWith(runSubquery);

/** The rows that pass the sources and the filter of a query. */
export function compileRows(query: Query, window?: RowWindow): Rows {
  const where = query.where && compile(query.where);
  const last: Rows = (frame, visit) => {
    if (window) {
      window.seen += 1;
      if (window.seen > ROWS_PER_DOCUMENT_MAX) throw tooManyRows();
      if (window.seen <= window.from) return true;
      if (window.seen > window.until) return false;
    }
    frame.rows += 1;
    if (frame.rows > ROWS_PER_DOCUMENT_MAX) throw tooManyRows();
    return where && where(frame) !== true ? true : visit();
  };
  return query.sources.reduceRight<Rows>((inner, source) => nest(source, inner), last);
}

function nest(source: Source, inner: Rows): Rows {
  switch (source.kind) {
    case 'document':
      return inner;
    case 'value': {
      const value = compile(source.value);
      return (frame, visit) => bind(frame, source.slot, value(frame), inner, visit);
    }
    case 'elements': {
      const value = compile(source.value);
      return (frame, visit) => bindEach(frame, source.slot, value(frame), inner, visit);
    }
    case 'rows': {
      const rows = compileQuery(source.query);
      return (frame, visit) => {
        for (const value of rows(frame)) {
          const goOn = source.each
            ? bindEach(frame, source.slot, value, inner, visit)
            : bind(frame, source.slot, value, inner, visit);
          if (!goOn) return false;
        }
        return true;
      };
    }
    default:
      throw new Error(`unknown source ${source satisfies never}`);
  }
}

function bind(frame: Frame, slot: number, value: Value, inner: Rows, visit: () => boolean) {
  if (value === undefined) return true;
  frame.slots[slot] = value;
  return inner(frame, visit);
}

function bindEach(frame: Frame, slot: number, values: Value, inner: Rows, visit: () => boolean) {
  if (!Array.isArray(values)) return true;
  for (const value of values) if (!bind(frame, slot, value, inner, visit)) return false;
  return true;
}

function runSubquery(query: Query, mode: SubqueryMode): Compiled {
  const rows = compileQuery(query);
  return (frame) => {
    const values = rows(frame);
    switch (mode) {
      case 'exists':
        return values.length > 0;
      case 'array':
        return [...values];
      case 'all':
        return values.every((value) => value === true);
      case 'last':
        return values.at(-1);
      case 'first':
        return values[0];
      case 'scalar':
        if (values.length > 1) {
          const why = 'A scalar subquery yields more than one row; use ARRAY(…) for all of them.';
          throw failure('invalidInput', { why });
        }
        return values[0];
      default:
        throw new Error(`unknown subquery ${mode satisfies never}`);
    }
  };
}

/** All values a subquery yields for the frame as it is; undefined ones are no rows. */
function compileQuery(query: Query): (frame: Frame) => readonly Value[] {
  const rows = compileRows(query);
  const project = query.project.kind === 'value' ? compile(query.project.value) : undefined;
  if (!project) throw new Error('a subquery has a projection');
  const keysOf = compileSortKeys(query.order);
  const groups = query.grouped ? compileGroups(query) : undefined;
  const collect = (frame: Frame): Sortable[] => {
    const found: Sortable[] = [];
    const add = () => {
      const value = project(frame);
      if (value === undefined) return true;
      if (found.length >= SUBQUERY_ROWS_MAX) throw tooManyRows();
      found.push({ value, keys: keysOf(frame) });
      return true;
    };
    if (!groups) rows(frame, add);
    else {
      // The query around this one may have results of its own in the frame.
      const { aggregates: around } = frame;
      const folded = groups(frame);
      rows(frame, () => folded.add(frame));
      folded.finish(frame, add);
      frame.aggregates = around;
    }
    return found;
  };
  const { offset, limit, distinct } = query;
  return (frame) => {
    const found = collect(frame);
    if (query.order.length > 0) found.sort((a, b) => compareKeys(a.keys, b.keys, query.order));
    const values = found.map(({ value }) => value);
    const kept = distinct ? withoutDoubles(values) : values;
    return kept.slice(offset, limit === undefined ? undefined : offset + limit);
  };
}

interface Sortable {
  readonly value: Value;
  readonly keys: readonly SortKey[];
}

/** Bytes, as text: what an index would hold of a value. So both sort alike, and keys are short. */
export type SortKey = string;

/** The key of a row that lacks what it is sorted by. */
export const UNDEFINED_KEY: SortKey = bytesText(encodeValue(undefined));

export function compileSortKeys(order: readonly Order[]): (frame: Frame) => readonly SortKey[] {
  const values = order.map(({ value }) => compile(value));
  const bytesMax = bytesMaxOf(order.length);
  return (frame) => values.map((value) => bytesText(sortableBytes(value(frame), bytesMax)));
}

export function compareKeys(
  a: readonly SortKey[],
  b: readonly SortKey[],
  order: readonly { readonly descending: boolean }[],
): number {
  for (const [index, { descending }] of order.entries()) {
    const [left, right] = [a[index] ?? '', b[index] ?? ''];
    if (left !== right) return left < right === descending ? 1 : -1;
  }
  return 0;
}

/** Values longer than this are known by their hash, as identities travel in continuation tokens. */
const IDENTITY_BYTES_MAX = 256;

/** A text that is equal for equal values, whatever the order of their properties. */
export function identityOf(value: Value): string {
  return bytesText(boundKey(encodeValue(value), IDENTITY_BYTES_MAX));
}

function bytesText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

function withoutDoubles(values: readonly Value[]): readonly Value[] {
  const seen = new Set<string>();
  return values.filter((value) => {
    const identity = identityOf(value);
    return seen.has(identity) ? false : Boolean(seen.add(identity));
  });
}

/** Rows folded into groups; the first row of a group stands for all in the projection. */
export interface Groups {
  add(frame: Frame): boolean;
  /** Restores each group's row and results, in the order of group keys, and visits it. */
  finish(frame: Frame, visit: (identity: string) => boolean): void;
}
interface Group {
  readonly slots: Value[];
  readonly folds: readonly Aggregate[];
}

/** The service's limit on the cells of a GROUP BY. */
export const GROUP_CELLS_MAX = 500_000;

export function compileGroups(query: Query): (frame: Frame) => Groups {
  const keys = query.groupBy.map(compile);
  const values = query.aggregates.map(({ value }) => compile(value));
  const cells = keys.length + values.length;
  return (start) => {
    const groups = new Map<string, Group>();
    // Without GROUP BY there is one group even if there are no rows.
    if (keys.length === 0) groups.set('', newGroup(start, query.aggregates));
    return {
      add: (frame) => {
        const identity = keys.map((key) => identityOf(key(frame))).join('');
        let group = groups.get(identity);
        if (!group) {
          if (groups.size * cells >= GROUP_CELLS_MAX) throw tooManyRows();
          group = newGroup(frame, query.aggregates);
          groups.set(identity, group);
        }
        for (const [index, fold] of group.folds.entries()) fold.add(values[index]?.(frame));
        return true;
      },
      finish: (frame, visit) => {
        for (const identity of [...groups.keys()].sort()) {
          const group = groups.get(identity) as Group;
          frame.slots.splice(0, frame.slots.length, ...group.slots);
          frame.aggregates = group.folds.map((fold) => fold.result());
          if (!visit(identity)) return;
        }
      },
    };
  };
}

function newGroup(frame: Frame, calls: readonly AggregateCall[]): Group {
  return { slots: [...frame.slots], folds: calls.map(({ name }) => aggregates[name]()) };
}

function tooManyRows() {
  return failure('invalidInput', {
    why: 'The query makes too many rows: JOIN fewer or shorter arrays, or group by less.',
  });
}
