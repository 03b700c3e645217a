// Runs a plan: one statement per batch, which filters, sorts and cuts where the items are.
//
// Resume point:  JSON, { k: sort keys, e: effective partition key, s: serial } of the last item.
import { stopwatch } from '../../time/clock.js';
import type { Instant } from '../../time/instant.js';
import { encodeValues } from '../../value/key.js';
import { effectivePartitionKey } from '../../value/partition-hash.js';
import {
  BadResume,
  type Batch,
  type Budget,
  ContainerGone,
  type EpkSpan,
  type Item,
  type Plan,
  type Resume,
  type ScanRequest,
  type Serial,
} from '../engine.js';
import {
  type CompositeIndex,
  compositeFor,
  isIndexed,
  namedPaths,
  samePath,
  showPath,
} from '../indexing.js';
import type { Pool } from './connection.js';
import { conjunctsOf, pushFilter } from './filter.js';
import { countItems, countValues } from './fold.js';
import { foldItems } from './fold-groups.js';
import type { Place } from './head.js';
import { indexUse } from './index-use.js';
import { behindSql, orderSql } from './order.js';
import { declaredIndexes, type Lengths, lengthsFor } from './path-indexes.js';
import { bufferOf, ITEM_COLUMNS, isLiveSql, itemColumns, itemOf } from './record.js';
import { DEFINED, isSortText, sortTextSql, sortTextsOf } from './sort-text.js';
import { allOf, raw, type Sql, sql, textOf } from './sql.js';

export interface Scan {
  readonly pool: Pool;
  readonly place: () => Promise<Place>;
  /** What holds for the items, but for time and place. */
  readonly condition: Sql;
  /** Whether one index leads straight to the first items, whatever is asked for by it. */
  readonly isStraight: boolean;
}

/** With more rows others would wait for their connection. */
const STRAIGHT_ROWS_MAX = 100;
/** Each number is a statement of its own. */
const LITERAL_MAX = 1000;

interface Position {
  readonly keys: readonly string[];
  readonly epk: string;
  readonly serial: Serial;
}
interface Way {
  readonly ordered: boolean;
  /** So many characters of texts are sorted by. */
  readonly orderLength: number;
  /** By effective partition key and serial, because the scan is of a part of the container. */
  readonly byPartition: boolean;
  readonly request: ScanRequest;
}

export function planScan(
  pool: Pool,
  container: Place['container'],
  place: () => Promise<Place>,
  request: ScanRequest,
  indexes: readonly CompositeIndex[] = declaredIndexes(container),
): Plan {
  const { filter, order } = request;
  const { lengths, orderLength } = lengthsFor(indexes, request);
  const { condition: filtered, exact } = pushFilter(filter, lengths);
  const ordered = isOrdered(container, order);
  const isPart = request.partition !== undefined || spanOf(request) !== undefined;
  const isSorted = ordered && order.length > 0;
  const asked: Way = { ordered: isSorted, orderLength, byPartition: isPart, request };
  const begin = request.after && positionOf(asked, request.after);
  // A scan of everything that goes on in a part of it keeps its order, which is that of serials.
  const way: Way = { ...asked, byPartition: isPart && begin?.epk !== '' };
  const condition = allOf([
    ...scopeSql(container, request),
    filtered,
    ...orderScope(container, way),
  ]);
  const isStraight = isLedStraight(container, way, lengths);
  const scan: Scan = { pool, place, condition, isStraight };
  return {
    exact,
    ordered,
    limited: false,
    explain: `${explained(request)}: ${textOf(condition)}`,
    indexes: indexUse(container, request),
    run: (at, budget) => batches(scan, way, begin, at, budget),
    count: async (at) => (exact ? countItems(scan, at) : undefined),
    countBy: async (path, at) => (exact ? countValues(scan, path, at) : undefined),
    fold: async (by, folds, at) => (exact ? foldItems(scan, by, folds, at) : undefined),
  };
}

async function* batches(
  scan: Scan,
  way: Way,
  begin: Position | undefined,
  at: Instant,
  budget: Budget,
): AsyncGenerator<Batch, undefined> {
  let after = begin;
  for (;;) {
    const batch = await readBatch(scan, way, after, at, budget);
    yield batch;
    if (!batch.resume) return;
    after = positionOf(way, batch.resume);
  }
}

async function readBatch(
  scan: Scan,
  way: Way,
  after: Position | undefined,
  at: Instant,
  budget: Budget,
): Promise<Batch> {
  const took = stopwatch();
  const place = await scan.place();
  const limit = Math.max(1, budget.rowsMax);
  const isShort = scan.isStraight && limit <= STRAIGHT_ROWS_MAX;
  // A plan for all values is made for a tenth of the rows, unless it knows how many are wanted.
  const rowsMax = limit <= LITERAL_MAX ? raw(String(limit)) : sql`${limit}::int`;
  const statement = batchSql(scan, way, place, after, at, budget, rowsMax);
  const { rows } = await (isShort ? scan.pool.ask(statement) : scan.pool.askAlone(statement));
  const lookupMs = took();
  const [first] = rows;
  if (!first) throw new ContainerGone(`the engine has no container '${place.container.id}'`);
  const [lsn, found] = first as [number, number | null];
  const items: Item[] = [];
  for (const row of rows) {
    const item = itemOf(row, 2);
    if (item) items.push(item);
  }
  const isEnd = (found ?? 0) < limit && items.length === (found ?? 0);
  const { partitionHash } = place.container;
  const pointAt = (index: number, step: number): Resume => {
    const item = items[index] as Item;
    const { order } = way.request;
    return resumeOf({
      keys: way.ordered ? sortTextsOf(item, order, way.orderLength) : [],
      epk: way.byPartition ? effectivePartitionKey(item.key.partition, partitionHash) : '',
      serial: item.serial + (way.ordered && order[0]?.descending === true ? -step : step),
    });
  };
  return {
    items,
    resumeAfter: (index) => pointAt(index, 0),
    resumeAt: (index) => pointAt(index, -1),
    resume: isEnd ? undefined : pointAt(items.length - 1, 0),
    lsn,
    lookupMs,
    loadMs: took() - lookupMs,
  };
}

/** The head comes along in the first row: what it says and what is found are of one moment. */
function batchSql(
  scan: Scan,
  way: Way,
  place: Place,
  after: Position | undefined,
  at: Instant,
  budget: Budget,
  rowsMax: Sql,
): Sql {
  const { schema, container, bucket } = place;
  const where = allOf([
    sql`d.bucket = ${bucket}`,
    scan.condition,
    isLiveSql(container.expiry, at),
    ...(after ? [behind(way, after)] : []),
  ]);
  const columns = raw(ITEM_COLUMNS.join(', '));
  return sql`select case when c.number > 1 then null else h.lsn end,
      case when c.number > 1 then null else c.found end, ${itemColumns('c')} from ${schema.head} h left join (
      select found, number, ${columns} from (
        select ${columns}, count(*) over () as found,
          sum(size) over (rows unbounded preceding) as total,
          row_number() over (rows unbounded preceding) as number
        from (select d.* from ${schema.of(container.id).items} d
          where ${where} order by ${orderOf(way)} limit ${rowsMax}) page) counted
      where number = 1 or total <= ${budget.bytesMax}::bigint) c on true
    where h.bucket = ${bucket} and h.id = ${container.id} order by c.number`;
}

function isLedStraight(
  { partitionPaths }: Place['container'],
  { ordered, request }: Way,
  lengths: Lengths,
): boolean {
  const { partition, order } = request;
  const conjuncts = conjunctsOf(request.filter);
  if (partition || spanOf(request)) {
    const isOne = partition?.length === partitionPaths.length;
    return isOne && !ordered && conjuncts.length === 0;
  }
  if (!ordered) {
    const [only, ...more] = conjuncts;
    if (!only) return true;
    return more.length === 0 && only.op === '=' && lengths.has(showPath(only.path));
  }
  return order.every(({ path }) => lengths.has(showPath(path))) && conjuncts.length === 0;
}

function orderOf({ ordered, orderLength, byPartition, request }: Way): Sql {
  if (ordered) return orderSql(request.order, orderLength);
  return raw(byPartition ? 'd.epk, d.serial' : 'd.serial');
}

function behind(way: Way, { keys, epk, serial }: Position): Sql {
  const { ordered, orderLength, byPartition, request } = way;
  if (ordered) return behindSql(request.order, orderLength, keys, serial);
  if (byPartition) return sql`(d.epk, d.serial) > (${epk}::text, ${serial}::bigint)`;
  return sql`d.serial > ${serial}::bigint`;
}

/** An order needs an index in the policy, as everywhere; PostgreSQL could do without. */
function isOrdered({ indexing }: Place['container'], order: ScanRequest['order']): boolean {
  const [first, ...more] = order;
  if (!first) return true;
  if (more.length > 0) return compositeFor(indexing, order) !== undefined;
  return !first.path.includes(null) && isIndexed(indexing, first.path);
}

/** An order over one path leaves out what lacks it, unless the policy names the path. */
function orderScope(
  { indexing }: Place['container'],
  { ordered, orderLength, request }: Way,
): readonly Sql[] {
  const [first, ...more] = request.order;
  if (!ordered || !first || more.length > 0) return [];
  if (namedPaths(indexing).some((path) => samePath(path, first.path))) return [];
  return [sql`${sortTextSql(first.path, orderLength)} >= ${raw(`'${DEFINED}'`)}`];
}

export function scopeSql(
  { partitionHash, partitionPaths }: Place['container'],
  request: Pick<ScanRequest, 'partition' | 'span'>,
  whole: Sql = raw('coalesce(d.whole, d.k)'),
): readonly Sql[] {
  const { partition } = request;
  const scope: Sql[] = [];
  const span = spanOf(request);
  if (span) scope.push(sql`d.epk >= ${span.from}::text and d.epk < ${span.to}::text`);
  if (!partition) return scope;
  const epk = effectivePartitionKey(partition, partitionHash);
  const isWhole = partition.length === partitionPaths.length;
  scope.push(isWhole ? sql`d.epk = ${epk}::text` : sql`starts_with(d.epk, ${epk}::text)`);
  const encoded = bufferOf(encodeValues(partition));
  const key = sql`substring(${whole} from 1 for ${encoded.length}::int)`;
  return [...scope, sql`${key} = ${encoded}::bytea`];
}

function spanOf({ span }: Pick<ScanRequest, 'span'>): EpkSpan | undefined {
  return span && (span.from !== '' || span.to !== 'FF') ? span : undefined;
}

function explained({ partition, span, filter, order }: ScanRequest): string {
  const scope = partition ? 'items of one partition key' : span ? 'items of a span' : 'all items';
  const filters = conjunctsOf(filter).map(({ path, op }) => `${showPath(path)} ${op}`);
  const sorted = order.map(({ path }) => `by ${showPath(path)}`);
  return [scope, ...filters, ...sorted].join(', ');
}

function resumeOf({ keys, epk, serial }: Position): Resume {
  return Buffer.from(JSON.stringify({ k: keys, e: epk, s: serial })) as unknown as Resume;
}

/** Resume points come back from clients, so one that no plan of this request made is refused. */
function positionOf({ ordered, request }: Way, resume: Resume): Position {
  const { k, e, s } = parsed(resume);
  const isFitting = Array.isArray(k) && k.length === (ordered ? request.order.length : 0);
  if (!isFitting || !k.every(isSortText)) throw new BadResume();
  if (typeof e !== 'string' || !/^[0-9A-F]*$/.test(e)) throw new BadResume();
  if (!Number.isSafeInteger(s)) throw new BadResume();
  return { keys: k, epk: e, serial: s as number };
}

function parsed(resume: Resume): {
  readonly k?: unknown;
  readonly e?: unknown;
  readonly s?: unknown;
} {
  try {
    return Object(JSON.parse(Buffer.from(resume).toString()));
  } catch {
    throw new BadResume();
  }
}
