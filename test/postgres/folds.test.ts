// Aggregates that PostgreSQL folds itself say what folding one document after the other says: the
// same query on the same engine, with and without its fold.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Container, Engine, Folded, Plan } from '../../src/engine/engine.js';
import { type Cluster, openCluster } from '../../src/engine/postgres/cluster.suite.js';
import { openPostgres } from '../../src/engine/postgres/postgres-engine.js';
import { runPage } from '../../src/query/pipeline.js';
import { type PlannedQuery, planQuery } from '../../src/query/planner.js';
import { lowerSql } from '../../src/sql/lower.js';
import { parseSql } from '../../src/sql/parser.js';
import { systemClock } from '../../src/time/clock.js';
import { systemEntropy } from '../../src/time/entropy.js';
import { cosmosFuses, cosmosRules } from '../../src/time/expiry.js';
import { instantOfSeconds } from '../../src/time/instant.js';
import { docFromValue } from '../../src/value/doc.js';

const SECONDS = 1_700_000_000;
const NOW = instantOfSeconds(SECONDS);
const ANYWHERE = { partition: undefined, span: undefined };
const box: Container = {
  ...{ id: 'box', partitionPaths: [['id']], partitionHash: 'v2', indexes: [] },
  indexing: {
    ...{ version: 1, rules: [{ path: [], below: true, include: true }], composites: [] },
    ...{ words: [], points: [], lazy: false },
  },
  expiry: cosmosRules(-1),
};
const TEXTS = ['', 'a', 'Z', 'é', '\u{1f41d}', '\0', '\ud800'];

function documentOf(n: number): Record<string, unknown> {
  return {
    id: `${n}`,
    whole: ((n * 37) % 101) - 50,
    broken: ((n * 37) % 101) / 7,
    large: 2 ** 52 + n,
    text: TEXTS[n % TEXTS.length],
    long: `${'z'.repeat(800)}${n % 5}`,
    none: null,
    ...(n % 3 === 0 ? {} : { some: n }),
    kind: [n % 4, 'x', true, null, '1', 1][n % 6],
    odd: n === 60 ? [1] : n,
    mixed: [n, `${n}`, false][n % 3],
    deep: { a: n % 3, b: { c: n % 2 === 0 } },
  };
}

let cluster: Cluster;
let engine: Engine;
before(async () => {
  cluster = await openCluster();
  const { uuid, fraction } = systemEntropy();
  const { wall } = systemClock();
  const url = cluster.newStore();
  engine = (await openPostgres({ url, server: uuid(), fraction, wall })).engine;
  await engine.createContainer(box);
  const items = Array.from({ length: 90 }, (_, n) => ({
    key: { partition: [`${n}`], id: `${n}` },
    ...{ serial: n + 1, lsn: n + 1, etag: '"e"' },
    // A few are dead, and do not count.
    fuses: n % 10 === 9 ? cosmosFuses(5, SECONDS - 10) : [],
    doc: docFromValue(documentOf(n)),
  }));
  await engine.restore(box, { items, lsn: 100, nextSerial: 100 });
});
after(async () => {
  await engine.close();
  await cluster.stop();
});

interface Asked {
  readonly rows: readonly string[];
  readonly folded: readonly (Folded | undefined)[];
}

async function ask(text: string, withFold: boolean): Promise<Asked> {
  const folded: (Folded | undefined)[] = [];
  const query = lowerSql(parseSql(text), new Map());
  const planned = planQuery(engine, box, ANYWHERE, query, undefined);
  const plan: Plan = {
    ...planned.plan,
    count: async () => undefined,
    countBy: async () => undefined,
    fold: async (...request) => {
      const found = withFold ? await planned.plan.fold?.(...request) : undefined;
      folded.push(found);
      return found;
    },
  };
  const seen: PlannedQuery = { ...planned, plan };
  const page = await runPage(seen, undefined, {
    ...{ itemsMax: 1000, bytesMax: 1e7, at: NOW, random: () => 0, complete: false },
    ...{ abandoned: () => false, isTimed: false },
  });
  return { rows: page.rows.map((row) => Buffer.from(row).toString()), folded };
}

describe('what the database folds', () => {
  for (const text of [
    'SELECT SUM(c.whole) AS s, AVG(c.whole) AS a, COUNT(1) AS n FROM c',
    'SELECT VALUE SUM(c.some) FROM c WHERE c.whole > 0',
    'SELECT VALUE AVG(c.missing) FROM c',
    'SELECT VALUE SUM(c.missing) FROM c',
    'SELECT SUM(c.mixed) AS s, MIN(c.mixed) AS least, MAX(c.mixed) AS most FROM c',
    'SELECT c.text, SUM(c.whole) AS s FROM c GROUP BY c.text',
    'SELECT c.kind, MIN(c.some) AS least, MAX(c.text) AS most, COUNT(c.some) AS n FROM c GROUP BY c.kind',
    'SELECT c.kind, c.deep.a, COUNT(1) AS n FROM c GROUP BY c.kind, c.deep.a',
    'SELECT c.deep.a, c.deep.b.c, AVG(c.whole) AS mean FROM c GROUP BY c.deep.a, c.deep.b.c',
    'SELECT c.deep.a, MAX(c.odd) AS most, MIN(c.none) AS least FROM c GROUP BY c.deep.a',
    'SELECT c.missing, SUM(c.whole) AS s FROM c GROUP BY c.missing',
    'SELECT c.text, SUM(c.whole) AS s FROM c WHERE c.whole > 1000 GROUP BY c.text',
    'SELECT SUM(c.whole) AS s, MIN(c.missing) AS m, COUNT(1) AS n FROM c WHERE c.whole > 1000',
  ]) {
    test(text, async () => {
      const [here, there] = [await ask(text, false), await ask(text, true)];
      assert.deepEqual(there.rows, here.rows);
      assert.equal(there.folded.length, 1);
      assert(there.folded[0], 'the database has told');
    });
  }
});

describe('what only folding one after the other can tell', () => {
  for (const text of [
    'SELECT SUM(c.broken) AS s FROM c',
    'SELECT c.deep.a, AVG(c.broken) AS s FROM c GROUP BY c.deep.a',
    'SELECT SUM(c.large) AS s FROM c',
    'SELECT c.deep.a, MAX(c.long) AS most FROM c GROUP BY c.deep.a',
    'SELECT c.deep, c.deep.a, COUNT(1) AS n FROM c GROUP BY c.deep, c.deep.a',
    'SELECT c.deep.a, SUM(c.whole + 1) AS s FROM c GROUP BY c.deep.a',
  ]) {
    test(text, async () => {
      const [here, there] = [await ask(text, false), await ask(text, true)];
      assert.deepEqual(there.rows, here.rows);
      assert.deepEqual(there.folded.filter(Boolean), []);
    });
  }
});
