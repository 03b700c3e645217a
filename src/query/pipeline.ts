// Runs a query page by page: pulls documents from an engine's plan and does whatever the plan did
// not promise. Three ways: rows as they come, rows in an order of their own, and rows folded into
// groups.
import type { Batch, Plan } from '../engine/engine.js';
import { breathe, stopwatch } from '../time/clock.js';
import type { Instant } from '../time/instant.js';
import { MayflyError } from '../value/errors.js';
import type { Frame } from './compile.js';
import {
  compile,
  compileGroups,
  compileRows,
  compileSortKeys,
  type Groups,
  identityOf,
  UNDEFINED_KEY,
} from './evaluate.js';
import type { Value } from './function.js';
import { type Aggregated, lookUpAggregates, lookUpGroups } from './index-aggregates.js';
import { countExpressions, type Query, type Rank, ROOT } from './logical.js';
import {
  type Counts,
  noWork,
  PageBuilder,
  type PageRequest,
  type Position,
  type QueryPage,
  type RowText,
} from './page.js';
import type { PlannedQuery } from './planner.js';
import { Ranking } from './rank.js';
import { type RawFilter, rawFilter } from './raw-filter.js';
import { type SortedRow, SortedRows } from './sorted-rows.js';
import { callsFunctions, FunctionCalls } from './user-functions.js';

const END = { done: true, value: undefined } as const;
const BATCH = { rowsMax: 200, bytesMax: 1_000_000 };
/** A page of rows as they come ends after this time, and the next one goes on. */
const STREAM_MS = 2000;
/** After this time, and after so many rows of one document, everybody else has a turn. */
const TURN_MS = 20;
const ROWS_PER_TURN = 5000;
/** Each makes known what the next one needs, and calls are not nested deeper than this. */
const REHEARSALS_MAX = 20;

/** Thrown when the client has gone and the rest of the work is for nobody. */
export class Abandoned extends Error {}

export function runPage(
  planned: PlannedQuery,
  after: Position | undefined,
  request: PageRequest,
): Promise<QueryPage> | QueryPage {
  const { query, plan } = planned;
  const run = new Run(query, plan, request);
  if (query.sources.length === 0) return run.once(after);
  if (query.grouped) return runGrouped(run, planned, after, request.at);
  if (query.rank) return run.ranked(query.rank, after);
  if (after?.way === 'sorted' || query.distinct || !plan.ordered) {
    return run.sorted(after);
  }
  return run.stream(after?.way === 'stream' ? after : undefined);
}

async function runGrouped(
  run: Run,
  planned: PlannedQuery,
  after: Position | undefined,
  at: Instant,
): Promise<QueryPage> {
  const known = await lookUpAggregates(planned, at);
  if (known) return run.known(known, after);
  const groups = await lookUpGroups(planned, at);
  return run.groups(after, groups);
}

class Run {
  readonly #query: Query;
  readonly #plan: Plan;
  readonly #request: PageRequest;
  readonly #frame: Frame;
  readonly #rows: ReturnType<typeof compileRows>;
  readonly #project: (frame: Frame) => Value;
  readonly #work = noWork();
  /** How many expressions a row takes; counted only where somebody asks. */
  readonly #weight: number;
  /** Whether documents are sent on without being looked into. */
  readonly #asStored: boolean;
  readonly #mayMatch: RawFilter | undefined;
  readonly #window = { from: 0, until: 0, seen: 0 };
  /** The user-defined functions that rows call; undefined where they call none. */
  readonly #calls: FunctionCalls | undefined;
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
    this.#project =
      query.project.kind === 'value' ? compile(query.project.value) : (frame) => frame.slots[ROOT];
    this.#weight = request.isTimed ? countExpressions(query) : 0;
    const spent = request.isTimed ? this.#work : undefined;
    const { at, random, userFunctions } = request;
    this.#calls =
      userFunctions && callsFunctions(query) ? new FunctionCalls(userFunctions) : undefined;
    const context = { now: at, random, spent, functions: this.#calls };
    const slots = new Array<Value>(query.slots).fill(undefined);
    this.#frame = { slots, context, serial: 0, rows: 0, aggregates: [] };
  }

  /** Without FROM there is one row and no document. */
  async once(after: Position | undefined): Promise<QueryPage> {
    const page = this.#page(after ?? this.#query);
    if (after) return this.#end(page, undefined);
    this.#window.until = Number.POSITIVE_INFINITY;
    const visit = (take: () => boolean) => {
      if (!this.#query.grouped) return void this.#rows(this.#frame, take);
      const groups = compileGroups(this.#query)(this.#frame);
      this.#rows(this.#frame, () => groups.add(this.#frame));
      groups.finish(this.#frame, take);
    };
    await this.#rehearse(() => visit(this.#touch));
    visit(() => this.#take(page, this.#project(this.#frame)));
    return this.#end(page, undefined);
  }

  async stream(after: Extract<Position, { way: 'stream' }> | undefined): Promise<QueryPage> {
    const page = this.#page(after ?? this.#query);
    const took = stopwatch();
    // Where to go on is written down only when it is known to be wanted.
    let resume = (): string | undefined => after?.resume;
    let skip = after?.skip ?? 0;
    let skipOf = after?.skipOf ?? 0;
    const position = (): Position => {
      return { way: 'stream', resume: resume(), skip, skipOf, ...page.counts };
    };
    // One more than there is room for tells whether there is another page.
    for await (const batch of this.#batches(page.room + 1)) {
      const taken = this.#takeStored(page, batch);
      if (taken > 0) {
        if (page.exhausted) return this.#end(page, undefined);
        resume = () => base64(batch.resumeAfter(taken - 1));
        skip = 0;
      }
      for (const [index, item] of batch.items.entries()) {
        if (index < taken) continue;
        // Only here is it known that there is another document, and so another page.
        if (page.full) return this.#end(page, position());
        let row = 0;
        // The document that was in the middle of its rows may be gone, and this another one.
        if (item.serial !== skipOf) skip = 0;
        const visited = this.#visit(item, (text) => {
          const isSkipped = row < skip;
          if (!isSkipped && (page.full || page.exhausted || !page.add(text))) return false;
          row += 1;
          return true;
        });
        const wholly = typeof visited === 'boolean' ? visited : await visited;
        if (page.exhausted) return this.#end(page, undefined);
        skip = wholly ? 0 : row;
        skipOf = item.serial;
        resume = () => base64(wholly ? batch.resumeAfter(index) : batch.resumeAt(index));
        if (!wholly) return this.#end(page, position());
        if (this.#turn() < TURN_MS) continue;
        if (took() > STREAM_MS) return this.#end(page, position());
        await this.#pause();
      }
      const { resume: behind } = batch;
      if (behind === undefined) break;
      resume = () => base64(behind);
      if (page.full || took() > STREAM_MS) return this.#end(page, position());
    }
    return this.#end(page, undefined);
  }

  async sorted(position: Position | undefined): Promise<QueryPage> {
    const page = this.#page(position ?? this.#query);
    const after = position?.way === 'sorted' ? position : undefined;
    const { distinct, order } = this.#query;
    const best = new SortedRows(order, distinct, Math.max(1, page.room), after);
    await this.#eachSorted((row) => best.add(row));
    // A row that is on an earlier page may come again with a key that sorts it behind.
    if (after && distinct && order.length > 0) await this.#eachSorted((row) => best.recall(row));
    for (const row of best.rows()) {
      if (page.full || page.exhausted) break;
      if (!best.isRecalled(row) && !page.add(() => row.text)) break;
      best.passed(row);
    }
    const last = best.lastPassed;
    const more = !page.exhausted && last !== undefined && best.hasMore;
    return this.#end(page, more ? { way: 'sorted', ...last, ...page.counts } : undefined);
  }

  async #eachSorted(visit: (row: SortedRow) => void): Promise<void> {
    const keysOf = compileSortKeys(this.#query.order);
    const { complete } = this.#request;
    for await (const batch of this.#batches()) {
      for (const item of batch.items) {
        let row = 0;
        const rest = this.#visit(item, (text) => {
          const identity = this.#query.distinct
            ? identityOf(this.#project(this.#frame))
            : `${String(item.serial).padStart(16, '0')}.${String(row).padStart(8, '0')}`;
          row += 1;
          const keys = keysOf(this.#frame);
          if (complete || keys[0] !== UNDEFINED_KEY) visit({ keys, identity, text });
          return true;
        });
        if (rest !== true || this.#turn() > TURN_MS) await this.#pause(rest);
      }
    }
  }

  async ranked(rank: Rank, position: Position | undefined): Promise<QueryPage> {
    const page = this.#page(position ?? this.#query);
    const after = position?.way === 'ranked' ? position : undefined;
    const ranking = new Ranking(rank, compile);
    for await (const batch of this.#batches()) {
      for (const item of batch.items) {
        const rest = this.#visit(item, (text) => {
          ranking.add(this.#frame, text);
          return true;
        });
        if (rest !== true || this.#turn() > TURN_MS) await this.#pause(rest);
      }
    }
    let passed = after?.passed ?? 0;
    const rows = ranking.rows();
    while (passed < rows.length && !page.full && !page.exhausted) {
      const row = rows[passed];
      if (row && !page.add(row.text)) break;
      passed += 1;
    }
    const more = passed < rows.length && !page.exhausted;
    return this.#end(page, more ? { way: 'ranked', passed, ...page.counts } : undefined);
  }

  /** Aggregates that the indexes have told, without looking at the documents. */
  async known({ values, lsn }: Aggregated, after: Position | undefined): Promise<QueryPage> {
    const page = this.#page(after ?? this.#query);
    this.#work.lsn = lsn;
    this.#frame.aggregates = values;
    await this.#rehearse(() => void this.#touch());
    if (!after) this.#take(page, this.#project(this.#frame));
    return this.#end(page, undefined);
  }

  async groups(
    position: Position | undefined,
    counted: Awaited<ReturnType<typeof lookUpGroups>>,
  ): Promise<QueryPage> {
    const page = this.#page(position ?? this.#query);
    const after = position?.way === 'groups' ? position : undefined;
    const groups = counted ?? (await this.#fold());
    if (counted) this.#work.lsn = counted.lsn;
    this.#frame.aggregates = this.#query.aggregates.map(() => undefined);
    await this.#rehearse(() => groups.finish(this.#frame, this.#touch));
    const from = after && Buffer.from(after.identity, 'base64').toString('latin1');
    let last = from ?? '';
    let more = false;
    const seen = new Set<string>();
    groups.finish(this.#frame, (identity) => {
      const isPassed = from !== undefined && identity <= from;
      if (isPassed && !this.#query.distinct) return true;
      if (!isPassed && (page.full || page.exhausted)) {
        more = page.full && !page.exhausted;
        return false;
      }
      const value = this.#project(this.#frame);
      const same = this.#query.distinct ? identityOf(value) : '';
      const isNew = !isPassed && value !== undefined && !seen.has(same);
      if (this.#query.distinct) seen.add(same);
      if (isNew && !page.add(() => JSON.stringify(value))) {
        more = true;
        return false;
      }
      if (!isPassed) last = identity;
      return true;
    });
    const identity = Buffer.from(last, 'latin1').toString('base64');
    return this.#end(page, more ? { way: 'groups', identity, ...page.counts } : undefined);
  }

  async #fold(): Promise<Groups> {
    const groups = compileGroups(this.#query)(this.#frame);
    for await (const batch of this.#batches()) {
      for (const item of batch.items) {
        const rest = this.#bindAndRun(item, () => groups.add(this.#frame));
        if (rest !== true || this.#turn() > TURN_MS) await this.#pause(rest);
      }
    }
    return groups;
  }

  #page(counts: Counts): PageBuilder {
    return new PageBuilder(this.#request, counts);
  }

  #end(page: PageBuilder, next: Position | undefined): QueryPage {
    this.#work.outputMs = page.outputMs;
    this.#work.functionCalls = this.#calls?.made ?? 0;
    this.#work.userFunctionMs = this.#calls?.tookMs ?? 0;
    return { rows: page.rows, next, work: this.#work };
  }

  #take(page: PageBuilder, value: Value): boolean {
    if (value !== undefined && !page.full && !page.exhausted) page.add(() => JSON.stringify(value));
    return true;
  }

  /** The first batch is as small as the page wants it, later ones grow. */
  #batches(rowsWanted = BATCH.rowsMax): AsyncIterable<Batch> {
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
      this.#work.lsn = last.lsn;
      this.#work.lookupMs += last.lookupMs;
      this.#work.loadMs += last.loadMs;
      if (this.#calls) await this.#rehearseItems(last.items);
      return step;
    };
    return { [Symbol.asyncIterator]: () => ({ next }) };
  }

  /** A row of which only the calls matter. */
  readonly #touch = (): boolean => {
    this.#project(this.#frame);
    return true;
  };

  /** Evaluates again and again, until there is no function left to be asked. */
  async #rehearse(evaluate: () => void | Promise<void>): Promise<void> {
    const calls = this.#calls;
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
    const calls = this.#calls;
    const visit = () => {
      for (const each of asked) each(this.#frame);
      return grouped || this.#touch();
    };
    let left = items;
    return this.#rehearse(async () => {
      const again: Batch['items'][number][] = [];
      for (const item of left) {
        const misses = calls?.misses;
        this.#evaluate(item, visit);
        if (calls?.misses !== misses) again.push(item);
        if (this.#turn() > TURN_MS) await this.#pause();
      }
      left = again;
    });
  }

  #evaluate(item: Batch['items'][number], visit: () => boolean): void {
    if (this.#mayMatch && !this.#mayMatch(asBuffer(item.doc.bytes))) return;
    this.#frame.serial = item.serial;
    this.#frame.slots[ROOT] = item.doc.value;
    Object.assign(this.#window, { from: 0, until: Number.POSITIVE_INFINITY, seen: 0 });
    this.#frame.rows = 0;
    this.#rows(this.#frame, visit);
  }

  /** Documents that are rows as they are, as many as fit; how many that were. */
  #takeStored(page: PageBuilder, { items }: Batch): number {
    if (!this.#asStored || this.#query.sources.length !== 1) return 0;
    let taken = 0;
    for (const item of items) {
      if (page.full || page.exhausted || !page.add(() => item.doc.bytes)) break;
      this.#note(item);
      taken += 1;
    }
    this.#work.matched += taken;
    this.#work.instructions += taken * this.#weight;
    return taken;
  }

  #note(item: Batch['items'][number]): void {
    this.#work.documents += 1;
    this.#work.documentBytes += item.doc.bytes.length;
  }

  /**
   * Calls back with the text of every row of a document; rows that are undefined are none. False
   * when that said to stop; a promise of it where the rows are too many for one turn.
   */
  #visit(
    item: Batch['items'][number],
    take: (text: () => RowText) => boolean,
  ): boolean | Promise<boolean> {
    const asStored = this.#query.project.kind === 'document';
    return this.#bindAndRun(item, () => {
      if (asStored) return take(() => item.doc.bytes);
      const value = this.#project(this.#frame);
      return value === undefined ? true : take(() => JSON.stringify(value));
    });
  }

  #bindAndRun(item: Batch['items'][number], visit: () => boolean): boolean | Promise<boolean> {
    this.#note(item);
    if (this.#mayMatch && !this.#mayMatch(asBuffer(item.doc.bytes))) return true;
    this.#frame.serial = item.serial;
    if (!this.#asStored) this.#frame.slots[ROOT] = item.doc.value;
    let matched = 0;
    const counting = () => {
      if (matched === 0) this.#work.matched += 1;
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
      await this.#pause();
      wholly = this.#makeRows(this.#window.until, visit);
    }
    return wholly;
  }

  #makeRows(from: number, visit: () => boolean): boolean {
    this.#window.from = from;
    this.#window.until = from + ROWS_PER_TURN;
    this.#window.seen = 0;
    this.#frame.rows = 0;
    const wholly = this.#rows(this.#frame, visit);
    this.#work.instructions += this.#frame.rows * this.#weight;
    return wholly;
  }

  /** Lets everybody else go first, once what is under way is done. */
  async #pause(underWay?: boolean | Promise<boolean>): Promise<void> {
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

function base64(resume: Uint8Array): string {
  return Buffer.from(resume).toString('base64');
}
