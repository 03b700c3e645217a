// The log of all versions, for containers that keep them: written with the commit it tells of, read
// by versions.ts. Others pay nothing for it.

import type { Instant } from '../../time/instant.js';
import { encodeValues } from '../../value/key.js';
import { effectivePartitionKey } from '../../value/partition-hash.js';
import type { Lsn } from '../engine.js';
import type { Place } from './head.js';
import { bufferOf } from './record.js';
import { type Sql, sql } from './sql.js';
import type { LoggedVersion } from './view.js';

export function logSql({ schema, container, bucket }: Place, log: readonly LoggedVersion[]): Sql {
  const column = <T>(of: (version: LoggedVersion, n: number) => T) => log.map(of);
  const hash = container.partitionHash;
  return sql`insert into ${schema.of(container.id).versions}
    (bucket, lsn, n, at, kind, previous, serial, whole, epk, size, body)
    select h.bucket, u.* from ${schema.head} h, unnest(
      ${column(({ lsn }) => lsn)}::bigint[], ${column((_, n) => n)}::int[],
      ${column(({ at }) => at)}::bigint[], ${column(({ kind }) => kind)}::text[],
      ${column(({ previous }) => previous ?? null)}::bigint[],
      ${column(({ item }) => item.serial)}::bigint[],
      ${column(({ item: { key } }) => bufferOf(encodeValues([...key.partition, key.id])))}::bytea[],
      ${column(({ item }) => effectivePartitionKey(item.key.partition, hash))}::text[],
      ${column(({ item }) => item.doc.bytes.length)}::int[],
      ${column(({ item }) => bufferOf(item.doc.bytes))}::bytea[]) u
    where h.bucket = ${bucket} and h.id = ${container.id}`;
}

/** The end of items that are purged, told by the rows that were deleted (`gone`). */
export function logPurgedSql({ schema, container, bucket }: Place, lsn: Lsn, at: Instant): Sql {
  return sql`insert into ${schema.of(container.id).versions}
    (bucket, lsn, n, at, kind, previous, serial, whole, epk, size, body)
    select ${bucket}::int, ${lsn}::bigint, row_number() over (order by serial), ${at}::bigint,
      'expire', lsn, serial, coalesce(whole, k), epk, size, body from gone`;
}
