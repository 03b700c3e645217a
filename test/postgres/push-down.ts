// Prints how many of the queries of the conformance tests PostgreSQL answers exactly: what it sends
// needs no second look. `node dist/test/postgres/push-down.js`
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { pushFilter } from '../../src/engine/postgres/filter.js';
import type { Query } from '../../src/query/logical.js';
import { weaken } from '../../src/query/weaken.js';
import { lowerSql } from '../../src/sql/lower.js';
import { parseSql } from '../../src/sql/parser.js';

const AIM = 2 / 3;
const here = dirname(fileURLToPath(import.meta.url));

/** With a file of recorded queries as the argument the tests need not run again. */
function recorded(known: string | undefined): readonly string[] {
  if (known !== undefined)
    return [...new Set(readFileSync(known, 'utf8').split('\n').filter(Boolean))];
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-queries-'));
  const file = join(folder, 'queries');
  const tests = join(here, '..', 'conformance');
  const files = readdirSync(tests).filter((name) => /^(query|ttl).*\.test\.js$/.test(name));
  const recorder = pathToFileURL(join(here, 'record-queries.js')).href;
  spawnSync(
    process.execPath,
    ['--test', '--test-concurrency=2', ...files.map((name) => join(tests, name))],
    {
      env: { ...process.env, MAYFLY_RECORD: file, NODE_OPTIONS: `--import ${recorder}` },
      stdio: 'ignore',
    },
  );
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  rmSync(folder, { recursive: true });
  return [...new Set(lines)];
}

interface Recorded {
  readonly query: string;
  readonly parameters?: readonly { readonly name: string; readonly value: unknown }[];
}

/** Undefined for texts that are refused, which tests send, too. */
function understood(line: string): { text: string; query: Query } | undefined {
  try {
    const { query: text, parameters = [] } = JSON.parse(line) as Recorded;
    const values = new Map(parameters.map(({ name, value }) => [name, value]));
    return { text, query: lowerSql(parseSql(text), values as never) };
  } catch {
    return undefined;
  }
}

function isExact(query: Query): boolean {
  if (query.derived) return isExact(query.derived);
  if (!query.where) return true;
  const { filter, exact } = weaken(query.where);
  return exact && pushFilter(filter).exact;
}

const [known] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const lines = recorded(known);
const queries = lines.flatMap((line) => understood(line) ?? []);
const onItems = queries.filter(({ query }) => query.sources.length > 0 || query.derived);
const exact = onItems.filter(({ query }) => isExact(query));
const asked = onItems.filter(({ query }) => query.where || query.derived?.where);
const exactly = asked.filter(({ query }) => isExact(query));
const percent = (part: number, whole: number) => `${((part * 100) / whole).toFixed(1)} %`;
if (process.argv.includes('--list')) {
  for (const { text, query } of asked) {
    if (!isExact(query)) process.stdout.write(`  ${text.replace(/\s+/g, ' ').slice(0, 150)}\n`);
  }
}
process.stdout.write(
  `${lines.length} different queries were sent, ${onItems.length} are about items.\n` +
    `exact on PostgreSQL: ${exact.length} (${percent(exact.length, onItems.length)}); ` +
    `of those with a condition ${exactly.length} of ${asked.length} (${percent(exactly.length, asked.length)})\n`,
);
if (exact.length / onItems.length < AIM) process.exitCode = 1;
