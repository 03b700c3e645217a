// The conformance files once more, with PostgreSQL behind the server: all of a folder in one
// process, which starts and warms up once. POSTGRES_SUITES=query,batch runs those whose names begin
// with a word.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { withCluster } from '../../src/engine/postgres/cluster.suite.js';

const here = dirname(fileURLToPath(import.meta.url));

/** Files about what happens before a store is asked, or that start processes of their own. */
const ELSEWHERE = [
  ...[
    'cli.',
    'auth.',
    'signing.',
    'entra.',
    'query-plan-wire.',
    'mongo-login.',
    'mongo-wire-fuzz.',
  ],
  // T16: seconds of load beside a purge, by request units that no store knows of.
  'leftover-purge.',
  // Which entries of the embedded store's indexes are looked at.
  'mongo-index-use.',
];

/** What is told of the embedded engine's inner life, and is otherwise here. */
const DIFFERENT: readonly RegExp[] = [
  // Indexes of PostgreSQL are complete when they are there.
  /^the progress of a change is told, and grows$/,
  // Words and places are looked for in every item.
  /^they look at the items that may be meant, and name the index$/,
  // Filters run where the items are, so fewer come out; and other indexes are read for them.
  /^count and measure: /,
  /^SELECT \* FROM c WHERE /,
  /^a composite index that is missed is read when it is there$/,
];

/** A failure by its name; what failed only because something within it did is not told. */
const FAILED = /^( *)not ok \d+ - (.*)\n(?:\1 {2}(?!failureType).*\n)*\1 {2}failureType: '(\w+)'/gm;

const TIMEOUT_MS = 900_000;
const SHOWN_MAX = 3000;

export function describeConformance(
  folder: string,
  isPart: (file: string) => boolean = () => true,
): void {
  const files = readdirSync(join(here, '..', folder)).filter(
    (file) => file.endsWith('.test.js') && isPart(file) && isWanted(file),
  );
  test(`${files.length} files of ${folder} on PostgreSQL`, { timeout: TIMEOUT_MS }, () =>
    withCluster(async (cluster) => {
      if (files.length === 0) return;
      const paths = files.map((file) => join(here, '..', folder, file));
      const { output, code } = await run(paths, cluster.newStore());
      const failed = [...output.matchAll(FAILED)].filter(
        ([, , , type]) => type !== 'subtestsFailed',
      );
      const unexpected = failed
        .filter(([, , name = '']) => !DIFFERENT.some((known) => known.test(name)))
        .map(({ index, 2: name }) => `${name}\n${output.slice(index, index + SHOWN_MAX)}`);
      assert.equal(unexpected.join('\n'), '');
      assert(code === 0 || failed.length > 0, output.slice(-SHOWN_MAX));
      for (const file of files) assert(output.includes(`- ${file}`), `${file} did not run`);
    }),
  );
}

function isWanted(file: string): boolean {
  const words = process.env.POSTGRES_SUITES?.split(',');
  if (words) return words.some((word) => file.startsWith(word));
  return !ELSEWHERE.some((word) => file.startsWith(word));
}

function run(files: readonly string[], address: string) {
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const flags = ['--enable-source-maps', '--test-reporter=tap'];
  const program = join(here, 'several-files.js');
  const child = spawn(process.execPath, [...flags, program, ...files], {
    env: { ...environment, MAYFLY_TEST_STORE: address },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const note = (text: unknown) => {
    output += String(text);
  };
  child.stdout.on('data', note);
  child.stderr.on('data', note);
  return new Promise<{ readonly output: string; readonly code: number | null }>((resolve) => {
    child.once('close', (code) => resolve({ output, code }));
  });
}
