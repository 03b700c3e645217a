// The throughput of custom actions: offers, as the REST API has them.
import type { StoredCollection } from '../../catalog/collections.js';
import type { Database, Offer } from '../../catalog/resources.js';
import {
  autoscale,
  ceilingOf,
  DEFAULT_THROUGHPUT,
  manual,
  minimumOf,
  PER_RANGE_MAX,
  type Throughput,
} from '../../catalog/throughput.js';
import { type Document, documentOf, int32 } from '../../value/bson/value.js';
import { MayflyError } from '../../value/errors.js';
import { type MongoError, mongoFailure } from '../../value/mongo-errors.js';
import type { Call } from '../call.js';
import { asInteger, documentOfField, integerOf, missingField, unknownField } from '../fields.js';

export const THROUGHPUT_FIELDS: readonly string[] = ['offerThroughput', 'autoScaleSettings'];

export function throughputIn(call: Call): Throughput | undefined {
  const fixed = integerOf(call, 'offerThroughput');
  const scaled = documentOfField(call, 'autoScaleSettings');
  if (fixed !== undefined && scaled) {
    throw wrong('offerThroughput and autoScaleSettings exclude each other');
  }
  try {
    if (fixed !== undefined) return manual(fixed);
    return scaled && autoscale(ceilingIn(scaled));
  } catch (error) {
    if (error instanceof MayflyError) throw wrong(error.message);
    throw error;
  }
}

function ceilingIn(settings: Document): number {
  const path = 'customAction.autoScaleSettings';
  for (const name of settings.keys()) {
    if (name !== 'maxThroughput') throw unknownField(`${path}.${name}`);
  }
  const ceiling = asInteger(settings.get('maxThroughput'), `${path}.maxThroughput`);
  if (ceiling === undefined) throw missingField(`${path}.maxThroughput`);
  return ceiling;
}

/** One place serves so much, and what has no shard key is in one place. */
export function checkShards(throughput: Throughput, shardKey: readonly string[]): void {
  if (ceilingOf(throughput) <= PER_RANGE_MAX || shardKey.length > 0) return;
  throw wrong(`a collection without a shardKey has at most ${PER_RANGE_MAX} request units`);
}

export async function changeThroughput(
  call: Call,
  database: Database,
  collection: StoredCollection | undefined,
  asked: Throughput,
): Promise<void> {
  const { catalog, documents } = call.mongo;
  if (collection) checkShards(asked, collection.definition.shardKey);
  const offer = catalog.offerOf(database.serial, collection?.serial);
  const shared = catalog.offerOf(database.serial, undefined);
  if (!offer && (!collection || shared)) {
    throw wrong('there is no throughput of its own to change: it was made without');
  }
  if (!offer && collection) {
    await catalog.provisionCollection(collection, asked, call.at);
    return;
  }
  let bytes = 0;
  for (const { engine } of collection ? [collection] : catalog.collections.in(database)) {
    bytes += (await documents.engine.stats(engine)).bytes;
  }
  const decide = ({ throughput, highestEver }: Offer): Throughput => {
    if (throughput.kind !== asked.kind) {
      throw wrong(`the throughput is ${throughput.kind}, which cannot be changed here`);
    }
    const least = minimumOf(asked.kind, highestEver, bytes);
    if (ceilingOf(asked) < least) throw wrong(`the throughput must be ${least} at least`);
    return asked;
  };
  await catalog.replaceOffer(offer as Offer, decide, call.at);
}

/** As the service tells it; of what shares, nothing is told. */
export function addThroughput(
  reply: Document,
  { mongo: { catalog } }: Call,
  database: Database,
  collection?: StoredCollection,
): void {
  const shared = catalog.offerOf(database.serial, undefined);
  const own = collection ? catalog.offerOf(database.serial, collection.serial) : shared;
  const isDefault = collection !== undefined && !shared;
  const throughput = own?.throughput ?? (isDefault ? DEFAULT_THROUGHPUT : undefined);
  if (!throughput) return;
  const ceiling = ceilingOf(throughput);
  const isManual = throughput.kind === 'manual';
  reply.set('provisionedThroughput', int32(isManual ? ceiling : ceiling / 10));
  if (!isManual) reply.set('autoScaleSettings', documentOf({ maxThroughput: int32(ceiling) }));
}

function wrong(why: string): MongoError {
  return mongoFailure('BadValue', why);
}
