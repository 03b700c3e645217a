// A transaction against a plain model: random writes, and after each of them what a read and the
// pages of a scan show; then the commit, and what is in the store.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredContainer } from '../catalog/resources.js';
import { withContract } from '../engine/contract.js';
import type { Container, Decide, Engine, Resume } from '../engine/engine.js';
import { NOT_INDEXED } from '../engine/indexing.js';
import { openKvEngine } from '../engine/kv/kv-engine.js';
import { MemoryStore } from '../engine/kv/memory.js';
import { systemEntropy } from '../time/entropy.js';
import { instantOfSeconds } from '../time/instant.js';
import type { Purger } from '../time/purger.js';
import { docFromValue } from '../value/doc.js';
import {
  fuzzed,
  type Random,
  randomInteger,
  seededRandom,
  seedFromEnvironment,
} from '../value/random.suite.js';
import { Transaction } from './transaction.js';

const NOW = instantOfSeconds(1_700_000_000);
const PARTITION = ['p'];
const ROUNDS = 60;
const STEPS = 30;
const IDS = 12;
const NO_NAMES = { find: () => [], replace: (text: string) => text };
const entropy = systemEntropy();

const BOX: Container = {
  id: 'box',
  partitionPaths: [['pk']],
  partitionHash: 'v2',
  indexes: [],
  indexing: NOT_INDEXED,
  expiry: [],
};

type Model = Map<string, number>;

const change = (engine: Engine, id: string, decide: Decide) =>
  engine.commit(BOX, [{ partition: PARTITION, changes: [{ kind: 'update', id, decide }] }], NOW);

const put = (id: string, n: number): Decide => {
  const etag = entropy.etag(1);
  return () => ({ put: { id, etag, fuses: [], doc: docFromValue({ id, pk: 'p', n }) } });
};
const remove: Decide = (current) => (current ? { delete: true } : { refuse: 'notFound' });

async function open(): Promise<Engine> {
  const engine = withContract(await openKvEngine(new MemoryStore(), () => undefined));
  await engine.createContainer(BOX);
  return engine;
}

function begin(engine: Engine): Transaction {
  const purger = { expect: () => undefined } as unknown as Purger;
  const documents = { engine, entropy, purger, countsUnpurged: false };
  const container = { engine: BOX } as unknown as StoredContainer;
  return new Transaction(documents, container, PARTITION, NOW, NO_NAMES);
}

/** Changes something, in the engine and in the model. */
async function step(random: Random, engine: Engine, model: Model, n: number): Promise<void> {
  const id = `i${randomInteger(random, IDS)}`;
  const isThere = model.has(id);
  const isRemoval = random() < 0.3;
  const [outcome] = await change(engine, id, isRemoval ? remove : put(id, n));
  assert.equal(outcome && 'refused' in outcome, isRemoval && !isThere);
  if (isRemoval) model.delete(id);
  else model.set(id, n);
}

/** The pages of a scan; something may be done between them. */
async function pages(engine: Engine, rowsMax: number, between: () => Promise<void>) {
  const seen: string[] = [];
  let after: Resume | undefined;
  do {
    const scan = { partition: PARTITION, span: undefined, filter: undefined, limit: undefined };
    const plan = engine.plan(BOX, { ...scan, order: [], after });
    after = undefined;
    for await (const batch of plan.run(NOW, { rowsMax, bytesMax: 1_000_000 })) {
      for (const { doc } of batch.items) {
        const { id, n } = doc.value as { id: string; n: number };
        seen.push(`${id}=${n}`);
      }
      after = batch.resume;
      break;
    }
    await between();
  } while (after);
  return seen;
}

const entries = (model: Model) => [...model].map(([id, n]) => `${id}=${n}`).sort();

test('random writes, reads and pages, then the commit', async (context) => {
  const seed = seedFromEnvironment();
  context.diagnostic(`SEED=${seed}`);
  const random = seededRandom(seed);
  for (let round = 0; round < fuzzed(ROUNDS); round++) {
    const store = await open();
    const model: Model = new Map();
    let n = 0;
    while (random() < 0.9 && n < STEPS) await step(random, store, model, n++);
    const transaction = begin(store);
    const { engine } = transaction.documents;
    for (let steps = randomInteger(random, STEPS); steps > 0; steps--) {
      await step(random, engine, model, n++);
      const rowsMax = 1 + randomInteger(random, 5);
      const listed = await pages(engine, rowsMax, async () => undefined);
      assert.deepEqual([...listed].sort(), entries(model), `SEED=${seed}`);
    }
    await transaction.commit();
    const kept = await pages(store, 100, async () => undefined);
    assert.deepEqual([...kept].sort(), entries(model), `SEED=${seed}`);
    await store.check();
  }
});

test('pages while items change: each at most once, and those that stay exactly once', async (context) => {
  const seed = seedFromEnvironment();
  context.diagnostic(`SEED=${seed}`);
  const random = seededRandom(seed);
  for (let round = 0; round < fuzzed(ROUNDS); round++) {
    const store = await open();
    const model: Model = new Map();
    for (let n = 0; n < IDS; n++) await step(random, store, model, n);
    const { engine } = begin(store).documents;
    for (let n = 0; n < 4; n++) await step(random, engine, model, 100 + n);
    const before = new Set(model.keys());
    let n = 200;
    const seen = await pages(engine, 1 + randomInteger(random, 4), async () => {
      if (random() < 0.7) await step(random, engine, model, n++);
    });
    const ids = seen.map((entry) => entry.slice(0, entry.indexOf('=')));
    const isMadeAnew = (id: string) => ids.filter((each) => each === id).length > 1;
    assert.deepEqual(ids.filter(isMadeAnew), [], `SEED=${seed} ${seen}`);
    for (const id of before) {
      const stayed = model.has(id) && (model.get(id) ?? 0) < 200;
      if (stayed) assert.ok(ids.includes(id), `SEED=${seed} ${id} is missing in ${seen}`);
    }
  }
});

test('another writer who was faster', async () => {
  const rows: readonly (readonly [string, (engine: Engine) => Promise<unknown>, boolean])[] = [
    ['wrote what is written', (engine) => change(engine, 'a', put('a', 2)), true],
    ['deleted what is written', (engine) => change(engine, 'a', remove), true],
    ['wrote what was read', (engine) => change(engine, 'b', put('b', 2)), true],
    ['made what was missing', (engine) => change(engine, 'c', put('c', 2)), true],
    ['wrote something else', (engine) => change(engine, 'd', put('d', 2)), false],
  ];
  for (const [what, meanwhile, isRefused] of rows) {
    const store = await open();
    for (const id of ['a', 'b', 'd']) await change(store, id, put(id, 1));
    const transaction = begin(store);
    const { engine } = transaction.documents;
    const keys = ['b', 'c'].map((id) => ({ partition: PARTITION, id }));
    await engine.get(BOX, keys, NOW);
    await change(engine, 'a', put('a', 9));
    await change(engine, 'new', put('new', 9));
    await meanwhile(store);
    const committed = transaction.commit();
    if (isRefused) await assert.rejects(committed, { code: 'scriptConflict' }, what);
    else await committed;
    const [item] = (await store.get(BOX, [{ partition: PARTITION, id: 'new' }], NOW)).items;
    assert.equal(item === undefined, isRefused, what);
  }
});
