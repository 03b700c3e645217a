// Containers with the same documents under several indexing policies, the model of what they hold,
// and queries that are drained page by page.
import assert from 'node:assert/strict';
import { defineContainer } from '../../src/catalog/definition/container-definition.js';
import { newRanges } from '../../src/catalog/ranges.js';
import { engineContainer, type StoredContainer } from '../../src/catalog/resources.js';
import type { Documents } from '../../src/documents/documents.js';
import type { Scope } from '../../src/documents/list.js';
import { queryItems } from '../../src/documents/query.js';
import { deleteItem, type ItemWrite, writeItem } from '../../src/documents/write.js';
import { withContract } from '../../src/engine/contract.js';
import type { Engine } from '../../src/engine/engine.js';
import { lowerSql } from '../../src/sql/lower.js';
import { parseSql } from '../../src/sql/parser.js';
import { VirtualClock } from '../../src/time/clock.js';
import { systemEntropy } from '../../src/time/entropy.js';
import { instantOfSeconds } from '../../src/time/instant.js';
import { Purger } from '../../src/time/purger.js';
import { docFromValue } from '../../src/value/doc.js';
import { effectivePartitionKey } from '../../src/value/partition-hash.js';
import type { PartitionKey, Scalar } from '../../src/value/partition-key.js';
import type { RandomQuery } from './generator.suite.js';
import { type Policy, policyBody } from './policy.suite.js';

export interface Kept {
  readonly id: string;
  readonly partition: PartitionKey;
  readonly value: Readonly<Record<string, unknown>>;
  readonly writtenSeconds: number;
  readonly ttl: number | undefined;
}

export const EVERYTHING: Scope = { partition: undefined, span: undefined };
export const DEFAULT_TTL = 1000;
const PAGES_MAX = 2000;

export class World {
  readonly containers = new Map<Policy, StoredContainer>();
  readonly #defaultTtl: number | undefined;
  readonly #engine: Engine;
  readonly #indexed: Documents;
  readonly #scanned: Documents;
  /** In order of creation; the dead stay until they are replaced or forgotten. */
  #kept: readonly Kept[] = [];
  #nowSeconds = 1_700_000_000;

  /** Without a default time to live it is off, and items live whatever they say themselves. */
  constructor(engine: Engine, defaultTtl: number | undefined) {
    this.#defaultTtl = defaultTtl;
    this.#engine = withContract(engine);
    const purger = new Purger(new VirtualClock(), { active: 0, begun: 0 }, () => undefined);
    const entropy = systemEntropy();
    const parts = { entropy, purger, countsUnpurged: false };
    this.#indexed = { engine: this.#engine, ...parts };
    this.#scanned = { engine: withoutIndex(this.#engine), ...parts };
  }

  async open(policies: readonly Policy[]): Promise<void> {
    for (const policy of policies) {
      const container = storedContainer(policy, this.containers.size + 1, 1, this.#defaultTtl);
      this.containers.set(policy, container);
      await this.#engine.createContainer(container.engine);
    }
  }

  /** Another policy for a container, which its index follows in the background. */
  async alter(from: Policy, to: Policy): Promise<void> {
    const old = this.containers.get(from);
    assert(old);
    const next = storedContainer(to, old.serial, old.indexVersion + 1, this.#defaultTtl);
    this.containers.delete(from);
    this.containers.set(to, next);
    await this.#engine.alterContainer(next.engine);
  }

  async indexProgress(policy: Policy): Promise<number> {
    const container = this.containers.get(policy);
    assert(container);
    return (await this.#engine.stats(container.engine)).indexProgress;
  }

  /** The same containers and items in another engine, which has opened the same store. */
  movedTo(engine: Engine): World {
    const world = new World(engine, this.#defaultTtl);
    for (const [policy, container] of this.containers) world.containers.set(policy, container);
    world.#kept = this.#kept;
    world.#nowSeconds = this.#nowSeconds;
    return world;
  }

  get nowSeconds(): number {
    return this.#nowSeconds;
  }

  advance(seconds: number): void {
    this.#nowSeconds += seconds;
    this.#kept = this.live();
  }

  live(): readonly Kept[] {
    const defaultTtl = this.#defaultTtl;
    if (defaultTtl === undefined) return this.#kept;
    return this.#kept.filter(({ writtenSeconds, ttl }) => {
      if (ttl === -1) return true;
      return writtenSeconds + (ttl ?? defaultTtl) > this.#nowSeconds;
    });
  }

  liveIn({ partition, span }: Scope): readonly Kept[] {
    return this.live().filter((kept) => {
      const epk = effectivePartitionKey(kept.partition, 'v2');
      if (span && !(span.from <= epk && epk < span.to)) return false;
      return !partition || partition[0] === kept.partition[0];
    });
  }

  /** Upserts, in this order; the ids differ from each other. */
  async putAll(
    list: readonly (readonly [id: string, members: Readonly<Record<string, unknown>>])[],
  ): Promise<void> {
    const at = instantOfSeconds(this.#nowSeconds);
    const all = list.map(([id, members]): Kept => {
      const { p, ttl } = members as { readonly p?: Scalar; readonly ttl?: number };
      const value = { id, ...members, _ts: this.#nowSeconds };
      return { id, partition: [p], value, writtenSeconds: this.#nowSeconds, ttl };
    });
    const writes = [...this.containers.values()].flatMap((container) =>
      all.map((kept) => writeItem(this.#indexed, container, upsertOf(kept), at)),
    );
    await Promise.all(writes);
    for (const kept of all) {
      const live = this.live();
      const index = live.findIndex((each) => isSame(each, kept));
      this.#kept = index < 0 ? [...live, kept] : live.with(index, kept);
    }
  }

  async remove(kept: Kept): Promise<void> {
    const at = instantOfSeconds(this.#nowSeconds);
    for (const container of this.containers.values()) {
      await deleteItem(this.#indexed, container, kept, UNCONDITIONAL, at);
    }
    this.#kept = this.#kept.filter((each) => !isSame(each, kept));
  }

  async purge(rowsMax: number): Promise<void> {
    for (const container of this.containers.values()) {
      await this.#engine.purge(container.engine, instantOfSeconds(this.#nowSeconds), rowsMax);
    }
  }

  /** All rows of all pages. `between` is called before each page but the first. */
  async drain(
    policy: Policy,
    scope: Scope,
    asked: RandomQuery,
    how: { readonly indexed: boolean; readonly pageSize: () => number },
    between: () => Promise<void> = async () => undefined,
  ): Promise<readonly unknown[]> {
    const container = this.containers.get(policy);
    assert(container);
    const rows: unknown[] = [];
    let continuation: string | undefined;
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      if (pages > 0) await between();
      const itemsMax = how.pageSize();
      const page = await queryItems(how.indexed ? this.#indexed : this.#scanned, container, scope, {
        query: lowerSql(parseSql(asked.text), asked.parameters),
        name: () => asked.text,
        itemsMax,
        continuation,
        at: instantOfSeconds(this.#nowSeconds),
        abandoned: () => false,
        isTimed: false,
        tokenBytesMax: Number.POSITIVE_INFINITY,
      });
      assert(page.rows.length <= itemsMax, 'a page has more rows than asked for');
      rows.push(...page.rows.map((row) => JSON.parse(Buffer.from(row).toString()) as unknown));
      continuation = page.continuation;
      if (continuation === undefined) return rows;
    }
    throw new Error('the pages never end');
  }

  check(): Promise<void> {
    return this.#engine.check();
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}

function storedContainer(
  policy: Policy,
  serial: number,
  version: number,
  defaultTtl: number | undefined,
): StoredContainer {
  const definition = defineContainer({
    id: policy.name,
    partitionKey: { paths: ['/p'], kind: 'Hash', version: 2 },
    indexingPolicy: policyBody(policy),
    ...(defaultTtl === undefined ? {} : { defaultTtl }),
  });
  const engine = engineContainer(`box-${serial}`, definition, version);
  return {
    serial,
    etag: '"1"',
    writtenSeconds: 0,
    database: 1,
    definition,
    ranges: newRanges(1, 'v2'),
    indexVersion: version,
    engine,
  };
}

const UNCONDITIONAL = { ifMatch: undefined, ifNoneMatch: undefined };

function upsertOf({ id, partition, value, ttl }: Kept): ItemWrite {
  const compose = () => docFromValue(value);
  return { kind: 'upsert', key: { partition, id }, ttl, compose, conditions: UNCONDITIONAL };
}

function isSame(a: Kept, b: Kept): boolean {
  return a.id === b.id && a.partition[0] === b.partition[0];
}

/** The same data without any help: every query looks at everything in its scope. */
function withoutIndex(engine: Engine): Engine {
  return {
    ...engine,
    plan: (container, request) => ({
      ...engine.plan(container, { ...request, filter: undefined, order: [] }),
      exact: request.filter === undefined,
      ordered: request.order.length === 0,
      count: async () => undefined,
      countBy: async () => undefined,
    }),
  };
}
