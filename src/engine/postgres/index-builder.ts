// Keeps the indexes over paths that questions need. Those that the policy names are there from the
// beginning. Where it includes everything, a path that is asked for again and again gets one, in
// the background and beside all writers; few do, because each costs every write.
import { stopwatch } from '../../time/clock.js';
import type { Container, ScanRequest } from '../engine.js';
import type { CompositeIndex } from '../indexing.js';
import type { Lease, Pool } from './connection.js';
import { conjunctsOf } from './filter.js';
import { headOf, headSql, type Place } from './head.js';
import {
  createIndexSql,
  declaredIndexes,
  indexName,
  indexPrefix,
  mayBeIndexed,
} from './path-indexes.js';
import type { Schema } from './schema.js';
import { raw, sql } from './sql.js';

/** A container with fewer items is read as a whole as quickly. */
const ITEMS_MIN = 1_000;
/** So often a path is asked for before it gets an index. */
const USES_MIN = 20;
/** So many of them a container gets beyond those that its policy names. */
export const ON_DEMAND_MAX = 8;
/** So many different paths are counted. */
const COUNTED_MAX = 200;
/** What other servers have made is seen after so long. */
const LOOK_AGAIN_MS = 60_000;
const CONTAINERS_MAX = 2_000;
const WAITING_MAX = 100;

type PlaceOf = () => Promise<Place>;

interface Known {
  /** Those that are there. */
  readonly there: Map<string, CompositeIndex>;
  readonly uses: Map<string, number>;
  /** Since they were looked at. */
  looked: (() => number) | undefined;
  isBusy: boolean;
}

export class IndexBuilder {
  readonly #pool: Pool;
  readonly #schema: Schema;
  readonly #known = new Map<string, Known>();
  #running: Promise<void> = Promise.resolve();
  #waiting = 0;
  #backend: number | undefined;
  #isStopped = false;

  constructor(pool: Pool, schema: Schema) {
    this.#pool = pool;
    this.#schema = schema;
  }

  /** Those of a container; before anybody has looked, those it should have. */
  of(container: Container): readonly CompositeIndex[] {
    const known = this.#known.get(container.id);
    return known?.looked ? [...known.there.values()] : declaredIndexes(container);
  }

  forget(id: string): void {
    this.#known.delete(id);
  }

  /** Takes notice of what is asked. */
  note(container: Container, place: PlaceOf, { filter, order }: ScanRequest): void {
    const known = this.#knownOf(container.id);
    if (known.isBusy || this.#isStopped) return;
    if (!known.looked || known.looked() > LOOK_AGAIN_MS)
      this.#do(known, () => this.#look(place, known));
    const conditions = conjunctsOf(filter).filter(({ op }) => !UNHELPED.includes(op));
    for (const { path } of [...conditions, ...(order.length === 1 ? order : [])]) {
      if (!mayBeIndexed(container, path)) continue;
      const index = [{ path, descending: false }];
      const key = keyOf(index);
      if (known.there.has(key) || !isOften(known, key)) continue;
      const declared = declaredIndexes(container).length;
      if (known.there.size >= declared + ON_DEMAND_MAX) continue;
      this.#do(known, () => this.#build(place, known, index));
    }
  }

  /** What is being built is broken off: the next server that needs it begins anew. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#backend !== undefined) {
      await this.#pool.ask(sql`select pg_cancel_backend(${this.#backend}::int)`).catch(ignore);
    }
    await this.#running;
  }

  #knownOf(id: string): Known {
    const known = this.#known.get(id);
    if (known) return known;
    if (this.#known.size >= CONTAINERS_MAX) this.#known.clear();
    const made = { there: new Map(), uses: new Map(), looked: undefined, isBusy: false };
    this.#known.set(id, made);
    return made;
  }

  /** One after the other. What fails is done the next time that it is needed. */
  #do(known: Known, work: () => Promise<void>): void {
    if (known.isBusy || this.#waiting >= WAITING_MAX) return;
    known.isBusy = true;
    this.#waiting += 1;
    this.#running = this.#running
      .then(() => (this.#isStopped ? undefined : work()))
      .catch(ignore)
      .finally(() => {
        known.isBusy = false;
        this.#waiting -= 1;
      });
  }

  /** Which are there; those that the policy names and that are not are built. */
  async #look(placeOf: PlaceOf, known: Known): Promise<void> {
    const place = await placeOf();
    const { id } = place.container;
    const found = await existingIndexes(this.#pool, this.#schema, id);
    known.there.clear();
    for (const { index, isValid } of found) if (isValid) known.there.set(keyOf(index), index);
    known.looked = stopwatch();
    for (const index of declaredIndexes(place.container)) {
      if (known.there.has(keyOf(index))) continue;
      await this.#build(placeOf, known, index);
    }
  }

  async #build(placeOf: PlaceOf, known: Known, index: CompositeIndex): Promise<void> {
    const place = await placeOf();
    const { id } = place.container;
    known.uses.delete(keyOf(index));
    const { rows } = await this.#pool.ask(headSql(place, false));
    const isDeclared = declaredIndexes(place.container).includes(index);
    if (!isDeclared && headOf(rows[0], id).items < ITEMS_MIN) return;
    const lease = await this.#pool.lease();
    let isBroken = true;
    try {
      const [pid] = (await lease.query(raw('select pg_backend_pid()'))).rows;
      this.#backend = pid?.[0] as number;
      await lease.query(raw('set statement_timeout = 0'));
      if (await this.#buildOn(lease, id, index)) known.there.set(keyOf(index), index);
      await lease.query(raw('reset statement_timeout'));
      isBroken = false;
    } finally {
      this.#backend = undefined;
      lease.release(isBroken);
    }
  }

  async #buildOn(lease: Lease, id: string, index: CompositeIndex): Promise<boolean> {
    const name = indexName(this.#schema, id, index);
    const { items } = this.#schema.of(id);
    const drop = sql`drop index concurrently if exists ${this.#schema.table(name)}`;
    if (await isUnderWay(lease, this.#schema, id)) return false;
    const found = await existingIndexes(lease, this.#schema, id);
    const before = found.find((each) => each.name === name);
    // Somebody was interrupted.
    if (before && !before.isValid) await lease.query(drop);
    try {
      const statements = createIndexSql(this.#schema, id, index, 'beside writers');
      for (const statement of statements) await lease.query(statement);
    } catch (error) {
      await lease.query(drop);
      throw error;
    }
    await lease.query(sql`analyze ${items}`);
    return true;
  }
}

/** A range over everything that is there is no help. */
const UNHELPED: readonly string[] = ['defined', 'word', 'near'];

function keyOf(index: CompositeIndex): string {
  return JSON.stringify(index);
}

function isOften(known: Known, name: string): boolean {
  const uses = (known.uses.get(name) ?? 0) + 1;
  if (known.uses.size >= COUNTED_MAX && !known.uses.has(name)) known.uses.clear();
  known.uses.set(name, uses);
  return uses >= USES_MIN;
}

interface Existing {
  readonly name: string;
  readonly index: CompositeIndex;
  readonly isValid: boolean;
}

export async function existingIndexes(
  asked: Pick<Lease, 'query'> | Pool,
  schema: Schema,
  id: string,
): Promise<readonly Existing[]> {
  const statement = sql`select c.relname, obj_description(c.oid, 'pg_class'), i.indisvalid
    from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indrelid = to_regclass(${nameOf(schema, id)}::text)
      and starts_with(c.relname, ${indexPrefix(schema, id)}::text)`;
  const { rows } = 'ask' in asked ? await asked.ask(statement) : await asked.query(statement);
  return (rows as [string, string | null, boolean][]).map(([name, comment, isValid]) => {
    const index = JSON.parse(comment ?? '[]') as CompositeIndex;
    return { name, index, isValid: isValid && index.length > 0 };
  });
}

async function isUnderWay(lease: Lease, schema: Schema, id: string): Promise<boolean> {
  const { rows } = await lease.query(sql`select from pg_stat_progress_create_index
    where relid = to_regclass(${nameOf(schema, id)}::text)`);
  return rows.length > 0;
}

function nameOf(schema: Schema, id: string): string {
  return schema.of(id).items.strings.join('');
}

function ignore(): void {}
