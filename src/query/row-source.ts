// The rows of a query, document by document: pulls batches from an engine's plan, asks beforehand
// what rows ask of user-defined functions, makes the rows of each document, and counts the work.
import type { Batch, Plan } from '../engine/engine.js';
import { breathe, stopwatch } from '../time/clock.js';
import { MayflyError } from '../value/errors.js';
import type { Frame } from './compile.js';
import { compile, compileRows } from './evaluate.js';
import { rowText } from './exact-digits.js';
import type { Value } from './function.js';
import { countExpressions, type Query, ROOT } from './logical.js';
import { noWork, type PageBuilder, type PageRequest, type RowText } from './page.js';
import { type RawFilter, rawFilter } from './raw-filter.js';
import { callsFunctions, FunctionCalls } from './user-functions.js';

const END = { done: true, value: undefined } as const;
const BATCH = { rowsMax: 200, bytesMax: 1_000_000 };
/** After this time, and after so many rows of one document, everybody else has a turn. */
const TURN_MS = 20;
const ROWS_PER_TURN = 5000;
/** Each makes known what the next one needs, and calls are not nested deeper than this. */
const REHEARSALS_MAX = 20;

/** Thrown when the client has gone and the rest of the work is for nobody. */
class Abandoned extends Error {}

export class RowSource {
  readonly #query: Query;
  readonly #plan: Plan;
  readonly #request: PageRequest;
  readonly frame: Frame;
  readonly #rows: ReturnType<typeof compileRows>;
  readonly project: (frame: Frame) => Value;
  readonly work = noWork();
  /** How many expressions a row takes; counted only where somebody asks. */
  readonly #weight: number;
  /** Whether documents are sent on without being looked into. */
  readonly #asStored: boolean;
  readonly #mayMatch: RawFilter | undefined;
  readonly #window = { from: 0, until: 0, seen: 0 };
  /** The user-defined functions that rows call; undefined where they call none. */
  readonly calls: FunctionCalls | undefined;
  #turn = stopwatch();

  constructor(query: Query, plan: Plan, request: PageRequest) {
    this.#query = query;
    this.#plan = plan;
    this.#request = request;
    const { project, where, distinct, rank } = query;
    const isPlain = project.kind === 'document' && !where && !distinct && !rank;
    this.#asStored = isPlain && plan.ordered;
    this.#mayMatch = where && rawFilter(where);
    this.#rows = compileRows(query, this.#window);
    this.project =
      query.project.kind === 'value' ? compile(query.project.value) : (frame) => frame.slots[ROOT];
    this.#weight = request.isTimed ? countExpressions(query) : 0;
    const spent = request.isTimed ? this.work : undefined;
    const { at, random, userFunctions } = request;
    this.calls =
      userFunctions && callsFunctions(query) ? new FunctionCalls(userFunctions) : undefined;
    const context = { now: at, random, spent, functions: this.calls };
    const slots = new Array<Value>(query.slots).fill(undefined);
    this.frame = { slots, context, serial: 0, rows: 0, aggregates: [] };
  }

  /** The first batch is as small as the page wants it, later ones grow. */
  batches(rowsWanted = BATCH.rowsMax): AsyncIterable<Batch> {
    const budget = { ...BATCH, rowsMax: Math.min(rowsWanted, BATCH.rowsMax) };
    const batches = this.#plan.run(this.#request.at, budget)[Symbol.asyncIterator]();
    let last: Batch | undefined;
    // No generator, because most queries end with their first batch, and there it would show.
    const next = async (): Promise<IteratorResult<Batch, undefined>> => {
      if (last) {
        if (last.resume === undefined) return END;
        budget.rowsMax = Math.min(budget.rowsMax * 2, BATCH.rowsMax);
        await breathe();
      }
      const step = await batches.next();
      if (step.done) return END;
      if (this.#request.abandoned()) throw new Abandoned();
      last = step.value;
      this.work.lsn = last.lsn;
      this.work.lookupMs += last.lookupMs;
      this.work.loadMs += last.loadMs;
      if (this.calls) await this.#rehearseItems(last.items);
      return step;
    };
    return { [Symbol.asyncIterator]: () => ({ next }) };
  }

  /** A row of which only the calls matter. */
  readonly touch = (): boolean => {
    this.project(this.frame);
    return true;
  };

  /** Evaluates again and again, until there is no function left to be asked. */
  async rehearse(evaluate: () => void | Promise<void>): Promise<void> {
    const calls = this.calls;
    if (!calls) return;
    calls.clear();
    calls.isRehearsal = true;
    for (let round = 0; round < REHEARSALS_MAX; round++) {
      try {
        await evaluate();
      } catch (error) {
        // It may come of what is not known yet; if not, it comes again.
        if (!(error instanceof MayflyError)) throw error;
      }
      if (!(await calls.settle())) break;
    }
    calls.isRehearsal = false;
  }

  /** Everything that rows are asked for, without taking any. */
  #rehearseItems(items: Batch['items']): Promise<void> {
    const { groupBy, aggregates, order, grouped } = this.#query;
    const asked = [...groupBy, ...[...aggregates, ...order].map(({ value }) => value)].map(compile);
    const calls = this.calls;
    const visit = () => {
      for (const each of asked) each(this.frame);
      return grouped || this.touch();
    };
    let left = items;
    return this.rehearse(async () => {
      const again: Batch['items'][number][] = [];
      for (const item of left) {
        const misses = calls?.misses;
        this.#evaluate(item, visit);
        if (calls?.misses !== misses) again.push(item);
        if (this.isTurnOver) await this.pause();
      }
      left = again;
    });
  }

  #evaluate(item: Batch['items'][number], visit: () => boolean): void {
    if (this.#mayMatch && !this.#mayMatch(asBuffer(item.doc.bytes))) return;
    this.frame.serial = item.serial;
    this.frame.slots[ROOT] = item.doc.value;
    Object.assign(this.#window, { from: 0, until: Number.POSITIVE_INFINITY, seen: 0 });
    this.frame.rows = 0;
    this.#rows(this.frame, visit);
  }

  /** Documents that are rows as they are, as many as fit; how many that were. */
  takeStored(page: PageBuilder, { items }: Batch): number {
    if (!this.#asStored || this.#query.sources.length !== 1) return 0;
    let taken = 0;
    for (const item of items) {
      if (page.full || page.exhausted || !page.add(() => item.doc.bytes)) break;
      this.#note(item);
      taken += 1;
    }
    this.work.matched += taken;
    this.work.instructions += taken * this.#weight;
    return taken;
  }

  #note(item: Batch['items'][number]): void {
    this.work.documents += 1;
    this.work.documentBytes += item.doc.bytes.length;
  }

  /**
   * Calls back with the text of every row of a document; rows that are undefined are none. False
   * when that said to stop; a promise of it where the rows are too many for one turn.
   */
  visit(
    item: Batch['items'][number],
    take: (text: () => RowText) => boolean,
  ): boolean | Promise<boolean> {
    const asStored = this.#query.project.kind === 'document';
    return this.eachRow(item, () => {
      if (asStored) return take(() => item.doc.bytes);
      const value = this.project(this.frame);
      return value === undefined ? true : take(() => rowText(value, item.doc.bytes));
    });
  }

  /** The same without their texts. */
  eachRow(item: Batch['items'][number], visit: () => boolean): boolean | Promise<boolean> {
    this.#note(item);
    if (this.#mayMatch && !this.#mayMatch(asBuffer(item.doc.bytes))) return true;
    this.frame.serial = item.serial;
    if (!this.#asStored) this.frame.slots[ROOT] = item.doc.value;
    let matched = 0;
    const counting = () => {
      if (matched === 0) this.work.matched += 1;
      matched = 1;
      return visit();
    };
    const wholly = this.#makeRows(0, counting);
    return this.#isCut ? this.#makeMore(counting) : wholly;
  }

  get #isCut(): boolean {
    return this.#window.seen > this.#window.until;
  }

  async #makeMore(visit: () => boolean): Promise<boolean> {
    let wholly = false;
    while (this.#isCut) {
      await this.pause();
      wholly = this.#makeRows(this.#window.until, visit);
    }
    return wholly;
  }

  #makeRows(from: number, visit: () => boolean): boolean {
    this.#window.from = from;
    this.#window.until = from + ROWS_PER_TURN;
    this.#window.seen = 0;
    this.frame.rows = 0;
    const wholly = this.#rows(this.frame, visit);
    this.work.instructions += this.frame.rows * this.#weight;
    return wholly;
  }

  /** Calls back for the rows there are without a document. */
  eachRowOfNothing(visit: () => boolean): void {
    this.#window.until = Number.POSITIVE_INFINITY;
    this.#rows(this.frame, visit);
  }

  /** Whether it is time for everybody else. */
  get isTurnOver(): boolean {
    return this.#turn() > TURN_MS;
  }

  /** Lets everybody else go first, once what is under way is done. */
  async pause(underWay?: boolean | Promise<boolean>): Promise<void> {
    await underWay;
    await breathe();
    if (this.#request.abandoned()) throw new Abandoned();
    this.#turn = stopwatch();
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
