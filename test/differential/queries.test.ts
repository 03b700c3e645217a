// Random queries over random documents: with the index, by looking at everything, and by the naive
// reference, the answer is the same (T10 to T13: while items expire, purged or not). SEED= repeats
// a run, QUERIES= makes it longer.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openKvEngine } from '../../src/engine/kv/kv-engine.js';
import { openLmdb } from '../../src/engine/kv/lmdb.js';
import { MemoryStore } from '../../src/engine/kv/memory.js';
import type { Store } from '../../src/engine/kv/store.js';
import { randomPick, seededRandom, seedFromEnvironment } from '../../src/value/random.suite.js';
import { changeRandomly, compareOne, DOCUMENTS, fill, randomScope } from './comparison.suite.js';
import { randomQuery } from './generator.suite.js';
import { comparePages, DOCUMENTS_MOVING } from './moving.suite.js';
import { POLICIES } from './policy.suite.js';
import { DEFAULT_TTL, World } from './world.suite.js';

const QUERIES = Number(process.env.QUERIES ?? 200);
const QUERIES_PER_MOMENT = 10;

const folder = mkdtempSync(join(tmpdir(), 'mayfly-differential-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('queries answer as the reference does', () =>
  compare(new MemoryStore(), DEFAULT_TTL, QUERIES));

test('queries answer as the reference does without time to live', () =>
  compare(new MemoryStore(), undefined, QUERIES / 2));

test('queries answer as the reference does on disk', () =>
  compare(openLmdb(folder), DEFAULT_TTL, QUERIES / 10));

test('pages lose nothing and repeat nothing while documents change', async () => {
  const { world, random } = await start(new MemoryStore(), DEFAULT_TTL, DOCUMENTS_MOVING);
  for (let count = 0; count < QUERIES; count++) {
    if (count % QUERIES_PER_MOMENT === 0) await changeRandomly(world, random, DOCUMENTS_MOVING);
    await comparePages(world, random, randomPick(random, POLICIES), randomScope(random));
  }
  await world.check();
  await world.close();
});

async function compare(
  store: Store,
  defaultTtl: number | undefined,
  queries: number,
): Promise<void> {
  const { world, random } = await start(store, defaultTtl);
  for (let count = 0; count < queries; count++) {
    if (count % QUERIES_PER_MOMENT === 0) await changeRandomly(world, random);
    const asked = randomQuery(random);
    const scope = randomScope(random);
    await compareOne(world, random, randomPick(random, POLICIES), scope, asked);
  }
  await world.check();
  await world.close();
}

async function start(store: Store, defaultTtl: number | undefined, documents = DOCUMENTS) {
  const seed = seedFromEnvironment();
  process.stdout.write(`# queries: SEED=${seed}\n`);
  const random = seededRandom(seed);
  const world = new World(await openKvEngine(store), defaultTtl);
  await world.open(POLICIES);
  await fill(world, random, documents);
  return { world, random };
}
