// The clocks: how the virtual one is moved, and when alarms ring.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Alarm, breathe, every, rest, stopwatch, systemClock, VirtualClock } from './clock.js';
import { type Instant, instant, LAST_INSTANT } from './instant.js';

const NOON = instant(Date.UTC(2030, 5, 1, 12));
const DAY_MS = 86_400_000;
/** Timers of Node take no more; a longer sleep would end at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;

test('the system clock tells the time of the machine', () => {
  const clock = systemClock();
  const before = Date.now();
  const times = [clock.now(), clock.wall()];
  const after = Date.now();
  for (const time of times) assert.ok(before <= time && time <= after);
  assert.deepEqual([clock.mode, clock.frozen], ['system', false]);
});

test('a virtual clock starts with the time of the machine and goes on', async () => {
  const clock = new VirtualClock();
  const start = clock.now();
  assert.ok(Math.abs(start - Date.now()) < 1000);
  await sleep(15);
  assert.ok(clock.now() > start);
  assert.deepEqual([clock.mode, clock.frozen], ['virtual', false]);
});

test('freeze, set, advance, unfreeze', async () => {
  const clock = new VirtualClock();
  clock.freeze();
  const frozenAt = clock.now();
  await sleep(15);
  assert.equal(clock.now(), frozenAt);
  clock.set(NOON);
  assert.equal(clock.now(), NOON);
  assert.equal(clock.frozen, true);
  clock.advance(90 * DAY_MS);
  assert.equal(clock.now(), NOON + 90 * DAY_MS);
  clock.advance(1);
  await sleep(15);
  assert.equal(clock.now(), NOON + 90 * DAY_MS + 1);
  clock.set(instant(0));
  assert.equal(clock.now(), 0);
  clock.set(LAST_INSTANT);
  assert.equal(clock.now(), LAST_INSTANT);
  clock.set(NOON);
  clock.unfreeze();
  assert.equal(clock.frozen, false);
  await sleep(15);
  const running = clock.now();
  assert.ok(running > NOON && running < NOON + 10_000, 'it goes on from where it stood');
  assert.ok(Math.abs(clock.wall() - Date.now()) < 1000, 'the wall clock does not follow');
});

test('a running clock can be set and advanced too, and goes on from there', async () => {
  const clock = new VirtualClock();
  clock.set(NOON);
  clock.advance(DAY_MS);
  await sleep(15);
  const now = clock.now();
  assert.ok(now > NOON + DAY_MS && now < NOON + DAY_MS + 10_000);
  clock.freeze();
  const frozenAt = clock.now();
  assert.ok(frozenAt >= now && frozenAt < now + 10_000);
});

test('time outside 1970 to 9999 is refused, and the clock stays', () => {
  const clock = frozenAtNoon();
  for (const ms of [-1, LAST_INSTANT + 1, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => clock.set(instant(ms)), RangeError);
    assert.equal(clock.now(), NOON);
  }
  assert.throws(() => clock.advance(LAST_INSTANT), RangeError);
  assert.throws(() => clock.advance(-NOON - 1), RangeError);
  assert.equal(clock.now(), NOON);
});

test('an alarm rings once its instant is reached: not before, once, and not in the call', async () => {
  const clock = frozenAtNoon();
  const rung: number[] = [];
  clock.alarm(instant(NOON + 1000), () => rung.push(clock.now()));
  clock.advance(999);
  await sleep(20);
  assert.deepEqual(rung, []);
  clock.advance(1);
  assert.deepEqual(rung, []);
  await until(() => rung.length > 0);
  clock.advance(5000);
  await sleep(20);
  assert.deepEqual(rung, [NOON + 1000]);
});

test('an alarm in the past rings soon', async () => {
  for (const clock of [frozenAtNoon(), new VirtualClock(), systemClock()]) {
    let rings = 0;
    clock.alarm(instant(0), () => {
      rings += 1;
    });
    assert.equal(rings, 0);
    await until(() => rings === 1);
  }
});

test('alarms that pass one by one ring in order, however they were set', async () => {
  const clock = frozenAtNoon();
  const rung: number[] = [];
  for (const offset of [300, 100, 200]) {
    clock.alarm(instant(NOON + offset), () => rung.push(offset));
  }
  for (const count of [1, 2, 3]) {
    clock.advance(100);
    await until(() => rung.length === count);
  }
  assert.deepEqual(rung, [100, 200, 300]);
});

test('on a running clock alarms ring in the order of their instants', async () => {
  for (const clock of [new VirtualClock(), systemClock()]) {
    const now = clock.now();
    const rung: number[] = [];
    for (const offset of [60, 20, 40]) {
      clock.alarm(instant(now + offset), () => rung.push(offset));
    }
    await until(() => rung.length === 3);
    assert.deepEqual(rung, [20, 40, 60]);
    assert.ok(clock.now() >= now + 60);
  }
});

test('going back takes alarms along, and unfreezing wakes them', async () => {
  const clock = frozenAtNoon();
  let rings = 0;
  clock.alarm(instant(NOON + 50), () => {
    rings += 1;
  });
  clock.set(instant(NOON - DAY_MS));
  clock.set(instant(NOON + 10));
  await sleep(80);
  assert.equal(rings, 0, 'time stands still');
  clock.unfreeze();
  await until(() => rings === 1);
  assert.ok(clock.now() >= NOON + 50);
});

test('freezing stops an alarm that is under way', async () => {
  const clock = new VirtualClock();
  let rings = 0;
  clock.alarm(instant(clock.now() + 40), () => {
    rings += 1;
  });
  clock.freeze();
  await sleep(80);
  assert.equal(rings, 0);
  clock.advance(1000);
  await until(() => rings === 1);
});

test('alarms beyond what timers can hold do not ring at once', async () => {
  const far: (readonly [Alarm, string])[] = [];
  const rung: string[] = [];
  const clocks = { system: systemClock(), running: new VirtualClock(), frozen: frozenAtNoon() };
  for (const [name, clock] of Object.entries(clocks)) {
    for (const ms of [TIMER_MAX_MS - 1000, TIMER_MAX_MS + 1, 2 ** 32, 365 * 100 * DAY_MS]) {
      const at: Instant = instant(clock.now() + ms);
      far.push([clock.alarm(at, () => rung.push(name)), name]);
    }
  }
  await sleep(60);
  assert.deepEqual(rung, []);
  clocks.running.advance(2 ** 32);
  clocks.frozen.advance(2 ** 32);
  await until(() => rung.length === 6);
  assert.deepEqual(rung.sort(), ['frozen', 'frozen', 'frozen', 'running', 'running', 'running']);
  for (const [alarm] of far) alarm.cancel();
});

test('a cancelled alarm does not ring, also when it was just about to', async () => {
  const clock = frozenAtNoon();
  let rings = 0;
  const ring = () => {
    rings += 1;
  };
  const waiting = clock.alarm(instant(NOON + 10), ring);
  waiting.cancel();
  waiting.cancel();
  const due = clock.alarm(instant(NOON + 10), ring);
  const passed = clock.alarm(NOON, ring);
  clock.advance(10);
  due.cancel();
  passed.cancel();
  const system = systemClock();
  system.alarm(instant(system.now() + 10), ring).cancel();
  await sleep(50);
  clock.advance(DAY_MS);
  await sleep(20);
  assert.equal(rings, 0);
});

test('an alarm may set another one, and may move the clock', async () => {
  const clock = frozenAtNoon();
  const rung: string[] = [];
  clock.alarm(instant(NOON + 1), () => {
    rung.push('first');
    clock.alarm(instant(NOON + 2), () => rung.push('second'));
    clock.advance(1);
  });
  clock.advance(1);
  await until(() => rung.length === 2);
  assert.deepEqual(rung, ['first', 'second']);
});

test('resting, breathing, ticking and measuring', async () => {
  const took = stopwatch();
  // Nothing here keeps the process alive, so something else must.
  const alive = setInterval(() => undefined, 1000);
  await rest(20);
  assert.ok(took() >= 15);
  let ticks = 0;
  const ticking = every(5, () => {
    ticks += 1;
  });
  await until(() => ticks >= 2);
  ticking.cancel();
  const seen = ticks;
  let breathed = false;
  setImmediate(() => {
    breathed = true;
  });
  await breathe();
  assert.equal(breathed, true);
  await sleep(30);
  assert.equal(ticks, seen);
  clearInterval(alive);
});

function frozenAtNoon(): VirtualClock {
  const clock = new VirtualClock();
  clock.freeze();
  clock.set(NOON);
  return clock;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 5000;
  while (!isSo()) {
    assert.ok(Date.now() < deadline, 'it did not happen within 5 s');
    await sleep(2);
  }
}
