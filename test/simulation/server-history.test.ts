// Histories of thousands of random steps against the whole server, over HTTP: every answer is the
// model's, and the same with the purge on and off (T12). SEED= repeats a history.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { openKvEngine } from '../../src/engine/kv/kv-engine.js';
import { openLmdb } from '../../src/engine/kv/lmdb.js';
import { openAt, withCluster } from '../../src/engine/postgres/cluster.suite.js';
import { seedFromEnvironment } from '../../src/value/random.suite.js';
import { History } from './history.suite.js';
import { type Chances, Chooser, type Step } from './steps.suite.js';
import { World } from './world.suite.js';

const ON_DISK: Chances = { steps: 1500, restarts: true, backgrounds: 3 };
const ON_POSTGRES: Chances = { steps: 500, restarts: true, backgrounds: 3 };
const IN_MEMORY: Chances = { steps: 2000, restarts: false, backgrounds: 3 };
/** Ordinary days, and the seconds around which counters of 31 and 32 bits overflow (T23). */
const STARTS_SECONDS = [1_700_000_000, 2 ** 31 - 300, 2 ** 32 - 300];

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

test('T1-T23: a random history in memory answers as the model does, purged or not', async () => {
  await run('memory', IN_MEMORY, () => ':memory:');
});

test('T1-T23: a random history on disk, with restarts, answers as the model does', async () => {
  await run('disk', ON_DISK, newFolder);
  for (const folder of folders) {
    const engine = await openKvEngine(openLmdb(folder));
    await engine.check();
    await engine.close();
  }
});

test('T1-T23: a random history on PostgreSQL, with restarts, answers as the model does', () =>
  withCluster(async (cluster) => {
    const stores: string[] = [];
    await run('postgres', ON_POSTGRES, () => {
      const store = cluster.newStore();
      stores.push(store);
      return store;
    });
    for (const store of stores) {
      const engine = await openAt(store);
      await engine.check();
      await engine.close();
    }
  }));

async function run(name: string, chances: Chances, newPlace: () => string): Promise<void> {
  const seed = seedFromEnvironment();
  const history = new History(`server history (${name})`, seed);
  const chooser = new Chooser(seed, chances);
  const purged = new World(newPlace(), true);
  const unpurged = new World(newPlace(), false);
  const startMs = (STARTS_SECONDS[seed % STARTS_SECONDS.length] ?? 0) * 1000 + 1;
  try {
    await history.guard(async () => {
      await Promise.all([purged.open(startMs), unpurged.open(startMs)]);
      for (let count = 0; count < chances.steps; count++) {
        // The unpurged world holds whatever the other does, and more.
        const step = chooser.next(unpurged);
        history.note(step);
        await takeOnBoth(step, purged, unpurged);
      }
      await takeOnBoth({ do: 'background', on: false }, purged, unpurged);
      for (const world of [purged, unpurged]) {
        const { got, wanted } = await world.purge();
        assert.deepEqual(got, wanted);
      }
    });
  } finally {
    await Promise.all([purged.close(), unpurged.close()]);
  }
}

/** T12: the same answers, but where an item came back that one of them had purged (T7). */
async function takeOnBoth(step: Step, purged: World, unpurged: World): Promise<void> {
  const [one, other] = await Promise.allSettled([purged.take(step), unpurged.take(step)]);
  if (one.status === 'rejected') throw one.reason;
  if (other.status === 'rejected') throw other.reason;
  if (isDeepStrictEqual(one.value.wanted, other.value.wanted)) {
    assert.deepEqual(one.value.got, other.value.got);
  }
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-history-'));
  folders.push(folder);
  return folder;
}
