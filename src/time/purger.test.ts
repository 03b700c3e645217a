// The purger, before a fake thing to purge and a virtual clock. A background pass gathers company
// for half a second of real time first, so the tests poll, and run side by side.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { VirtualClock } from './clock.js';
import { type Instant, instant } from './instant.js';
import { type Purgeable, type PurgePass, Purger } from './purger.js';

const NOON = instant(Date.UTC(2030, 5, 1, 12));
/** Longer than a pass gathers: what has not happened after it does not happen. */
const QUIET_MS = 800;
const ITEM_BYTES = 10;
const NO_PASS = { purged: 0, bytes: 0 };

/** Items as instants; an item is purged once its instant is reached. */
class FakeTarget implements Purgeable {
  readonly id: string;
  readonly passes: { readonly at: Instant; readonly rowsMax: number; readonly purged: number }[] =
    [];
  items: number[];
  /** Thrown by the next passes, one each. */
  readonly failures: Error[] = [];
  /** A pass waits for it in the middle. */
  gate: Promise<void> = Promise.resolve();
  started = 0;

  constructor(id: string, items: readonly number[]) {
    this.id = id;
    this.items = [...items].sort((a, b) => a - b);
  }

  async nextExpiry(): Promise<Instant | undefined> {
    return this.#next();
  }

  async purge(at: Instant, rowsMax: number): Promise<PurgePass> {
    this.started += 1;
    await this.gate;
    const failure = this.failures.shift();
    if (failure) throw failure;
    const due = this.items.filter((item) => item <= at).slice(0, rowsMax);
    this.items = this.items.slice(due.length);
    this.passes.push({ at, rowsMax, purged: due.length });
    return { purged: due.length, bytes: due.length * ITEM_BYTES, next: this.#next() };
  }

  #next(): Instant | undefined {
    const [first] = this.items;
    return first === undefined ? undefined : instant(first);
  }
}

function setUp(active = 0) {
  const clock = new VirtualClock();
  clock.freeze();
  clock.set(NOON);
  const errors: unknown[] = [];
  const load = { active, begun: 0 };
  const purger = new Purger(clock, load, (error) => errors.push(error));
  return { clock, errors, load, purger };
}

describe('the purger', { concurrency: true }, () => {
  test('sleeps until the next expiry, and then goes on to the one after', async () => {
    const { clock, purger } = setUp();
    const target = new FakeTarget('a', [NOON + 1000, NOON + 5000]);
    await purger.watch(target);
    clock.advance(999);
    await sleep(QUIET_MS);
    assert.equal(target.started, 0);
    clock.advance(1);
    await until(() => target.passes.length === 1);
    clock.advance(4000);
    await until(() => target.items.length === 0);
    assert.deepEqual(
      target.passes.map((pass) => pass.at),
      [NOON + 1000, NOON + 5000],
    );
    await purger.close();
  });

  test('starts with what is overdue, the oldest first over all targets', async () => {
    const { purger } = setUp();
    const order: string[] = [];
    const targets = [3, 1, 2].map((age) => {
      const target = new FakeTarget(`age ${age}`, [NOON - age * 1000]);
      const purge = target.purge.bind(target);
      target.purge = (at, rowsMax) => {
        order.push(target.id);
        return purge(at, rowsMax);
      };
      return target;
    });
    await Promise.all(targets.map((target) => purger.watch(target)));
    await until(() => order.length === 3);
    assert.deepEqual(order, ['age 3', 'age 2', 'age 1']);
    await purger.close();
  });

  test('has nothing to do for a target without expiry', async () => {
    const { clock, purger } = setUp();
    const target = new FakeTarget('a', []);
    await purger.watch(target);
    clock.advance(1e12);
    await sleep(QUIET_MS);
    assert.equal(target.started, 0);
    await purger.close();
  });

  test('takes bounded passes: 128 rows, and 32 beside foreground work', async () => {
    for (const [active, rowsMax] of [
      [0, 128],
      [1, 32],
    ] as const) {
      const { purger } = setUp(active);
      const target = new FakeTarget('a', new Array<number>(300).fill(NOON));
      await purger.watch(target);
      await until(() => target.items.length === 0);
      assert.equal(target.passes.length, Math.ceil(300 / rowsMax));
      assert.ok(target.passes.every((pass) => pass.rowsMax === rowsMax));
      await purger.close();
    }
  });

  test('requests that came and went between two passes count as foreground work', async () => {
    const { clock, load, purger } = setUp();
    const target = new FakeTarget(
      'a',
      Array.from({ length: 200 }, () => NOON + 1000),
    );
    const purge = target.purge.bind(target);
    target.purge = (at, rowsMax) => {
      if (target.started < 2) load.begun += 1;
      return purge(at, rowsMax);
    };
    await purger.watch(target);
    clock.advance(1000);
    await until(() => target.items.length === 0);
    assert.deepEqual(
      target.passes.map(({ rowsMax }) => rowsMax),
      [128, 32, 32, 128],
    );
    await purger.close();
  });

  test('expect() wakes it earlier, and only earlier', async () => {
    const { clock, purger } = setUp();
    const target = new FakeTarget('a', [NOON + 60_000]);
    await purger.watch(target);
    target.items = [NOON + 2000, NOON + 60_000];
    purger.expect('a', instant(NOON + 2000));
    purger.expect('a', instant(NOON + 90_000));
    purger.expect('a', undefined);
    purger.expect('unknown', NOON);
    clock.advance(2000);
    await until(() => target.passes.length === 1);
    assert.equal(target.passes[0]?.purged, 1);
    assert.deepEqual(target.items, [NOON + 60_000]);
    await purger.close();
  });

  test('expect() wakes it for a target that had nothing', async () => {
    const { clock, purger } = setUp();
    const target = new FakeTarget('a', []);
    await purger.watch(target);
    target.items = [NOON + 10];
    purger.expect('a', instant(NOON + 10));
    clock.advance(10);
    await until(() => target.items.length === 0);
    await purger.close();
  });

  test('watching again replaces the target and its next instant', async () => {
    const { clock, purger } = setUp();
    const before = new FakeTarget('a', [NOON + 1000]);
    const after = new FakeTarget('a', [NOON + 3000]);
    await purger.watch(before);
    await purger.watch(after);
    clock.advance(1000);
    await sleep(QUIET_MS);
    assert.deepEqual([before.started, after.started], [0, 0]);
    clock.advance(2000);
    await until(() => after.items.length === 0);
    assert.equal(before.started, 0);
    await purger.close();
  });

  test('a target replaced during its pass keeps the next instant of the new one', async () => {
    const { clock, purger } = setUp();
    const before = new FakeTarget('a', [NOON]);
    const opened = gate();
    before.gate = opened.promise;
    await purger.watch(before);
    await until(() => before.started === 1);
    const after = new FakeTarget('a', [NOON + 100]);
    await purger.watch(after);
    opened.open();
    await until(() => before.passes.length === 1);
    clock.advance(100);
    await until(() => after.items.length === 0);
    await purger.close();
  });

  test('pause() stops it, resume() lets it catch up', async () => {
    const { purger } = setUp();
    const target = new FakeTarget('a', [NOON]);
    purger.pause();
    assert.equal(purger.status().paused, true);
    await purger.watch(target);
    purger.expect('a', NOON);
    await sleep(QUIET_MS);
    assert.equal(target.started, 0);
    purger.resume();
    assert.equal(purger.status().paused, false);
    await until(() => target.items.length === 0);
    await purger.close();
  });

  test('pause() also stops a run between two passes', async () => {
    const { purger } = setUp();
    const target = new FakeTarget('a', new Array<number>(300).fill(NOON));
    const opened = gate();
    target.gate = opened.promise;
    await purger.watch(target);
    await until(() => target.started === 1);
    purger.pause();
    opened.open();
    await sleep(QUIET_MS);
    assert.equal(target.passes.length, 1);
    assert.equal(await purger.runNow(), 300 - 128, 'by hand it runs all the same');
    await purger.close();
  });

  test('runNow() purges all that is due, in bounded passes, and says how much', async () => {
    const { clock, purger } = setUp();
    const due = new FakeTarget('due', new Array<number>(300).fill(NOON));
    const later = new FakeTarget('later', [NOON - 1, NOON, NOON + 1]);
    purger.pause();
    assert.equal(purger.status().lastRun, undefined);
    await Promise.all([purger.watch(due), purger.watch(later)]);
    assert.equal(await purger.runNow(), 302);
    assert.deepEqual([due.items, later.items], [[], [NOON + 1]]);
    assert.ok(due.passes.every((pass) => pass.rowsMax === 128));
    assert.equal(await purger.runNow(), 0);
    clock.advance(1);
    assert.equal(await purger.runNow(), 1);
    const { purgedTotal, bytesTotal, lastRun, itemsPerSecond } = purger.status();
    assert.deepEqual([purgedTotal, bytesTotal, lastRun], [303, 303 * ITEM_BYTES, NOON + 1]);
    assert.ok(itemsPerSecond > 0);
    await purger.close();
  });

  test('runs at the same time count each item once', async () => {
    const { purger } = setUp();
    const target = new FakeTarget('a', new Array<number>(200).fill(NOON));
    await purger.watch(target);
    const counts = await Promise.all([purger.runNow(), purger.runNow(), purger.runNow()]);
    assert.deepEqual(counts, [200, 0, 0]);
    assert.equal(purger.status().purgedTotal, 200);
    await purger.close();
  });

  test('runNow() amid a pass of the background still purges all that is due', async () => {
    const { clock, purger } = setUp();
    const target = new FakeTarget(
      'a',
      Array.from({ length: 500 }, () => NOON + 1000),
    );
    // As in a store: what a pass removes is chosen when it begins.
    const purge = target.purge.bind(target);
    let under = 0;
    target.purge = async (at, rowsMax) => {
      under += 1;
      const isAlone = under === 1;
      await sleep(5);
      const pass = isAlone ? await purge(at, rowsMax) : { ...NO_PASS, next: instant(NOON + 1000) };
      under -= 1;
      return pass;
    };
    await purger.watch(target);
    clock.advance(1000);
    await until(() => under === 1);
    const purged = await purger.runNow();
    assert.deepEqual(target.items, []);
    assert(purged > 0 && purged < 500, `${purged}`);
    assert.equal(purger.status().purgedTotal, 500);
    await purger.close();
  });

  test('an error is reported, and the pass is tried again', async () => {
    const { errors, purger } = setUp();
    const target = new FakeTarget('a', [NOON]);
    const failure = new Error('the disk is full');
    target.failures.push(failure);
    await purger.watch(target);
    await until(() => errors.length === 1);
    assert.deepEqual(errors, [failure]);
    assert.equal(target.items.length, 1);
    await until(() => target.items.length === 0);
    assert.equal(errors.length, 1);
    assert.equal(purger.status().purgedTotal, 1);
    await purger.close();
  });

  test('an error of runNow() goes to its caller, and the next one works', async () => {
    const { errors, purger } = setUp();
    const target = new FakeTarget('a', [NOON]);
    purger.pause();
    target.failures.push(new Error('the disk is full'));
    await purger.watch(target);
    await assert.rejects(purger.runNow(), /the disk is full/);
    assert.equal(await purger.runNow(), 1);
    assert.deepEqual(errors, []);
    await purger.close();
  });

  test('forget() ends the care for a target, also in the middle of a run', async () => {
    const { clock, purger } = setUp();
    const gone = new FakeTarget('gone', [NOON + 1000]);
    await purger.watch(gone);
    purger.forget('gone');
    purger.forget('never known');
    clock.advance(1000);
    await sleep(QUIET_MS);
    assert.equal(gone.started, 0);
    const going = new FakeTarget('going', new Array<number>(300).fill(NOON));
    const opened = gate();
    going.gate = opened.promise;
    purger.pause();
    await purger.watch(going);
    const run = purger.runNow();
    await until(() => going.started === 1);
    purger.forget('going');
    opened.open();
    assert.equal(await run, 128);
    await purger.close();
  });

  test('close() waits for the pass under way and starts no other', async () => {
    const { clock, purger } = setUp();
    const target = new FakeTarget('a', new Array<number>(300).fill(NOON));
    const opened = gate();
    target.gate = opened.promise;
    await purger.watch(target);
    await until(() => target.started === 1);
    let isClosed = false;
    const closed = purger.close().then(() => {
      isClosed = true;
    });
    await sleep(30);
    assert.equal(isClosed, false);
    opened.open();
    await closed;
    assert.equal(target.passes.length, 1);
    purger.expect('a', NOON);
    purger.resume();
    clock.advance(1000);
    await sleep(QUIET_MS);
    assert.equal(target.started, 1);
    assert.equal(await purger.runNow(), 0);
  });

  test('close() while it gathers or waits for an alarm ends at once or soon', async () => {
    const gathering = setUp();
    const due = new FakeTarget('a', [NOON]);
    await gathering.purger.watch(due);
    await sleep(30);
    const waiting = setUp();
    await waiting.purger.watch(new FakeTarget('a', [NOON + 1000]));
    await Promise.all([gathering.purger.close(), waiting.purger.close()]);
    assert.equal(due.started, 0);
  });
});

function gate(): { readonly promise: Promise<void>; readonly open: () => void } {
  let open = () => {};
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { promise, open };
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
