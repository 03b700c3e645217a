// Runs a query page by page: pulls documents from an engine's plan and does whatever the plan did
// not promise. Three ways: rows as they come, rows in an order of their own, and rows folded into
// groups.
import type { Plan } from '../engine/engine.js';
import { stopwatch } from '../time/clock.js';
import type { Instant } from '../time/instant.js';
import {
  compile,
  compileGroups,
  compileSortKeys,
  type Groups,
  identityOf,
  UNDEFINED_KEY,
} from './evaluate.js';
import { foldGroups } from './folds.js';
import type { Value } from './function.js';
import {
  type Aggregated,
  finishWith,
  type KnownGroups,
  lookUpAggregates,
  lookUpGroups,
} from './index-aggregates.js';
import type { Query, Rank } from './logical.js';
import {
  type Counts,
  PageBuilder,
  type PageRequest,
  type Position,
  type QueryPage,
} from './page.js';
import type { PlannedQuery } from './planner.js';
import { Ranking } from './rank.js';
import { RowSource } from './row-source.js';
import { type SortedRow, SortedRows } from './sorted-rows.js';

/** A page of rows as they come ends after this time, and the next one goes on. */
const STREAM_MS = 2000;

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
  const groups = (await lookUpGroups(planned, at)) ?? (await foldGroups(planned, at));
  const [only] = groups?.groups ?? [];
  if (groups && only && planned.query.groupBy.length === 0) {
    return run.known({ values: only.results, lsn: groups.lsn }, after);
  }
  return run.groups(after, groups);
}

class Run {
  readonly #query: Query;
  readonly #request: PageRequest;
  readonly #source: RowSource;

  constructor(query: Query, plan: Plan, request: PageRequest) {
    this.#query = query;
    this.#request = request;
    this.#source = new RowSource(query, plan, request);
  }

  /** Without FROM there is one row and no document. */
  async once(after: Position | undefined): Promise<QueryPage> {
    const page = this.#page(after ?? this.#query);
    if (after) return this.#end(page, undefined);
    const visit = (take: () => boolean) => {
      if (!this.#query.grouped) return void this.#source.eachRowOfNothing(take);
      const groups = compileGroups(this.#query)(this.#source.frame);
      this.#source.eachRowOfNothing(() => groups.add(this.#source.frame));
      groups.finish(this.#source.frame, take);
    };
    await this.#source.rehearse(() => visit(this.#source.touch));
    visit(() => this.#take(page, this.#source.project(this.#source.frame)));
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
    for await (const batch of this.#source.batches(page.room + 1)) {
      const taken = this.#source.takeStored(page, batch);
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
        const visited = this.#source.visit(item, (text) => {
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
        if (!this.#source.isTurnOver) continue;
        if (took() > STREAM_MS) return this.#end(page, position());
        await this.#source.pause();
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
    for await (const batch of this.#source.batches()) {
      for (const item of batch.items) {
        let row = 0;
        const rest = this.#source.visit(item, (text) => {
          const identity = this.#query.distinct
            ? identityOf(this.#source.project(this.#source.frame))
            : `${String(item.serial).padStart(16, '0')}.${String(row).padStart(8, '0')}`;
          row += 1;
          const keys = keysOf(this.#source.frame);
          if (complete || keys[0] !== UNDEFINED_KEY) visit({ keys, identity, text });
          return true;
        });
        if (rest !== true || this.#source.isTurnOver) await this.#source.pause(rest);
      }
    }
  }

  async ranked(rank: Rank, position: Position | undefined): Promise<QueryPage> {
    const page = this.#page(position ?? this.#query);
    const after = position?.way === 'ranked' ? position : undefined;
    const ranking = new Ranking(rank, compile);
    for await (const batch of this.#source.batches()) {
      for (const item of batch.items) {
        const rest = this.#source.visit(item, (text) => {
          ranking.add(this.#source.frame, text);
          return true;
        });
        if (rest !== true || this.#source.isTurnOver) await this.#source.pause(rest);
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
    this.#source.work.lsn = lsn;
    this.#source.frame.aggregates = values;
    await this.#source.rehearse(() => void this.#source.touch());
    if (!after) this.#take(page, this.#source.project(this.#source.frame));
    return this.#end(page, undefined);
  }

  async groups(position: Position | undefined, known: KnownGroups | undefined): Promise<QueryPage> {
    const page = this.#page(position ?? this.#query);
    const after = position?.way === 'groups' ? position : undefined;
    const groups = known ? { finish: finishWith(known) } : await this.#fold();
    if (known) this.#source.work.lsn = known.lsn;
    this.#source.frame.aggregates = this.#query.aggregates.map(() => undefined);
    await this.#source.rehearse(() => groups.finish(this.#source.frame, this.#source.touch));
    const from = after && Buffer.from(after.identity, 'base64').toString('latin1');
    let last = from ?? '';
    let more = false;
    const seen = new Set<string>();
    groups.finish(this.#source.frame, (identity) => {
      const isPassed = from !== undefined && identity <= from;
      if (isPassed && !this.#query.distinct) return true;
      if (!isPassed && (page.full || page.exhausted)) {
        more = page.full && !page.exhausted;
        return false;
      }
      const value = this.#source.project(this.#source.frame);
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
    const groups = compileGroups(this.#query)(this.#source.frame);
    for await (const batch of this.#source.batches()) {
      for (const item of batch.items) {
        const rest = this.#source.eachRow(item, () => groups.add(this.#source.frame));
        if (rest !== true || this.#source.isTurnOver) await this.#source.pause(rest);
      }
    }
    return groups;
  }

  #page(counts: Counts): PageBuilder {
    return new PageBuilder(this.#request, counts);
  }

  #end(page: PageBuilder, next: Position | undefined): QueryPage {
    this.#source.work.outputMs = page.outputMs;
    this.#source.work.functionCalls = this.#source.calls?.made ?? 0;
    this.#source.work.userFunctionMs = this.#source.calls?.tookMs ?? 0;
    return { rows: page.rows, next, work: this.#source.work };
  }

  #take(page: PageBuilder, value: Value): boolean {
    if (value !== undefined && !page.full && !page.exhausted) page.add(() => JSON.stringify(value));
    return true;
  }
}

function base64(resume: Uint8Array): string {
  return Buffer.from(resume).toString('base64');
}
