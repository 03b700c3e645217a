// One engine behind its contract, the model of what it should hold, and random steps taken on both
// with no server in between: many more of them than over HTTP, and in the engine's own terms.
import assert from 'node:assert/strict';
import {
  type ContainerDefinition,
  defineContainer,
} from '../../src/catalog/definition/container-definition.js';
import { newRanges } from '../../src/catalog/ranges.js';
import { engineContainer, type StoredContainer } from '../../src/catalog/resources.js';
import { listItems, type Scope } from '../../src/documents/list.js';
import { withContract } from '../../src/engine/contract.js';
import type { Engine, Expiry, Item, Lsn, Resume, WriteOutcome } from '../../src/engine/engine.js';
import { VirtualClock } from '../../src/time/clock.js';
import { systemEntropy } from '../../src/time/entropy.js';
import { cosmosRules } from '../../src/time/expiry.js';
import { type Instant, instant } from '../../src/time/instant.js';
import { Purger } from '../../src/time/purger.js';
import { effectivePartitionKey } from '../../src/value/partition-hash.js';
import { batchesOf, type ChangeStep, judgeChange, sameRefusal } from './engine-changes.suite.js';
import { ContainerModel, dueOf, type Kept, type Place } from './model.suite.js';

export type EngineStep =
  | { readonly do: 'commit'; readonly batches: readonly (readonly ChangeStep[])[] }
  | { readonly do: 'get'; readonly places: readonly Place[] }
  | { readonly do: 'list'; readonly by: ListBy; readonly itemsMax: number }
  | { readonly do: 'feed'; readonly by: ListBy; readonly rowsMax: number }
  | { readonly do: 'clock'; readonly toMs: number }
  | { readonly do: 'defaultTtl'; readonly value: number | undefined }
  | { readonly do: 'purge'; readonly rowsMax: number }
  | { readonly do: 'look' }
  | { readonly do: 'expiries'; readonly defaultTtl: number | undefined; readonly rowsMax: number }
  | { readonly do: 'recreate'; readonly defaultTtl: number | undefined }
  | { readonly do: 'reopen' };
export type ListBy =
  | { readonly partition: Place['partition'] }
  | { readonly from: string; readonly to: string }
  | 'all';

/** How the index follows the writes. */
export type Mode = 'consistent' | 'lazy';

const UNIQUE_KEYS = [['/u'], ['/v/w', '/x']];
const NO_SERIAL = 2 ** 40;
/** More items than there are places for. */
const ROWS_MAX = 1000;
const BYTES_MAX = 10_000;

export class EngineWorld {
  readonly #open: () => Promise<Engine>;
  readonly #clock = new VirtualClock();
  readonly #purger = new Purger(this.#clock, { active: 0, begun: 0 }, () => undefined);
  readonly #entropy = systemEntropy();
  #engine: Engine | undefined;
  #model = new ContainerModel(undefined, UNIQUE_KEYS);
  #container: StoredContainer;
  #etags = 0;

  readonly #mode: Mode;

  constructor(open: () => Promise<Engine>, mode: Mode = 'consistent') {
    this.#open = open;
    this.#mode = mode;
    this.#container = storedContainer(0, undefined, mode);
  }

  get nowMs(): number {
    return this.#clock.now();
  }

  get model(): ContainerModel {
    return this.#model;
  }

  async open(nowMs: number): Promise<void> {
    this.#clock.freeze();
    this.#clock.set(instant(nowMs));
    this.#engine = withContract(await this.#open());
    await this.#engine.createContainer(this.#container.engine);
  }

  async close(): Promise<void> {
    await this.#get.check();
    await this.#get.close();
  }

  async take(step: EngineStep): Promise<void> {
    switch (step.do) {
      case 'commit':
        return this.#commit(step.batches);
      case 'get':
        return this.#read(step.places);
      case 'list':
        return this.#list(step.by, step.itemsMax);
      case 'feed':
        return this.#feed(step.by, step.rowsMax);
      case 'clock':
        return this.#clock.set(instant(step.toMs));
      case 'defaultTtl':
        return this.#alter(step.value);
      case 'purge':
        return this.#purge(step.rowsMax);
      case 'look':
        return this.#look();
      case 'expiries':
        return this.#expiries(step.defaultTtl, step.rowsMax);
      case 'recreate':
        return this.#recreate(step.defaultTtl);
      case 'reopen':
        return this.#reopen();
      default:
        throw new Error(`unknown step ${JSON.stringify(step satisfies never)}`);
    }
  }

  get #get(): Engine {
    assert(this.#engine);
    return this.#engine;
  }

  get #now(): Instant {
    return this.#clock.now();
  }

  async #commit(steps: readonly (readonly ChangeStep[])[]): Promise<void> {
    const sent = steps.map((changes) =>
      changes.map((change) => ({
        ...change,
        etag: `"${++this.#etags}"`,
        expected: change.ifMatch === 'current' ? this.#model.inspect(change)?.etag : change.ifMatch,
      })),
    );
    const batches = batchesOf(sent, this.nowMs);
    const outcomes = await this.#get.commit(this.#container.engine, batches, this.#now);
    sent.forEach((changes, index) => {
      const outcome = outcomes[index];
      assert(outcome);
      const trial = this.#model.copy();
      for (const [at, change] of changes.entries()) {
        const verdict = judgeChange(trial, change, this.nowMs);
        if (verdict === 'done') {
          checkOutcome(outcome, at, trial.find(change, this.nowMs));
          continue;
        }
        assert('refused' in outcome, `change ${at} should be refused: ${verdict}`);
        assert(sameRefusal(outcome.refused, verdict), `${verdict}, not ${shown(outcome.refused)}`);
        assert.equal(outcome.index, at);
        return;
      }
      assert('items' in outcome, 'a batch was refused for no reason');
      this.#model = trial;
    });
  }

  async #read(places: readonly Place[]): Promise<void> {
    const at = this.#now;
    const box = this.#container.engine;
    const keys = places.map(({ partition, id }) => ({ partition: [partition], id }));
    const { items } = await this.#get.get(box, keys, at);
    for (const [index, place] of places.entries()) {
      const kept = this.#model.inspect(place);
      const live = this.#model.find(place, at);
      checkItem(items[index], live);
      checkItem(await this.#get.inspect(box, keys[index] ?? 0), kept);
      const bySerial = await this.#get.get(box, [kept?.serial ?? NO_SERIAL], at);
      checkItem(bySerial.items[0], live);
    }
  }

  async #list(by: ListBy, itemsMax: number): Promise<void> {
    const documents = {
      engine: this.#get,
      entropy: this.#entropy,
      purger: this.#purger,
      countsUnpurged: false,
    };
    const scope = scopeOf(by);
    const wanted = this.#listed(by);
    const found: Item[] = [];
    let continuation: string | undefined;
    do {
      assert(found.length < ROWS_MAX, 'the list does not end');
      const wish = { itemsMax, continuation };
      const page = await listItems(documents, this.#container, scope, wish, this.#now);
      found.push(...page.items);
      continuation = page.continuation;
    } while (continuation !== undefined);
    // Only lists of everything and of one partition key promise an order.
    if (scope.span) found.sort((a, b) => a.serial - b.serial);
    assert.deepEqual(
      found.map((item) => item.serial),
      wanted.map((item) => item.serial),
    );
    for (const [index, item] of found.entries()) checkItem(item, wanted[index]);
  }

  #listed(by: ListBy): readonly Kept[] {
    const live = this.#model.live(this.nowMs);
    if (by === 'all') return live;
    if ('partition' in by) return live.filter((item) => item.partition === by.partition);
    return live.filter((item) => {
      const epk = effectivePartitionKey([item.partition], 'v2');
      return by.from <= epk && epk < by.to;
    });
  }

  /** All that lives has changed once; and the same from the middle on. */
  async #feed(by: ListBy, rowsMax: number): Promise<void> {
    const found = await this.#changes(by, 0, rowsMax);
    const wanted = this.#listed(by);
    const bySerial = [...found].sort((a, b) => a.serial - b.serial);
    assert.deepEqual(
      bySerial.map((item) => item.serial),
      wanted.map((item) => item.serial),
    );
    for (const [index, item] of bySerial.entries()) checkItem(item, wanted[index]);
    const middle = found[found.length >> 1]?.lsn ?? 0;
    assert.deepEqual(
      (await this.#changes(by, middle, rowsMax)).map((item) => item.serial),
      found.filter((item) => item.lsn > middle).map((item) => item.serial),
    );
  }

  async #changes(by: ListBy, start: Lsn, rowsMax: number): Promise<readonly Item[]> {
    const budget = { rowsMax, bytesMax: BYTES_MAX };
    const found: Item[] = [];
    for (let after = start; ; ) {
      assert(found.length < ROWS_MAX, 'the changes do not end');
      const scan = { ...scopeOf(by), after };
      const page = await this.#get.changes(this.#container.engine, scan, this.#now, budget);
      found.push(...page.items);
      if (page.isEnd) return found;
      after = page.upTo;
    }
  }

  async #alter(defaultTtl: number | undefined): Promise<void> {
    const definition = definitionOf(defaultTtl, this.#mode);
    const engine = engineContainer(this.#container.engine.id, definition, INDEX_VERSION);
    this.#container = { ...this.#container, definition, engine };
    await this.#get.alterContainer(engine);
    this.#model.defaultTtl = defaultTtl;
  }

  /** T15: exactly the oldest go, and the next instant is that of the oldest left. */
  async #purge(rowsMax: number): Promise<void> {
    const done = await this.#get.purge(this.#container.engine, this.#now, rowsMax);
    const gone = this.#model.purge(this.nowMs, rowsMax);
    assert.deepEqual(done, {
      purged: gone.length,
      bytes: gone.reduce((sum, item) => sum + bytesOf(item), 0),
      next: this.#model.nextDueMs(),
    });
    for (const { serial } of gone) {
      assert.equal(await this.#get.inspect(this.#container.engine, serial), undefined);
    }
  }

  async #look(): Promise<void> {
    const kept = this.#model.kept();
    const { items, bytes } = await this.#get.stats(this.#container.engine);
    assert.equal(items, kept.length);
    assert.equal(
      bytes,
      kept.reduce((sum, item) => sum + bytesOf(item), 0),
    );
    const next = await this.#get.nextExpiry(this.#container.engine);
    assert.equal(next, this.#model.nextDueMs());
  }

  /** What would be due at this moment under some default, its own or another. */
  async #expiries(defaultTtl: number | undefined, rowsMax: number): Promise<void> {
    const rules = cosmosRules(defaultTtl);
    const found: Expiry[] = [];
    let after: Resume | undefined;
    do {
      assert(found.length < ROWS_MAX, 'the expiries do not end');
      const scan = { rules, until: this.#now, after, rowsMax };
      const page = await this.#get.expiries(this.#container.engine, scan);
      found.push(...page.expiries);
      after = page.resume;
    } while (after !== undefined);
    const wanted = this.#model
      .kept()
      .map((item) => ({ item, due: dueOf(item, defaultTtl) }))
      .filter(({ due }) => due !== undefined && due <= this.nowMs)
      .map(({ item, due }) => ({ due, serial: item.serial, bytes: bytesOf(item) }));
    const plain = found.map(({ due, serial, bytes }) => ({ due: Number(due), serial, bytes }));
    assert.deepEqual(
      plain.sort((a, b) => a.serial - b.serial),
      wanted,
    );
  }

  async #recreate(defaultTtl: number | undefined): Promise<void> {
    await this.#get.dropContainer(this.#container.engine.id);
    this.#container = storedContainer(this.#container.serial + 1, defaultTtl, this.#mode);
    await this.#get.createContainer(this.#container.engine);
    this.#model = new ContainerModel(defaultTtl, UNIQUE_KEYS);
  }

  async #reopen(): Promise<void> {
    await this.close();
    this.#engine = withContract(await this.#open());
    const [container] = await this.#engine.containers();
    assert.deepEqual(container, this.#container.engine);
  }
}

function scopeOf(by: ListBy): Scope {
  return {
    partition: by !== 'all' && 'partition' in by ? [by.partition] : undefined,
    span: by !== 'all' && 'from' in by ? by : undefined,
  };
}

function definitionOf(defaultTtl: number | undefined, indexingMode: Mode): ContainerDefinition {
  return defineContainer({
    id: 'box',
    indexingPolicy: { indexingMode },
    partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
    uniqueKeyPolicy: { uniqueKeys: UNIQUE_KEYS.map((paths) => ({ paths })) },
    ...(defaultTtl === undefined ? {} : { defaultTtl }),
  });
}

const INDEX_VERSION = 1;

function storedContainer(
  serial: number,
  defaultTtl: number | undefined,
  mode: Mode,
): StoredContainer {
  const definition = definitionOf(defaultTtl, mode);
  return {
    serial,
    etag: '"0"',
    writtenSeconds: 0,
    database: 1,
    definition,
    ranges: newRanges(1, 'v2'),
    indexVersion: INDEX_VERSION,
    engine: engineContainer(`box-${serial}`, definition, INDEX_VERSION),
  };
}

function bytesOf({ body }: Kept): number {
  return Buffer.byteLength(JSON.stringify(body));
}

function checkOutcome(outcome: WriteOutcome, at: number, item: Kept | undefined): void {
  if ('items' in outcome) checkItem(outcome.items[at], item);
}

function checkItem(item: Item | undefined, wanted: Kept | undefined): void {
  assert.equal(item?.etag, wanted?.etag);
  if (!item || !wanted) return;
  assert.equal(item.serial, wanted.serial);
  assert.equal(item.key.id, wanted.id);
  assert.deepEqual(item.key.partition, [wanted.partition]);
  assert.deepEqual(item.doc.value, wanted.body);
}

const shown = (value: unknown): string => JSON.stringify(value);
