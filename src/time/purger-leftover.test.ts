// T16: the purger asks what is left over before each pass, by the server's clock.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { VirtualClock } from './clock.js';
import { type Instant, instant } from './instant.js';
import { type Leftover, type Purgeable, type PurgePass, Purger } from './purger.js';

const NOON = instant(Date.UTC(2030, 5, 1, 12));

class FakeTarget implements Purgeable {
  readonly id: string;
  left: number;

  constructor(id: string, left: number) {
    this.id = id;
    this.left = left;
  }

  async nextExpiry(): Promise<Instant | undefined> {
    return this.left > 0 ? NOON : undefined;
  }

  async purge(_at: Instant, rowsMax: number): Promise<PurgePass> {
    const purged = Math.min(rowsMax, this.left);
    this.left -= purged;
    return { purged, bytes: purged * 10, next: await this.nextExpiry() };
  }
}

/** As many rows as a test allows, for each container. */
class FakeLeftover implements Leftover {
  readonly allowed = new Map<string, number>();
  readonly spentBy = new Map<string, number>();
  asked = 0;

  rows(id: string, rowsMax: number): number {
    this.asked += 1;
    return Math.min(rowsMax, this.allowed.get(id) ?? 0);
  }

  spent(id: string, { purged }: PurgePass, onDemand: boolean): void {
    this.spentBy.set(id, (this.spentBy.get(id) ?? 0) + purged);
    if (!onDemand) this.allowed.set(id, (this.allowed.get(id) ?? 0) - purged);
  }
}

function setUp() {
  const clock = new VirtualClock();
  clock.freeze();
  clock.set(NOON);
  const leftover = new FakeLeftover();
  const purger = new Purger(clock, { active: 0, begun: 0 }, assert.ifError, leftover);
  return { clock, leftover, purger };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!isSo()) {
    assert.ok(Date.now() < deadline, 'it did not happen within 10 s');
    await sleep(5);
  }
}

describe('the purger on leftovers', { concurrency: true }, () => {
  test('T16: it stands still while nothing is left, and goes on as the clock does', async () => {
    const { clock, leftover, purger } = setUp();
    const target = new FakeTarget('a', 300);
    await purger.watch(target);
    await until(() => leftover.asked > 0);
    leftover.allowed.set('a', 50);
    await sleep(100);
    assert.equal(target.left, 300, 'it asks again when the clock has moved');
    assert.equal(purger.status().waiting, true);
    clock.advance(50);
    await until(() => target.left === 250);
    const { asked } = leftover;
    await sleep(100);
    assert.ok(leftover.asked <= asked + 1, 'it does not ask in vain');
    leftover.allowed.set('a', 1000);
    clock.advance(50);
    await until(() => target.left === 0);
    assert.equal(leftover.spentBy.get('a'), 300);
    await until(() => !purger.status().waiting);
    await purger.close();
  });

  test('T16: a container that has nothing left does not hold up the others', async () => {
    const { leftover, purger } = setUp();
    const [busy, idle] = [new FakeTarget('busy', 100), new FakeTarget('idle', 100)];
    leftover.allowed.set('idle', 100);
    await purger.watch(busy);
    await purger.watch(idle);
    await until(() => idle.left === 0);
    assert.equal(busy.left, 100);
    await purger.close();
  });

  test('T19: on demand it does not wait for leftovers, and tells what it spent', async () => {
    const { leftover, purger } = setUp();
    const target = new FakeTarget('a', 300);
    await purger.watch(target);
    assert.equal(await purger.runNow(), 300);
    assert.equal(leftover.spentBy.get('a'), 300);
    await purger.close();
  });

  test('it can be closed while it waits for leftovers', async () => {
    const { leftover, purger } = setUp();
    await purger.watch(new FakeTarget('a', 1));
    await until(() => leftover.asked > 0);
    await purger.close();
  });
});
