// Group commit: calls for one container that arrive while a group is on its way form the next,
// and share its transaction. The head is locked first, so groups of all servers follow each
// other.
//
// A group that ends with a lost connection may have been committed or not. Every group leaves a
// mark of its server in the head, and a server has one group at a time: the head tells.
import { breathe, stopwatch } from '../../time/clock.js';
import type { Instant } from '../../time/instant.js';
import { idOf } from '../decide.js';
import type { ItemKey, WriteBatch, WriteOutcome } from '../engine.js';
import { applyBatch } from './commit.js';
import { explained, isLost, isPassing, type Lease, type Pool } from './connection.js';
import { headOf, headSql, type Place, storeHeadSql, withMark } from './head.js';
import { columnsOf, WRITTEN } from './record.js';
import { raw, type Sql, sql } from './sql.js';
import type { Statistics } from './statistics.js';
import { logSql } from './version-log.js';
import { readKeys, View } from './view.js';

const GROUP_MAX = 128;
const ATTEMPTS_TOOK_MS_MAX = 10_000;
const COLUMNS = raw(WRITTEN.map(([name]) => name).join(', '));
const NEW_VALUES = raw(
  WRITTEN.filter(([name]) => name !== 'serial')
    .map(([name]) => `${name} = excluded.${name}`)
    .join(', '),
);

interface Call {
  readonly place: Place;
  readonly batches: readonly WriteBatch[];
  readonly at: Instant;
  settle(result: Settled): void;
}
type Settled = { readonly outcomes: readonly WriteOutcome[] } | { readonly error: unknown };

export class Committer {
  readonly #pool: Pool;
  readonly #server: string;
  readonly #queue: Call[] = [];
  readonly #nextGroup: () => number;
  readonly #statistics: Statistics;
  #running: Promise<void> | undefined;

  /** Numbers of groups never come again in one server, whichever committer has them. */
  constructor(pool: Pool, server: string, statistics: Statistics, nextGroup: () => number) {
    this.#pool = pool;
    this.#statistics = statistics;
    this.#server = server;
    this.#nextGroup = nextGroup;
  }

  submit(
    place: Place,
    batches: readonly WriteBatch[],
    at: Instant,
  ): Promise<readonly WriteOutcome[]> {
    return new Promise((resolve, reject) => {
      const settle = (result: Settled) => {
        if ('error' in result) reject(result.error);
        else resolve(result.outcomes);
      };
      this.#queue.push({ place, batches, at, settle });
      this.#running ??= this.#drain();
    });
  }

  get isIdle(): boolean {
    return this.#running === undefined;
  }

  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #drain(): Promise<void> {
    await breathe();
    while (this.#queue.length > 0) {
      const calls = this.#queue.splice(0, GROUP_MAX);
      const results = await this.#commit(calls);
      calls.forEach((call, index) => {
        call.settle(results[index] as Settled);
      });
    }
    this.#running = undefined;
  }

  async #commit(calls: readonly Call[]): Promise<readonly Settled[]> {
    try {
      return await this.#commitSurely(calls);
    } catch (error) {
      if (calls.length === 1 || isPassing(error))
        return calls.map(() => ({ error: explained(error) }));
      // Something that the database does not take is in one of them; the others need not suffer.
      const results: Settled[] = [];
      for (const call of calls) results.push(...(await this.#commit([call])));
      return results;
    }
  }

  /** Once and only once, also when connections are lost on the way. */
  async #commitSurely(calls: readonly Call[]): Promise<readonly Settled[]> {
    const group = {
      number: this.#nextGroup(),
      results: undefined as readonly Settled[] | undefined,
    };
    const took = stopwatch();
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#attempt(calls, group);
      } catch (error) {
        if (!isPassing(error) || took() > ATTEMPTS_TOOK_MS_MAX) throw error;
        await this.#pool.pause(attempt);
      }
    }
  }

  async #attempt(
    calls: readonly Call[],
    group: { readonly number: number; results: readonly Settled[] | undefined },
  ): Promise<readonly Settled[]> {
    const place = (calls[0] as Call).place;
    const lease = await this.#pool.lease();
    let isBroken = true;
    try {
      const { view, isDone } = await this.#begin(lease, place, calls, group.number);
      if (isDone && group.results) {
        await lease.query(ROLLBACK);
        isBroken = false;
        return group.results;
      }
      const results: Settled[] = [];
      for (const call of calls) results.push(await apply(view, call));
      if (view.isChanged) {
        group.results = results;
        await this.#write(lease, view, group.number, (calls[0] as Call).at);
      } else await lease.query(ROLLBACK);
      isBroken = false;
      return results;
    } catch (error) {
      if (!isLost(error)) isBroken = await couldNotRollBack(lease);
      throw error;
    } finally {
      lease.release(isBroken);
    }
  }

  async #begin(lease: Lease, place: Place, calls: readonly Call[], group: number) {
    const keys = calls.flatMap(({ batches }) => batches.flatMap(keysOf));
    // One after the other on the wire, none waits for an answer: the second sees what the lock of
    // the first has waited for.
    const [, { rows }, found] = await all([
      lease.query(BEGIN),
      lease.query(headSql(place, true)),
      readKeys(lease, place, keys),
    ]);
    const head = headOf(rows[0], place.container.id);
    const view = new View(lease, place, head);
    for (const [key, item] of found) view.know(key, item);
    return { view, isDone: head.writers[this.#server]?.group === group };
  }

  async #write(lease: Lease, view: View, group: number, at: Instant): Promise<void> {
    const { place, head } = view;
    const writers = withMark(head, this.#server, { group, at });
    const statements = [...changesSql(view), storeHeadSql(place, head, writers), COMMIT];
    const answers = await all(statements.map((statement) => lease.query(statement)));
    const last = answers.at(-1);
    // After a failed statement COMMIT takes everything back, and says so only here.
    if (last?.command !== 'COMMIT') throw new Error('the transaction was rolled back');
    this.#statistics.note(place, head.items);
  }
}

const BEGIN = raw('begin');
const COMMIT = raw('commit');
const ROLLBACK = raw('rollback');

function keysOf({ partition, changes }: WriteBatch): readonly ItemKey[] {
  return changes.map((change) => ({ partition, id: idOf(change) }));
}

/** What `decide` throws undoes its call and nobody else. */
async function apply(view: View, { batches, at, place }: Call): Promise<Settled> {
  const mark = view.mark();
  try {
    const outcomes: WriteOutcome[] = [];
    view.place = place;
    for (const batch of batches) outcomes.push(await applyBatch(view, batch, at));
    return { outcomes };
  } catch (error) {
    if (isPassing(error)) throw error;
    view.rollBack(mark);
    return { error };
  }
}

/** The statements that write what a view has changed. */
export function changesSql(view: View): readonly Sql[] {
  const { schema, container, bucket } = view.place;
  const { items, unique } = schema.of(container.id);
  const { stored, removed, held, freed, log } = view.changes();
  const statements: Sql[] = [];
  if (freed.length > 0) {
    const hashes = freed.map((hash) => Buffer.from(hash, 'hex'));
    statements.push(
      sql`delete from ${unique} where bucket = ${bucket} and u = any(${hashes}::bytea[])`,
    );
  }
  if (removed.length > 0) {
    statements.push(
      sql`delete from ${items} where bucket = ${bucket} and serial = any(${removed}::bigint[])`,
    );
  }
  if (stored.length > 0) statements.push(upsertSql(view, stored));
  if (held.length > 0) {
    const hashes = held.map(({ hash }) => Buffer.from(hash, 'hex'));
    const serials = held.map(({ serial }) => serial);
    const names = held.map(({ index }) => index);
    statements.push(sql`insert into ${unique}(bucket, u, serial, name)
      select h.bucket, u.* from ${schema.head} h,
        unnest(${hashes}::bytea[], ${serials}::bigint[], ${names}::text[]) u
      where h.bucket = ${bucket} and h.id = ${container.id}
      on conflict (bucket, u) do update set serial = excluded.serial, name = excluded.name`);
  }
  if (log.length > 0) statements.push(logSql(view.place, log));
  return statements;
}

function upsertSql(view: View, stored: Parameters<typeof columnsOf>[1]): Sql {
  const { schema, container, bucket } = view.place;
  const columns = columnsOf(container, stored).map(
    (values, index) => sql`${values}::${raw(WRITTEN[index]?.[1] ?? '')}[]`,
  );
  const arrays = columns.reduce((before, column) => sql`${before}, ${column}`);
  return sql`insert into ${schema.of(container.id).items}(bucket, ${COLUMNS})
    select h.bucket, u.* from ${schema.head} h, unnest(${arrays}) u
    where h.bucket = ${bucket} and h.id = ${container.id}
    on conflict (bucket, serial) do update set ${NEW_VALUES}`;
}

/** All have been sent; the first that failed is the reason, and none is left unobserved. */
async function all<const T extends readonly Promise<unknown>[]>(
  sent: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const settled = await Promise.allSettled(sent);
  const failed = settled.find((each) => each.status === 'rejected');
  if (failed) throw failed.reason;
  return settled.map((each) => (each as PromiseFulfilledResult<unknown>).value) as never;
}

async function couldNotRollBack(lease: Lease): Promise<boolean> {
  try {
    await lease.query(ROLLBACK);
    return false;
  } catch {
    return true;
  }
}
