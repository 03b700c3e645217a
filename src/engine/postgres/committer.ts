// Group commit: calls for one container that arrive while a group is on its way form the next,
// and share its transaction. The head is locked first, so groups of all servers follow each
// other.
//
// A group that ends with a lost connection may have been committed or not. Every group leaves a
// mark of its server in the head, and a server has one group at a time: the head tells.
//
// Calls may be about further containers, whose heads are locked, too, all in one order. The mark
// stays in the head of the committer's own: others have groups and marks of their own.
import { breathe, stopwatch } from '../../time/clock.js';
import type { Instant } from '../../time/instant.js';
import { idOf } from '../decide.js';
import type { ItemKey, TogetherOutcome, WriteBatch, WriteOutcome } from '../engine.js';
import { applyBatch, applyTogether } from './commit.js';
import { explained, isLost, isPassing, type Lease, type Pool } from './connection.js';
import { headOf, headSql, type Place, storeHeadSql, type WriterMark, withMark } from './head.js';
import { columnsOf, WRITTEN, WRITTEN_VALUES } from './record.js';
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

/** Changes of one container, as part of a call. */
export interface PlacedGroup {
  readonly place: Place;
  readonly batches: readonly WriteBatch[];
}
/** The first of its groups is of the container whose committer has it. */
interface Call {
  readonly groups: readonly PlacedGroup[];
  readonly at: Instant;
  apply(views: Views): Promise<unknown>;
  settle(result: Settled): void;
}
type Settled = { readonly outcome: unknown } | { readonly error: unknown };
/** By the ids of containers. */
type Views = ReadonlyMap<string, View>;

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

  /** Each batch by itself. */
  submit(
    place: Place,
    batches: readonly WriteBatch[],
    at: Instant,
  ): Promise<readonly WriteOutcome[]> {
    const groups = [{ place, batches }];
    return this.#submit({ groups, at }, async (views) => {
      const view = viewAs(views, place);
      const outcomes: WriteOutcome[] = [];
      for (const batch of batches) outcomes.push(await applyBatch(view, batch, at));
      return outcomes;
    });
  }

  /** All groups or none; the first is of this committer's container. */
  submitTogether(groups: readonly PlacedGroup[], at: Instant): Promise<TogetherOutcome> {
    return this.#submit({ groups, at }, (views) => {
      const seen = groups.map(({ place, batches }) => ({ view: viewAs(views, place), batches }));
      return applyTogether(seen, at);
    });
  }

  #submit<T>(call: Pick<Call, 'groups' | 'at'>, apply: (views: Views) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const settle = (result: Settled) => {
        if ('error' in result) reject(result.error);
        else resolve(result.outcome as T);
      };
      this.#queue.push({ ...call, apply, settle });
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
    const lease = await this.#pool.lease();
    let isBroken = true;
    try {
      const { own, views, isDone } = await this.#begin(lease, calls, group.number);
      if (isDone && group.results) {
        await lease.query(ROLLBACK);
        isBroken = false;
        return group.results;
      }
      const results: Settled[] = [];
      for (const call of calls) results.push(await apply(views, call));
      const changed = [...views.values()].filter((view) => view.isChanged);
      if (changed.length > 0) {
        group.results = results;
        const { at } = calls[0] as Call;
        await this.#write(lease, own, changed, { group: group.number, at });
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

  async #begin(lease: Lease, calls: readonly Call[], group: number) {
    const places = placesOf(calls);
    // One after the other on the wire, none waits for an answer: what is read behind the locks is
    // what they have waited for.
    const [, heads, found] = await all([
      lease.query(BEGIN),
      all(places.map(({ place }) => lease.query(headSql(place, true)))),
      all(places.map(({ place, keys }) => readKeys(lease, place, keys))),
    ]);
    const views = new Map<string, View>();
    for (const [index, { place }] of places.entries()) {
      const head = headOf(heads[index]?.rows[0], place.container.id);
      const view = new View(lease, place, head);
      for (const [key, item] of found[index] ?? []) view.know(key, item);
      views.set(place.container.id, view);
    }
    const own = views.get(ownId(calls)) as View;
    return { own, views, isDone: own.head.writers[this.#server]?.group === group };
  }

  /** The mark is left in the container's own head, whether anything else of it changes or not. */
  async #write(lease: Lease, own: View, changed: readonly View[], mark: WriterMark): Promise<void> {
    const statements = [
      ...changed.flatMap((view) => changesSql(view)),
      ...changed
        .filter((view) => view !== own)
        .map(({ place, head }) => storeHeadSql(place, head, head.writers)),
      storeHeadSql(own.place, own.head, withMark(own.head, this.#server, mark)),
      COMMIT,
    ];
    const answers = await all(statements.map((statement) => lease.query(statement)));
    const last = answers.at(-1);
    // After a failed statement COMMIT takes everything back, and says so only here.
    if (last?.command !== 'COMMIT') throw new Error('the transaction was rolled back');
    for (const { place, head } of changed) this.#statistics.note(place, head.items);
  }
}

const BEGIN = raw('begin');
const COMMIT = raw('commit');
const ROLLBACK = raw('rollback');

/** All containers of some calls, with the keys to read, in the order in which everybody locks. */
function placesOf(calls: readonly Call[]) {
  const places = new Map<string, { readonly place: Place; readonly keys: ItemKey[] }>();
  for (const { place, batches } of calls.flatMap(({ groups }) => groups)) {
    const { id } = place.container;
    const known = places.get(id) ?? { place, keys: [] };
    for (const batch of batches) known.keys.push(...keysOf(batch));
    places.set(id, known);
  }
  return [...places].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
}

function ownId(calls: readonly Call[]): string {
  return calls[0]?.groups[0]?.place.container.id ?? '';
}

function keysOf({ partition, changes }: WriteBatch): readonly ItemKey[] {
  return changes.map((change) => ({ partition, id: idOf(change) }));
}

/** As the caller sees the container. */
function viewAs(views: Views, place: Place): View {
  const view = views.get(place.container.id) as View;
  view.place = place;
  return view;
}

/** What `decide` throws undoes its call and nobody else. */
async function apply(views: Views, call: Call): Promise<Settled> {
  const marks = [...views.values()].map((view) => ({ view, mark: view.mark() }));
  try {
    return { outcome: await call.apply(views) };
  } catch (error) {
    if (isPassing(error)) throw error;
    for (const { view, mark } of marks) view.rollBack(mark);
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
    select h.bucket, ${WRITTEN_VALUES} from ${schema.head} h, unnest(${arrays}) u(${COLUMNS})
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
