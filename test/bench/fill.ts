// Fills a data folder from inside, without a server: the same engine, catalog and documents. A
// process of its own, so that the folder is closed when a server opens it.
import { Catalog } from '../../src/catalog/catalog.js';
import { defineContainer } from '../../src/catalog/definition/container-definition.js';
import type { StoredContainer } from '../../src/catalog/resources.js';
import { composeItem, parseItem } from '../../src/cosmos/item-body.js';
import type { Item, Serial, WriteBatch } from '../../src/engine/engine.js';
import { openKvEngine } from '../../src/engine/kv/kv-engine.js';
import { openLmdb } from '../../src/engine/kv/lmdb.js';
import { systemClock } from '../../src/time/clock.js';
import { type Entropy, systemEntropy } from '../../src/time/entropy.js';
import { cosmosFuses } from '../../src/time/expiry.js';
import { type Instant, secondsOf } from '../../src/time/instant.js';
import { Purger } from '../../src/time/purger.js';
import { answerCalls } from './child.js';
import { containerBody } from './client.js';
import { makeOrder, ORDER_POLICY } from './orders.js';
import { DATABASE, itemName, itemText } from './wire.js';

export interface FillPlan {
  readonly folder: string;
  readonly bytes: number;
  /** Items without a ttl of their own, under the container's default. */
  readonly living: number;
  readonly defaultTtl: number;
  readonly indexed: boolean;
  /** Orders, which are for queries, instead of the items of all other parts. */
  readonly orders?: boolean;
  /** Items whose own ttl lets them expire together, so many days after this moment. */
  readonly waves: readonly Wave[];
}
export interface Wave {
  readonly day: number;
  readonly items: number;
}

const DAY_SECONDS = 86_400;
/**
 * As many as a busy server puts into one commit. Much larger commits would leave LMDB a long list
 * of free pages, which makes every later commit slower.
 */
const COMMIT_ITEMS = 128;
/** Nothing is written to the orders later, and with larger commits they are there sooner. */
const COMMIT_ORDERS = 4096;

answerCalls({ fill });

async function fill(plan: FillPlan): Promise<void> {
  const clock = systemClock();
  const entropy = systemEntropy();
  const at = clock.now();
  const engine = await openKvEngine(openLmdb(plan.folder));
  const purger = new Purger(clock, { active: 0, begun: 0 }, (error) => {
    throw error;
  });
  try {
    const catalog = await Catalog.open({ engine, entropy, purger }, at);
    const database = await catalog.createDatabase(DATABASE, undefined, at);
    const definition = defineContainer(
      containerBody(plan.orders ? { ...plan, policy: ORDER_POLICY } : plan),
    );
    const container = await catalog.createContainer(database, definition, undefined, at);
    let committing: Promise<unknown> = Promise.resolve();
    for (const piece of piecesOf(plan)) {
      const batches = Array.from({ length: piece.items }, (_, number) =>
        batchOf({ container, entropy, at }, plan, piece.from + number, piece.ttl),
      );
      // While one commit is on its way to the disk, the next one is made ready.
      await committing;
      committing = engine.commit(container.engine, batches, at);
    }
    await committing;
    const expected = plan.living + plan.waves.reduce((sum, wave) => sum + wave.items, 0);
    const { items } = await engine.stats(container.engine);
    if (items !== expected) throw new Error(`${items} items were stored instead of ${expected}`);
  } finally {
    await purger.close();
    await engine.close();
  }
}

interface Piece {
  readonly from: number;
  readonly items: number;
  readonly ttl: number | undefined;
}

/** In commits of bounded size: the living first, so that their numbers do not depend on waves. */
function* piecesOf(plan: FillPlan): Iterable<Piece> {
  let from = 0;
  const groups = [
    { items: plan.living, ttl: undefined },
    ...plan.waves.map(({ day, items }) => ({ items, ttl: day * DAY_SECONDS })),
  ];
  const itemsMax = plan.orders ? COMMIT_ORDERS : COMMIT_ITEMS;
  for (const { items, ttl } of groups) {
    for (let done = 0; done < items; done += itemsMax) {
      const count = Math.min(itemsMax, items - done);
      yield { from, items: count, ttl };
      from += count;
    }
  }
}

interface Setting {
  readonly container: StoredContainer;
  readonly entropy: Entropy;
  readonly at: Instant;
}

function batchOf(
  { container, entropy, at }: Setting,
  { orders, living, bytes }: FillPlan,
  index: number,
  ttl: number | undefined,
): WriteBatch {
  const { id, pk } = itemName(index);
  const text = orders ? makeOrder(index, living).text : itemText(index, 0, bytes, { ttl });
  const item = parseItem(Buffer.from(text));
  const seconds = secondsOf(at);
  const etag = entropy.etag(seconds);
  const decide = (_current: Item | undefined, serial: Serial) => {
    const doc = composeItem(container, item, serial, etag, seconds);
    return { put: { id, etag, fuses: cosmosFuses(ttl, seconds), doc } };
  };
  return { partition: [pk], changes: [{ kind: 'update', id, decide }] };
}
