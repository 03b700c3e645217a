// How far a reader of changes or of versions gets in one go, as the tables `looked`, `counted` and
// `kept` of a statement. It counts up to the end of each commit, because what one commit wrote is
// never divided.
import type { Budget, Lsn } from '../engine.js';
import { type Sql, sql } from './sql.js';

/** What is dead or elsewhere counts too, so that every call ends soon. */
const LOOKED_AT_MAX = 1000;

export interface Log {
  readonly table: Sql;
  /** What tells rows of one commit apart. */
  readonly row: Sql;
  readonly bucket: number;
}

export function keptSql(
  { table, row, bucket }: Log,
  after: Lsn,
  isWanted: Sql,
  budget: Budget,
): Sql {
  return sql`looked as (
      select lsn, ${row}, size, ${isWanted} as wanted from ${table} d
      where bucket = ${bucket} and lsn > ${after}::bigint
      order by lsn fetch first (${LOOKED_AT_MAX}::int) rows with ties),
    counted as (
      select lsn, ${row}, wanted, count(*) filter (where wanted) over before as items,
        coalesce(sum(size) filter (where wanted) over before, 0) as bytes
      from looked window before as (
        order by lsn groups between unbounded preceding and 1 preceding)),
    kept as (
      select * from counted where items < ${Math.max(1, budget.rowsMax)}::int
        and bytes < ${Math.max(1, budget.bytesMax)}::bigint)`;
}
