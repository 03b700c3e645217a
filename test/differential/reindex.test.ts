// The indexing policy changes while documents are written and queries are run: these are right
// before, during and after, the build goes from 0 to 100 per cent, and after a new start it goes on
// where it was. SEED= repeats a run.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { PlanOutdated } from '../../src/engine/engine.js';
import { openKvEngine } from '../../src/engine/kv/kv-engine.js';
import { openLmdb } from '../../src/engine/kv/lmdb.js';
import { MemoryStore } from '../../src/engine/kv/memory.js';
import { breathe } from '../../src/time/clock.js';
import { instantOfSeconds } from '../../src/time/instant.js';
import { type Random, seededRandom, seedFromEnvironment } from '../../src/value/random.suite.js';
import { changeRandomly, compareOne, fill, randomScope } from './comparison.suite.js';
import { randomQuery } from './generator.suite.js';
import { POLICIES, type Policy } from './policy.suite.js';
import { DEFAULT_TTL, EVERYTHING, World } from './world.suite.js';

/** More than a batch of a scan, so that rules change in the middle of one. */
const DOCUMENTS = 250;
const CHANGES = 4;
const NEW_STARTS = 4;

const folder = mkdtempSync(join(tmpdir(), 'mayfly-reindex-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('queries are right before, during and after a change of policy', async () => {
  const random = announced();
  const world = new World(await openKvEngine(new MemoryStore()), DEFAULT_TTL);
  let policy = POLICIES[0];
  await world.open([policy]);
  await fill(world, random, DOCUMENTS);
  for (let change = 1; change <= CHANGES; change++) {
    const next = POLICIES[change % POLICIES.length] ?? policy;
    // This one has begun when the rules change, and is none the worse for it.
    await Promise.all([checkWhole(world, policy), world.alter(policy, next)]);
    policy = next;
    const seen = [await world.indexProgress(policy)];
    while ((seen.at(-1) ?? 0) < 100) {
      await compareSome(world, random, policy, 1);
      await changeRandomly(world, random, DOCUMENTS);
      await world.check();
      seen.push(await world.indexProgress(policy));
    }
    assert(seen.every((progress, at) => progress >= (seen[at - 1] ?? 0) && progress <= 100));
    assert((seen[0] ?? 0) < 100, 'the index cannot be there at once');
    await compareSome(world, random, policy, 5);
  }
  await world.check();
  await world.close();
});

test('a scan that is overtaken by a change of policy says so', async () => {
  const engine = await openKvEngine(new MemoryStore());
  const world = new World(engine, DEFAULT_TTL);
  const [first, next] = POLICIES;
  assert(next);
  await world.open([first]);
  await fill(world, announced());
  const container = world.containers.get(first)?.engine;
  assert(container);
  const order = [{ path: ['n'], descending: false }];
  const filter = { op: 'defined' as const, path: ['n'] };
  const request = { ...EVERYTHING, filter, order, limit: undefined, after: undefined };
  const plan = engine.plan(container, request);
  assert.match(plan.explain, /n/);
  const run = plan.run(instantOfSeconds(world.nowSeconds), { rowsMax: 1, bytesMax: 1 });
  const batches = run[Symbol.asyncIterator]();
  assert.equal((await batches.next()).value?.items.length, 1);
  await world.alter(first, next);
  await assert.rejects(batches.next(), PlanOutdated);
  await world.close();
});

test('a change of policy goes on after a new start', async () => {
  const random = announced();
  let world = new World(await openKvEngine(openLmdb(folder)), DEFAULT_TTL);
  let policy = POLICIES[0];
  await world.open([policy]);
  await fill(world, random);
  for (let start = 1; start <= NEW_STARTS; start++) {
    const next = POLICIES[start % POLICIES.length] ?? policy;
    await world.alter(policy, next);
    policy = next;
    // Some stops come in the middle of the build, and some as soon as old entries are swept.
    const stopAt = start % 2 === 0 ? 100 : 1;
    while ((await world.indexProgress(policy)) < stopAt) await breathe();
    const stopped = await world.indexProgress(policy);
    await world.close();
    world = world.movedTo(await openKvEngine(openLmdb(folder)));
    assert((await world.indexProgress(policy)) >= stopped, 'what was built is built');
    await compareSome(world, random, policy, 3);
    await changeRandomly(world, random);
  }
  await world.check();
  await compareSome(world, random, policy, 5);
  await world.close();
});

function announced(): Random {
  const seed = seedFromEnvironment();
  process.stdout.write(`# reindex: SEED=${seed}\n`);
  return seededRandom(seed);
}

async function compareSome(
  world: World,
  random: Random,
  policy: Policy,
  queries: number,
): Promise<void> {
  for (let count = 0; count < queries; count++) {
    await compareOne(world, random, policy, randomScope(random), randomQuery(random));
  }
}

/** One large page, during which nothing is written. */
async function checkWhole(world: World, policy: Policy): Promise<void> {
  const text = 'SELECT VALUE c.id FROM c ORDER BY c.id';
  const live = world.live().map(({ id }) => id);
  const asked = { text, parameters: new Map() };
  const how = { indexed: true, pageSize: () => 1000 };
  const found = await world.drain(policy, EVERYTHING, asked, how);
  assert.deepEqual([...found].sort(), [...live].sort());
}
