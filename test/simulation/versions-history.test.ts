// Random histories told again by the log of all versions: whoever follows it holds exactly what the
// engine holds, dead items that were not purged included, at every point. SEED= repeats a history.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { withContract } from '../../src/engine/contract.js';
import { ALL, BUDGET, containerNamed, draftOf } from '../../src/engine/contract-fixture.suite.js';
import type { Change, Container, Engine, Version } from '../../src/engine/engine.js';
import { openKvEngine } from '../../src/engine/kv/kv-engine.js';
import { openLmdb } from '../../src/engine/kv/lmdb.js';
import { MemoryStore } from '../../src/engine/kv/memory.js';
import { openAt, withCluster } from '../../src/engine/postgres/cluster.suite.js';
import { cosmosRules } from '../../src/time/expiry.js';
import { instant } from '../../src/time/instant.js';
import {
  type Random,
  randomInteger,
  seededRandom,
  seedFromEnvironment,
} from '../../src/value/random.suite.js';

const RETENTION_MS = 20_000;
const START_MS = 1_700_000_000_000;
const IDS = ['1', '2', '3', '4'];
const PARTITIONS = ['a', 'b', 'c'];

const folder = mkdtempSync(join(tmpdir(), 'mayfly-versions-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('in memory', () => run(2500, async () => openKvEngine(memory)));
test('on disk, with new starts', () => run(400, async () => openKvEngine(openLmdb(folder)), 40));
test('on PostgreSQL, with new starts', () =>
  withCluster((cluster) => {
    const store = cluster.newStore();
    return run(400, () => openAt(store), 40);
  }));

const memory = new MemoryStore();

async function run(
  steps: number,
  open: () => Promise<Engine>,
  reopenEvery = Number.POSITIVE_INFINITY,
): Promise<void> {
  const seed = seedFromEnvironment();
  const random = seededRandom(seed);
  let engine = withContract(await open());
  const follower = new Follower(random);
  await engine.createContainer(follower.box);
  try {
    for (let step = 1; step <= steps; step++) {
      await follower.act(engine);
      if (random() < 0.3) await follower.follow(engine, randomInteger(random, 6) + 1);
      if (random() < 0.1) await follower.compare(engine);
      if (step % reopenEvery > 0) continue;
      await engine.check();
      await engine.close();
      engine = withContract(await open());
    }
    await follower.compare(engine);
    assert.ok(follower.expired > 0 && follower.trimmed > 0);
  } catch (error) {
    throw new Error(`SEED=${seed}`, { cause: error });
  }
  await engine.check();
  await engine.close();
}

class Follower {
  readonly box: Container = {
    ...containerNamed('box'),
    expiry: cosmosRules(-1),
    indexes: [{ name: 'u', paths: [{ path: ['u'], descending: false }], unique: true }],
    retentionMs: RETENTION_MS,
  };
  expired = 0;
  trimmed = 0;
  readonly #random: Random;
  #nowMs = START_MS;
  #position = 0;
  #count = 0;
  readonly #held = new Map<string, string>();

  constructor(random: Random) {
    this.#random = random;
  }

  get #now() {
    return instant(this.#nowMs);
  }

  async act(engine: Engine): Promise<void> {
    const roll = this.#random();
    if (roll < 0.1) this.#nowMs += randomInteger(this.#random, 3000);
    else if (roll < 0.25) {
      // Nothing may be forgotten before it was read, or there is nothing to compare.
      await this.follow(engine, 1000);
      const pass = await engine.purge(this.box, this.#now, randomInteger(this.#random, 5) + 1);
      this.trimmed += pass.trimmed ?? 0;
    } else {
      const partition = [this.#pick(PARTITIONS)];
      const changes = Array.from({ length: randomInteger(this.#random, 3) + 1 }, () =>
        this.#change(),
      );
      await engine.commit(this.box, [{ partition, changes }], this.#now);
    }
  }

  async follow(engine: Engine, rowsMax: number): Promise<void> {
    assert(engine.versions);
    const budget = { ...BUDGET, rowsMax };
    const scan = { partition: undefined, span: undefined, after: this.#position };
    const page = await engine.versions(this.box, scan, this.#now, budget);
    for (const version of page.versions) this.#apply(version);
    this.#position = page.upTo;
    if (!page.isEnd) await this.follow(engine, rowsMax);
  }

  /** Without rules nothing is dead, so everything that is kept is listed. */
  async compare(engine: Engine): Promise<void> {
    await this.follow(engine, 1000);
    const kept = new Map<string, string>();
    const plan = engine.plan({ ...this.box, expiry: [] }, ALL);
    for await (const { items } of plan.run(this.#now, BUDGET)) {
      for (const { key, doc } of items) kept.set(JSON.stringify(key), JSON.stringify(doc.value));
    }
    assert.deepEqual(new Map([...this.#held].sort()), new Map([...kept].sort()));
  }

  #apply({ kind, key, doc, previous, expired, at }: Version): void {
    const name = JSON.stringify(key);
    const before = this.#held.get(name);
    assert.equal(kind === 'create', before === undefined, `${kind} of ${name}`);
    if (previous?.doc) assert.equal(JSON.stringify(previous.doc.value), before);
    if (kind === 'delete') assert.ok(previous?.doc, 'what was deleted is known');
    assert.ok(at <= this.#nowMs && at > this.#nowMs - RETENTION_MS);
    if (expired) this.expired += 1;
    if (doc) this.#held.set(name, JSON.stringify(doc.value));
    else this.#held.delete(name);
  }

  #change(): Change {
    const id = this.#pick(IDS);
    const ttl = this.#random() < 0.5 ? { ttl: randomInteger(this.#random, 4) + 1 } : {};
    this.#count += 1;
    const body = { n: this.#count, u: randomInteger(this.#random, 9), ...ttl };
    const item = draftOf(id, body, this.#now);
    const roll = this.#random();
    if (roll < 0.3) return { kind: 'insert', item };
    if (roll < 0.7) return { kind: 'put', item, ifEtag: undefined };
    return { kind: 'delete', id, ifEtag: undefined };
  }

  #pick<T>(from: readonly T[]): T {
    return from[randomInteger(this.#random, from.length)] as T;
  }
}
