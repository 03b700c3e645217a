// Budgets of containers: shares of physical partitions, throughput that is shared, and what is left
// for the purge of a container with several partitions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Catalog } from '../catalog/catalog.js';
import type { Offer } from '../catalog/resources.js';
import type { Throughput } from '../catalog/throughput.js';
import { VirtualClock } from '../time/clock.js';
import { instant } from '../time/instant.js';
import { Budgets, type Metered, type ThroughputMode } from './budgets.js';
import { Throttled } from './throttled.js';

const NOON = Date.UTC(2030, 5, 1, 12);
const DATABASE = 1;

/** Containers and their offers, as far as budgets ask for them. */
class FakeCatalog {
  containers: Metered[] = [];
  given: Offer[] = [];
  readonly collections = { all: () => [] };

  add(serial: number, ranges: readonly number[]): Metered {
    const container = {
      serial,
      database: DATABASE,
      engine: { id: `engine ${serial}` },
      ranges: ranges.map((id) => ({ id })),
    };
    this.containers.push(container);
    return container;
  }

  provide(serial: number, container: number | undefined, throughput: Throughput): Offer {
    const offer = { serial, database: DATABASE, container, throughput } as Offer;
    this.given = [...this.given.filter((each) => each.serial !== serial), offer];
    return offer;
  }

  allContainers = () => this.containers;
  offers = () => this.given;
  offerFor = ({ serial }: Metered) =>
    this.given.find(({ container }) => container === serial) ??
    this.given.find(({ container }) => container === undefined);
}

function setUp(mode: ThroughputMode = 'enforce') {
  const clock = new VirtualClock();
  clock.freeze();
  clock.set(instant(NOON));
  const budgets = new Budgets(mode, clock);
  const catalog = new FakeCatalog();
  const manual = (perSecond: number): Throughput => ({ kind: 'manual', perSecond });
  budgets.follow(catalog as unknown as Catalog);
  return { clock, budgets, catalog, manual };
}

const isRefused = (work: () => void) => assert.throws(work, Throttled);

test('a physical partition has its share, and a request over all needs all', () => {
  const { budgets, catalog, manual } = setUp();
  const container = catalog.add(2, [0, 1]);
  catalog.provide(3, 2, manual(20_000));
  budgets.spend(container, 10_000, [0]);
  isRefused(() => budgets.admit(container, [0]));
  isRefused(() => budgets.admit(container));
  budgets.admit(container, [1]);
  assert.equal(budgets.room(container, [1]), 10_000);
  assert.deepEqual(
    { ...budgets.usage(container) },
    {
      charged: 10_000,
      throttled: 2,
      purged: 0,
      perPurged: 1,
    },
  );
});

test('what shares a database’s throughput shares one budget, whatever its partitions', () => {
  const { budgets, catalog, manual } = setUp();
  const [a, b] = [catalog.add(2, [0, 1]), catalog.add(3, [0])];
  catalog.provide(4, undefined, manual(400));
  budgets.spend(a, 400, [1]);
  isRefused(() => budgets.admit(b));
  isRefused(() => budgets.admit(a, [0]));
});

test('servers over one store have a part each, of what is shared as well', () => {
  const { budgets, catalog, manual } = setUp();
  const [own, shared] = [catalog.add(2, [0]), catalog.add(3, [0])];
  catalog.provide(4, 2, manual(1000));
  catalog.provide(5, undefined, manual(600));
  let servers = 2;
  budgets.follow(catalog as unknown as Catalog, () => servers);
  assert.deepEqual([budgets.room(own), budgets.room(shared)], [500, 300]);
  servers = 4;
  assert.deepEqual([budgets.room(own), budgets.room(shared)], [250, 150]);
});

test('without an offer there are 400', () => {
  const { budgets, catalog } = setUp();
  const container = catalog.add(2, [0]);
  budgets.spend(container, 399);
  budgets.admit(container);
  budgets.spend(container, 1);
  isRefused(() => budgets.admit(container));
});

test('after a split the children begin anew, and the parent is forgotten', () => {
  const { budgets, catalog, manual } = setUp();
  const parent = catalog.add(2, [0]);
  catalog.provide(3, 2, manual(10_000));
  budgets.spend(parent, 20_000);
  isRefused(() => budgets.admit(parent));
  const children = { ...parent, ranges: [{ id: 1 }, { id: 2 }] };
  catalog.containers = [children];
  budgets.admit(children);
  assert.equal(budgets.room(children, [1]), 5000);
});

test('with measure nobody is refused, and charges are counted', () => {
  const { budgets, catalog } = setUp('measure');
  const container = catalog.add(2, [0]);
  budgets.spend(container, 1_000_000);
  budgets.admit(container);
  assert.equal(budgets.usage(container).charged, 1_000_000);
  assert.equal(budgets.rows('engine 2', 128), 128);
});

test('autoscale stands at the most that a second of this hour used', () => {
  const { clock, budgets, catalog } = setUp('measure');
  const container = catalog.add(2, [0]);
  const offer = catalog.provide(3, 2, { kind: 'autoscale', maxPerSecond: 4000 });
  assert.equal(budgets.scaledTo(offer), 400);
  budgets.spend(container, 700);
  budgets.spend(container, 800);
  clock.advance(1000);
  budgets.spend(container, 100);
  assert.equal(budgets.scaledTo(offer), 1500);
  budgets.spend(container, 9000);
  assert.equal(budgets.scaledTo(offer), 4000);
  clock.advance(3_600_000);
  assert.equal(budgets.perSecond(container), 400);
});

test('T16: the partition with the least left over decides how much is purged', () => {
  const { clock, budgets, catalog, manual } = setUp();
  const container = catalog.add(2, [0, 1]);
  catalog.provide(3, 2, manual(2000));
  assert.equal(budgets.rows('engine 2', 128), 0);
  clock.advance(100);
  assert.equal(budgets.rows('engine 2', 128), 100);
  budgets.spent('engine 2', { purged: 60, bytes: 6000, next: undefined }, false);
  assert.equal(budgets.rows('engine 2', 128), 70);
  budgets.spend(container, 1000, [1]);
  clock.advance(400);
  assert.equal(budgets.rows('engine 2', 128), 70, 'of this second there is still something');
  budgets.spend(container, 1000, [1]);
  isRefused(() => budgets.admit(container, [1]));
  assert.equal(budgets.rows('engine 2', 128), 0);
  assert.equal(budgets.usage(container).purged, 60);
});

test('T16: an item that costs more than there ever is goes once half of a second is left', () => {
  const { clock, budgets, catalog, manual } = setUp();
  catalog.add(2, [0]);
  catalog.provide(3, 2, manual(400));
  budgets.rows('engine 2', 128);
  const huge = { purged: 1, bytes: 8_000_000, next: undefined };
  clock.advance(250);
  assert.equal(budgets.rows('engine 2', 128), 100);
  budgets.spent('engine 2', huge, false);
  assert.equal(budgets.rows('engine 2', 128), 0);
  clock.advance(1000);
  assert.equal(budgets.rows('engine 2', 128), 0, 'its debt comes first');
  clock.advance(2500);
  assert.equal(budgets.rows('engine 2', 128), 1);
});

test('what is deleted is forgotten', () => {
  const { budgets, catalog, manual } = setUp();
  const container = catalog.add(2, [0]);
  catalog.provide(3, 2, manual(400));
  budgets.spend(container, 500);
  catalog.containers = [];
  catalog.given = [];
  catalog.add(4, [0]);
  catalog.provide(5, 4, manual(400));
  budgets.spend(catalog.containers[0] as Metered, 1);
  catalog.containers = [container];
  catalog.provide(3, 2, manual(400));
  assert.equal(budgets.usage(container).charged, 0);
  budgets.admit(container);
});
