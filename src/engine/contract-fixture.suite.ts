// What the suites of the contract share: an engine with a new container for every test, and the
// shortest ways to write to it and read from it.
import { cosmosFuses, cosmosRules, type Fuse } from '../time/expiry.js';
import { type Instant, instant, instantOfSeconds } from '../time/instant.js';
import { docFromValue } from '../value/doc.js';
import type { PartitionKey } from '../value/partition-key.js';
import { type Change, type Container, type Draft, type Engine, EVERYTHING } from './engine.js';

export const NOW = instantOfSeconds(1_700_000_000);
export const LATER = (ms: number) => instant(NOW + ms);
export const BUDGET = { rowsMax: 100, bytesMax: 4_000_000 };
export const ALL = EVERYTHING;

export class Fixture {
  engine: Engine;
  box: Container = containerNamed('none');
  #count = 0;

  constructor(engine: Engine) {
    this.engine = engine;
  }

  newName(prefix: string): string {
    return `${prefix}${this.#count++}`;
  }

  put(id: string, partition: PartitionKey = ['a'], more: object = {}, at = NOW) {
    return this.engine.commit(this.box, [{ partition, changes: [insert(id, more, at)] }], at);
  }

  async read(id: string, partition: PartitionKey = ['a'], at = NOW) {
    return (await this.engine.get(this.box, [{ partition, id }], at)).items[0];
  }
}

export function containerNamed(id: string): Container {
  return {
    id,
    partitionPaths: [['pk']],
    partitionHash: 'v2',
    indexes: [],
    indexing: {
      version: 1,
      rules: [{ path: [], below: true, include: true }],
      composites: [],
      words: [],
      points: [],
      lazy: false,
    },
    expiry: cosmosRules(undefined),
  };
}

let etags = 0;

export function draftOf(id: string, more: object, at: Instant): Draft {
  const ttl = (more as { ttl?: unknown }).ttl;
  const fuses: readonly Fuse[] = cosmosFuses(ttl, at / 1000);
  return { id, etag: `"${etags++}"`, fuses, doc: docFromValue({ id, ...more }) };
}

export function insert(id: string, more: object = {}, at = NOW): Change {
  return { kind: 'insert', item: draftOf(id, more, at) };
}

export function replace(id: string, more: object): Change {
  return {
    kind: 'update',
    id,
    decide: (current) => (current ? { put: draftOf(id, more, NOW) } : { refuse: 'notFound' }),
  };
}

/** One that fails in a way that is not foreseen. */
export const BOOM: Change = {
  kind: 'update',
  id: 'boom',
  decide: () => {
    throw new RangeError('boom');
  },
};

export function remove(id: string): Change {
  return { kind: 'delete', id, ifEtag: undefined };
}

export async function take<T>(from: AsyncIterable<T>, countMax: number): Promise<T[]> {
  const taken: T[] = [];
  for await (const each of from) {
    taken.push(each);
    if (taken.length >= countMax) break;
  }
  return taken;
}
