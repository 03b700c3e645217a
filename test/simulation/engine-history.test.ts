// Histories of tens of thousands of random steps against the engine itself, on all stores; at the
// end every item has all its entries and every entry its item. SEED= repeats a history.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Engine } from '../../src/engine/engine.js';
import { openKvEngine } from '../../src/engine/kv/kv-engine.js';
import { openLmdb } from '../../src/engine/kv/lmdb.js';
import { MemoryStore } from '../../src/engine/kv/memory.js';
import { openAt, withCluster } from '../../src/engine/postgres/cluster.suite.js';
import {
  type Random,
  randomInteger,
  randomJson,
  seededRandom,
  seedFromEnvironment,
} from '../../src/value/random.suite.js';
import type { ChangeStep } from './engine-changes.suite.js';
import { type EngineStep, EngineWorld, type ListBy, type Mode } from './engine-world.suite.js';
import { History } from './history.suite.js';
import type { Place } from './model.suite.js';

const STEPS_MEMORY = 20_000;
const STEPS_LMDB = 2500;
const STEPS_POSTGRES = 800;
const START_MS = 1_700_000_000_001;

const folder = mkdtempSync(join(tmpdir(), 'mayfly-engine-history-'));
const lazyFolder = mkdtempSync(join(tmpdir(), 'mayfly-engine-history-lazy-'));
after(() => {
  rmSync(folder, { recursive: true, force: true });
  rmSync(lazyFolder, { recursive: true, force: true });
});

test('a random history of the engine in memory is the model', () =>
  run('memory', STEPS_MEMORY, false, () => openKvEngine(new MemoryStore())));

test('a random history of the engine on disk, with new starts, is the model', () =>
  run('lmdb', STEPS_LMDB, true, () => openKvEngine(openLmdb(folder))));

test('a random history of two engines in turns over PostgreSQL, with new starts, is the model', () =>
  withCluster((cluster) => {
    const store = cluster.newStore();
    const open = async () => inTurns([await openAt(store), await openAt(store)]);
    return run('postgres', STEPS_POSTGRES, true, open);
  }));

/** What one has done the other knows. The purge is the work of one, who has the lease. */
function inTurns(engines: readonly [Engine, Engine]): Engine {
  let turns = 0;
  return new Proxy(engines[0], {
    get: (first, name) => {
      if (name === 'close') return () => Promise.all(engines.map((each) => each.close()));
      turns += 1;
      const engine = name === 'purge' ? first : (engines[turns % 2] as Engine);
      const value: unknown = Reflect.get(engine, name, engine);
      return typeof value === 'function' ? value.bind(engine) : value;
    },
  });
}

test('T25: a random history with a lazy index in memory is the model', () =>
  run('lazy memory', STEPS_MEMORY / 4, false, () => openKvEngine(new MemoryStore()), 'lazy'));

test('T25: a random history with a lazy index on disk, with new starts, is the model', () =>
  run('lazy lmdb', STEPS_LMDB / 2, true, () => openKvEngine(openLmdb(lazyFolder)), 'lazy'));

async function run(
  name: string,
  steps: number,
  reopens: boolean,
  open: () => Promise<Engine>,
  mode: Mode = 'consistent',
): Promise<void> {
  const seed = seedFromEnvironment();
  const history = new History(`engine history (${name})`, seed);
  const chooser = new EngineChooser(seededRandom(seed), reopens);
  const world = new EngineWorld(open, mode);
  await history.guard(async () => {
    await world.open(START_MS);
    for (let count = 0; count < steps; count++) {
      const step = chooser.next(world);
      history.note(step);
      await world.take(step);
    }
    await world.close();
  });
}

const IDS = ['i', 'ii', 'iii', 'iv', 'v', 'vi'] as const;
const PARTITIONS = ['a', 'b', null, undefined, 1, 2.5] as const;
const EPK_BOUNDS = ['', '0A', '18', '26', '34', 'FF'] as const;
const DAY_MS = 86_400_000;

class EngineChooser {
  readonly #random: Random;
  readonly #reopens: boolean;
  #counter = 0;

  constructor(random: Random, reopens: boolean) {
    this.#random = random;
    this.#reopens = reopens;
  }

  next(world: EngineWorld): EngineStep {
    const roll = this.#random() * 100;
    if (roll < 48) return { do: 'commit', batches: this.#times(3, () => this.#batch(world)) };
    if (roll < 60) return { do: 'get', places: this.#times(3, () => this.#place(world)) };
    if (roll < 64) return { do: 'feed', by: this.#listBy(), rowsMax: this.#upTo(9) };
    if (roll < 68) return { do: 'list', by: this.#listBy(), itemsMax: this.#upTo(9) };
    if (roll < 79) return { do: 'clock', toMs: this.#instant(world) };
    if (roll < 85) return { do: 'defaultTtl', value: this.#defaultTtl() };
    if (roll < 92) return { do: 'purge', rowsMax: this.#upTo(6) };
    if (roll < 96) return { do: 'look' };
    if (roll < 99) {
      return { do: 'expiries', defaultTtl: this.#defaultTtl(), rowsMax: this.#upTo(5) };
    }
    if (roll < 99.3 || !this.#reopens) return { do: 'recreate', defaultTtl: this.#defaultTtl() };
    return { do: 'reopen' };
  }

  /** Several changes to one partition, more than one of which may be to the same item. */
  #batch(world: EngineWorld): readonly ChangeStep[] {
    const { partition } = this.#place(world);
    return this.#times(3, () => {
      const place = { ...this.#place(world), partition };
      const kind = this.#pick(['insert', 'put', 'put', 'delete', 'bump']);
      const ifMatch = this.#random() < 0.7 ? undefined : this.#pick(['current', '"none"']);
      return { ...place, kind, body: this.#body(world, place), ifMatch };
    });
  }

  #body(world: EngineWorld, { id }: Place): ChangeStep['body'] {
    const random = this.#random;
    const ttl = this.#ttl(world);
    return {
      id,
      n: this.#counter++,
      ...(ttl === undefined ? {} : { ttl }),
      ...(random() < 0.2
        ? {}
        : { u: this.#pick([null, 1, '1', 'x', 'y', 'z', 'long'.repeat(200)]) }),
      ...(random() < 0.3 ? {} : { v: { w: this.#pick(['p', 'q', 7]) } }),
      ...(random() < 0.3 ? {} : { x: this.#upTo(9) }),
      ...(random() < 0.9 ? {} : { any: randomJson(random, 3) }),
    };
  }

  /** T22: what is no time to live gets in only while time to live is off. */
  #ttl({ model }: EngineWorld): unknown {
    const roll = this.#random();
    if (roll < 0.4) return undefined;
    if (roll < 0.5) return -1;
    if (roll < 0.8) return this.#upTo(12);
    if (roll < 0.85) return 2_147_483_647;
    if (roll < 0.9 || model.defaultTtl !== undefined) return 60 + this.#upTo(600);
    return this.#pick([null, 0, -2, 1.5, '60', 2_147_483_648, true]);
  }

  #defaultTtl(): number | undefined {
    return this.#pick([undefined, -1, this.#upTo(4), this.#upTo(20), 300, 2_147_483_647]);
  }

  #instant({ nowMs, model }: EngineWorld): number {
    const roll = this.#random();
    const dues = model.kept().map((item) => model.dueMs(item) ?? nowMs);
    const due = dues[randomInteger(this.#random, dues.length)] ?? nowMs;
    const isNear = Math.abs(due - nowMs) < 20_000;
    if (roll < 0.5 && isNear) return due + this.#pick([-1, 0, 1]);
    if (roll < 0.55) return nowMs - this.#upTo(5000);
    return nowMs + this.#upTo(roll > 0.995 ? DAY_MS : 900);
  }

  #listBy(): ListBy {
    const roll = this.#random();
    if (roll < 0.4) return 'all';
    if (roll < 0.8) return { partition: this.#pick(PARTITIONS) };
    const from = randomInteger(this.#random, EPK_BOUNDS.length - 1);
    const to = from + this.#upTo(EPK_BOUNDS.length - 1 - from);
    return { from: EPK_BOUNDS[from] ?? '', to: EPK_BOUNDS[to] ?? 'FF' };
  }

  #place({ model }: EngineWorld): Place {
    const kept = this.#random() < 0.5 ? model.kept() : [];
    const item = kept[randomInteger(this.#random, kept.length)];
    if (item) return { partition: item.partition, id: item.id };
    return { partition: this.#pick(PARTITIONS), id: this.#pick(IDS) };
  }

  #times<T>(most: number, make: () => T): readonly T[] {
    return Array.from({ length: this.#upTo(most) }, make);
  }

  /** From 1 to the given number, which counts too. */
  #upTo(most: number): number {
    return 1 + randomInteger(this.#random, most);
  }

  #pick<const T>(choices: readonly T[]): T {
    return choices[randomInteger(this.#random, choices.length)] as T;
  }
}
