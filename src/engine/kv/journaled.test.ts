// The store with its journal against a plain sorted map: random groups of writes, read in every
// way, in snapshots, across layers, crashes and restarts.
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { breathe } from '../../time/clock.js';
import {
  type Random,
  randomInteger,
  randomPick,
  seededRandom,
  seedFromEnvironment,
} from '../../value/random.suite.js';
import { openLmdb } from './lmdb.js';
import { type Key, type Reader, Slab, type Store, type Write } from './store.js';

const STEPS = 120;
const KEYS = 5000;
const RANGES_PER_STEP = 3;
const root = mkdtempSync(join(tmpdir(), 'mayfly-journal-'));
after(() => rmSync(root, { recursive: true }));

/** Names and values by name. */
type Model = ReadonlyMap<string, string>;

test('reads of a store with a journal equal those of a sorted map', async () => {
  const seed = seedFromEnvironment();
  process.stdout.write(`# journaled: SEED=${seed}\n`);
  const random = seededRandom(seed);
  let folder = join(root, 'first');
  let store = openLmdb(folder);
  let model: Model = new Map();
  for (let step = 0; step < STEPS; step++) {
    const action = randomInteger(random, 20);
    if (action === 0) await store.settle();
    if (action === 1) {
      await store.close();
      assert(!existsSync(join(folder, 'store.journal-1')), 'a closed store needs no journal');
      store = openLmdb(folder);
    }
    if (action === 2) {
      // What a crash leaves: the files as they are, with a group that is in the journal only.
      await store.settle();
      model = await writeGroup(store, model, random, 100);
      const left = join(root, `crash-${step}`);
      cpSync(folder, left, { recursive: true });
      await store.close();
      folder = left;
      store = openLmdb(folder);
    }
    const [snapshot, before] = [store.snapshot(), model];
    model = await writeGroup(store, model, random);
    compare(store, model, random);
    if (action % 2 === 0) model = await writeGroup(store, model, random);
    // A large layer goes down in parts meanwhile.
    for (let turn = 0; turn < action % 4; turn++) {
      await breathe();
      compare(store, model, random);
      compare(snapshot, before, random);
    }
    if (action % 5 === 0) await store.settle();
    compare(snapshot, before, random);
    snapshot.release();
    snapshot.release();
  }
  await store.close();
});

async function writeGroup(
  store: Store,
  model: Model,
  random: Random,
  // Groups that take a layer down by their size are among them.
  count = randomInteger(random, 20) === 0 ? 6000 : randomInteger(random, 100),
): Promise<Model> {
  const next = new Map(model);
  const writes: Write[] = [];
  for (let index = 0; index < count; index++) {
    const key = randomKey(random);
    const value = randomInteger(random, 3) === 0 ? undefined : `v${randomInteger(random, 1000)}`;
    writes.push([key, value === undefined ? undefined : Buffer.from(value)]);
    if (value === undefined) next.delete(key.toString('latin1'));
    else next.set(key.toString('latin1'), value);
  }
  await store.write(writes);
  return next;
}

/** Some are beginnings of others, some have bytes above 127. */
function randomKey(random: Random): Key {
  const number = randomInteger(random, KEYS);
  const key = Buffer.from([1 + (number >> 6), (number * 37) & 0xff, number & 3]);
  return key.subarray(0, 1 + (number % 3));
}

function compare(reader: Reader, model: Model, random: Random): void {
  const names = [...model.keys()].sort((a, b) => (a < b ? -1 : 1));
  for (let turn = 0; turn < RANGES_PER_STEP; turn++) {
    const bounds = [randomKey(random), turn === 0 ? Buffer.of(0xff) : randomKey(random)] as const;
    const [from, to] = bounds;
    const inside = names.filter((name) => name >= latin(from) && name < latin(to));
    const limit = randomPick(random, [0, 1, 2, 10, 1000]);
    const some = inside.slice(0, limit);
    assert.deepEqual(reader.keys(...bounds, limit).map(latin), some);
    const entries = some.map((name) => [name, model.get(name)]);
    const read = reader.range(...bounds, limit);
    assert.deepEqual(
      read.map(([key, value]) => [latin(key), text(value)]),
      entries,
    );
    const down = inside.toReversed().slice(0, limit);
    assert.deepEqual(reader.keysDown(...bounds, limit).map(latin), down);
    assert.equal(reader.count(...bounds), inside.length);
    const places = randomInteger(random, inside.length + 3);
    const place = reader.keyAt(...bounds, places);
    assert.equal(place && latin(place), inside[places]);
    const expected = model.get(latin(from));
    assert.equal(text(reader.get(from)), expected);
    assert.equal(text(reader.getInto(new Slab(), from)), expected);
    assert.equal(reader.has(from), expected !== undefined);
  }
}

const latin = (key: Key): string => key.toString('latin1');
const text = (value: Uint8Array | undefined) => value && Buffer.from(value).toString();
