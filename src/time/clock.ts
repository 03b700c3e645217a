// The clocks. Every instant in Mayfly comes from one of these two; tests freeze, set and advance
// the virtual one (T37).
import { type Instant, instant, LAST_INSTANT } from './instant.js';

export interface Clock {
  readonly mode: 'system' | 'virtual';
  readonly frozen: boolean;
  now(): Instant;
  /** Real time, for what concerns the outside world: signatures, certificates, lock files. */
  wall(): Instant;
  /** Rings once, when `now()` has reached the instant. */
  alarm(at: Instant, ring: () => void): Alarm;
}
export interface Alarm {
  cancel(): void;
}

/** Timers beyond 2^31-1 ms fire at once in Node, so long sleeps are taken in steps. */
const TIMER_MAX_MS = 2_147_483_647;

/** The time of the machine, and for documents that of a clock which is so much ahead of it. */
export function systemClock(aheadMs: () => number = () => 0): Clock {
  const now = () => instant(Date.now() + Math.round(aheadMs()));
  return {
    mode: 'system',
    frozen: false,
    now,
    wall: () => instant(Date.now()),
    alarm: (at, ring) => sleepUntil(at, now, ring),
  };
}

export class VirtualClock implements Clock {
  readonly mode = 'virtual';
  #offsetMs = 0;
  #frozenAt: Instant | undefined;
  readonly #alarms = new Set<VirtualAlarm>();

  get frozen(): boolean {
    return this.#frozenAt !== undefined;
  }

  now(): Instant {
    return this.#frozenAt ?? instant(Date.now() + this.#offsetMs);
  }

  wall(): Instant {
    return instant(Date.now());
  }

  freeze(): void {
    this.#frozenAt = this.now();
    this.#reschedule();
  }

  unfreeze(): void {
    this.set(this.now());
    this.#frozenAt = undefined;
    this.#reschedule();
  }

  set(at: Instant): void {
    if (!(at >= 0 && at <= LAST_INSTANT)) {
      throw new RangeError('The clock can be set to 1970 up to 9999 only.');
    }
    this.#offsetMs = at - Date.now();
    if (this.#frozenAt !== undefined) this.#frozenAt = at;
    this.#reschedule();
  }

  advance(ms: number): void {
    this.set(instant(this.now() + ms));
  }

  alarm(at: Instant, ring: () => void): Alarm {
    const alarm: VirtualAlarm = { at, ring, sleeping: undefined };
    this.#alarms.add(alarm);
    this.#schedule(alarm);
    return {
      cancel: () => {
        this.#alarms.delete(alarm);
        alarm.sleeping?.cancel();
      },
    };
  }

  #reschedule(): void {
    // A jump may pass several; they ring in the order of their instants.
    for (const alarm of [...this.#alarms].sort((a, b) => a.at - b.at)) {
      alarm.sleeping?.cancel();
      this.#schedule(alarm);
    }
  }

  #schedule(alarm: VirtualAlarm): void {
    alarm.sleeping = undefined;
    if (this.frozen && alarm.at > this.now()) return;
    alarm.sleeping = sleepUntil(
      alarm.at,
      () => this.now(),
      () => {
        this.#alarms.delete(alarm);
        alarm.ring();
      },
    );
  }
}

/** A pause in real time that does not keep the process alive. */
export function rest(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

/** Lets everything else that waits for the event loop go first. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/**
 * Calls back once, after a while in real time, unless it is cancelled. Until then the process stays
 * alive.
 */
export function later(ms: number, ring: () => void): Alarm {
  const timer = setTimeout(ring, ms);
  return { cancel: () => clearTimeout(timer) };
}

/** Calls back again and again in real time until cancelled. */
export function every(ms: number, tick: () => void): Alarm {
  const timer = setInterval(tick, ms).unref();
  return { cancel: () => clearInterval(timer) };
}

/** Milliseconds on a clock that only measures; it never jumps. */
export function stopwatch(): () => number {
  const start = performance.now();
  return () => performance.now() - start;
}

interface VirtualAlarm {
  readonly at: Instant;
  readonly ring: () => void;
  sleeping: Alarm | undefined;
}

function sleepUntil(at: Instant, now: () => Instant, ring: () => void): Alarm {
  let timer: NodeJS.Timeout;
  const sleep = () => {
    const left = at - now();
    timer = setTimeout(left <= 0 ? ring : sleep, Math.min(Math.max(left, 0), TIMER_MAX_MS)).unref();
  };
  sleep();
  return { cancel: () => clearTimeout(timer) };
}
