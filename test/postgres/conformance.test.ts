// The conformance files once more, with PostgreSQL behind the server. A part of them by default;
// POSTGRES_SUITES=all runs every file, POSTGRES_SUITES=query,batch those whose names hold a word.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openCluster } from '../../src/engine/postgres/cluster.suite.js';

const folders = ['conformance', 'mongo'].map((name) =>
  join(dirname(fileURLToPath(import.meta.url)), '..', name),
);

/** What writes, expires, counts, pages and feeds: the parts that an engine can get wrong. */
const USUAL = [
  ...['items', 'item-conditions', 'batch.', 'change-feed.', 'delete-partition', 'all-versions'],
  ...['ttl.', 'ttl-changes', 'ttl-expired', 'query-ttl', 'query-aggregates'],
  ...['mongo-crud', 'mongo-ttl', 'mongo-streams'],
];

/** Files that start processes of their own, with a folder as their store. */
const ELSEWHERE = ['cli'];

/** What is told of the embedded engine's inner life, and is otherwise here. */
const DIFFERENT: readonly RegExp[] = [
  // Indexes of PostgreSQL are complete when they are there.
  /^the progress of a change is told, and grows$/,
  // Words and places are looked for in every item.
  /^they look at the items that may be meant, and name the index$/,
  // Filters run where the items are, so fewer come out; and other indexes are read for them.
  /^(query|index) metrics$/,
  /^count and measure: /,
  /^SELECT \* FROM c WHERE /,
  /^a composite index that is missed is read when it is there$/,
];

const cluster = await openCluster();
after(() => cluster.stop());

test('conformance on PostgreSQL', { timeout: 900_000 }, async () => {
  const address = cluster.newStore();
  const files = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => file.endsWith('.test.js') && isWanted(file))
      .map((file) => join(folder, file)),
  );
  assert(files.length > 0);
  const { output, code } = await run(files, address);
  const failed = [...output.matchAll(/^ *not ok \d+ - (.*)$/gm)].map(([, name = '']) => name);
  const unexpected = failed.filter((name) => !DIFFERENT.some((known) => known.test(name)));
  assert.deepEqual(unexpected, [], output.slice(-20_000));
  assert(code === 0 || failed.length > 0, output.slice(-5_000));
  assert(Number(/^# pass (\d+)$/m.exec(output)?.[1]) > 20, 'some tests ran');
});

function isWanted(file: string): boolean {
  const words = process.env.POSTGRES_SUITES?.split(',') ?? USUAL;
  if (ELSEWHERE.some((word) => file.startsWith(word))) return false;
  return words.includes('all') || words.some((word) => file.startsWith(word));
}

function run(files: readonly string[], address: string) {
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const flags = ['--enable-source-maps', '--test', '--test-concurrency=1', '--test-reporter=tap'];
  const child = spawn(process.execPath, [...flags, ...files], {
    env: { ...environment, MAYFLY_TEST_STORE: address },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (text) => {
    output += text;
  });
  child.stderr.on('data', (text) => {
    output += text;
  });
  return new Promise<{ readonly output: string; readonly code: number | null }>((resolve) => {
    child.once('close', (code) => resolve({ output, code }));
  });
}
