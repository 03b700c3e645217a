// The statements of a cluster: what a Citus server is told. With TEST_CITUS_URL all suites run on
// one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { citus, dialectOf, plain } from './citus.js';
import type { Pool } from './connection.js';
import { Schema } from './schema.js';
import { raw, textOf } from './sql.js';

const schema = new Schema('my"s');
const squeezed = (text: string) => text.replace(/\s+/g, ' ');

test('shared tables are distributed by bucket, once', () => {
  const [head, lease] = citus.prepare(schema).map((statement) => squeezed(textOf(statement)));
  assert.equal(
    head,
    `select create_distributed_table('"my""s"."head"', 'bucket', colocate_with => 'none', shard_count => 32) ` +
      `where not exists (select from pg_dist_partition where logicalrelid = '"my""s"."head"'::regclass)`,
  );
  assert.match(lease ?? '', /'bucket', colocate_with => '"my""s"."head"'\)/);
});

test('the tables of a container lie beside the head', () => {
  const statements = citus.distribute(schema, 'c-1').map((statement) => textOf(statement));
  assert.equal(statements.length, 3);
  for (const text of statements) assert.match(text, /colocate_with => '"my""s"."head"'/);
  assert.match(statements[0] ?? '', /"d_c-1"/);
  assert.match(statements[1] ?? '', /"u_c-1"/);
});

test('a PostgreSQL by itself has one bucket and nothing to distribute', async () => {
  assert.deepEqual(plain.prepare(schema), []);
  assert.deepEqual(plain.distribute(schema, 'c'), []);
  assert.deepEqual(plain.defining, []);
  assert.equal(await plain.newBucket({} as never, schema), 0);
});

test('buckets are chosen one per shard, the least used first', async () => {
  let asked = '';
  const query = async (statement: Parameters<typeof textOf>[0]) => {
    asked = squeezed(textOf(statement));
    return { rows: [[28]], rowCount: 1, command: 'SELECT' };
  };
  assert.equal(await citus.newBucket({ query, release: () => undefined }, schema), 28);
  assert.match(asked, /group by get_shard_id_for_distribution_column\('"my""s"."head"', n\)/);
  assert.match(asked, /order by count\(c\.id\), b\.bucket limit 1/);
});

test('sizes are those of all shards, and NOTIFY is for a server by itself', () => {
  const size = squeezed(textOf(citus.bytesOf(raw('c.oid'))));
  assert.match(size, /citus_total_relation_size\(c\.oid, fail_on_error => false\)/);
  assert.equal(textOf(plain.bytesOf(raw('c.oid'))), 'pg_total_relation_size(c.oid)');
  assert.deepEqual([plain.notifies, citus.notifies], [true, false]);
});

test('definitions go to the shards one after the other', () => {
  const [mode, ...more] = citus.defining.map((statement) => textOf(statement));
  assert.equal(mode, "set local citus.multi_shard_modify_mode to 'sequential'");
  assert.deepEqual(more, []);
});

test('a server is a cluster when it has the extension', async () => {
  for (const [rows, expected] of [
    [[], plain],
    [[[1]], citus],
  ] as const) {
    const asked: string[] = [];
    const askAlone = async (statement: Parameters<typeof textOf>[0]) => {
      asked.push(textOf(statement));
      return { rows, rowCount: rows.length, command: 'SELECT' };
    };
    assert.equal(await dialectOf({ askAlone } as unknown as Pool), expected);
    assert.deepEqual(asked, ["select 1 from pg_extension where extname = 'citus'"]);
  }
});
