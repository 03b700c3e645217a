// The contract suite on a PostgreSQL that takes itself for a Citus coordinator: the functions of
// the extension are there in outline, so that buckets are many and none is left out by chance.
// What Citus does with a statement only a cluster can tell (TEST_CITUS_URL).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { describeEngine } from '../contract.suite.js';
import { containerNamed } from '../contract-fixture.suite.js';
import { openAt, openCluster } from './cluster.suite.js';

const OUTLINE = `
  set allow_system_table_mods = on;
  insert into pg_extension(oid, extname, extowner, extnamespace, extrelocatable, extversion)
    values (16000, 'citus', 10, 11, false, 'outline');
  create table pg_dist_partition(logicalrelid regclass primary key, with_table regclass);
  create function create_distributed_table(table_name regclass, distribution_column text,
    colocate_with text default 'default', shard_count int default null) returns void
    language plpgsql as $$ begin
      if exists (select from pg_index i where indrelid = table_name and indisunique and not exists (
        select from pg_attribute a where a.attrelid = table_name and a.attname = distribution_column
          and a.attnum = any(i.indkey)))
      then raise 'a unique index without the distribution column'; end if;
      if colocate_with <> 'none' and not exists (
        select from pg_dist_partition where logicalrelid = colocate_with::regclass)
      then raise 'nothing to be colocated with'; end if;
      insert into pg_dist_partition values (table_name, nullif(colocate_with, 'none')::regclass);
    end $$;
  create function get_shard_id_for_distribution_column(head regclass, n int) returns bigint
    language sql as $$ select 102000 + (hashint4(n) & 31)::bigint $$;
  create function citus_total_relation_size(relation regclass, fail_on_error boolean default true)
    returns bigint language sql as $$ select pg_total_relation_size(relation) $$;
`;

const isPossible = !process.env.TEST_CITUS_URL && !process.env.TEST_PG_URL;
if (isPossible) {
  const cluster = await openCluster();
  after(() => cluster.stop());
  await cluster.query(OUTLINE);

  describeEngine('PostgreSQL in the shape of Citus', () => openAt(cluster.newStore()));

  test('containers have shards of their own, and their tables lie together', async () => {
    const store = cluster.newStore();
    const engine = await openAt(store);
    for (let n = 0; n < 40; n++) await engine.createContainer(containerNamed(`box${n}`));
    await engine.check();
    assert((await engine.size()) > 0);
    await engine.dropContainer('box0');
    await engine.close();
    const schema = new URL(store).searchParams.get('schema');
    const { rows } = await cluster.query(`select hashint4(bucket) & 31 as shard, count(*)::int as n
      from ${schema}.container group by 1 order by 2`);
    assert.equal(rows.length, 32, 'one bucket for each shard');
    assert.deepEqual([rows[0]?.n, rows[31]?.n], [1, 2], 'the least used first');
    const { rows: apart } = await cluster.query(`select relname from pg_class
      where relnamespace = '${schema}'::regnamespace and relkind = 'r' and oid not in (
        select logicalrelid from pg_dist_partition)`);
    assert.deepEqual(apart.map(({ relname }) => relname).sort(), ['container', 'meta', 'server']);
  });
}
