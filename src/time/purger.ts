// The purge: removes expired items in the background, oldest first, in bounded passes, on capacity
// nobody else wants. It knows one instant per container, the next expiry. Nothing a reader sees
// depends on it (T12).
import { type Alarm, breathe, type Clock, rest, stopwatch } from './clock.js';
import { type Instant, instant } from './instant.js';

/** One thing to purge; the engine behind it stays unknown here. */
export interface Purgeable {
  readonly id: string;
  nextExpiry(): Promise<Instant | undefined>;
  purge(at: Instant, rowsMax: number): Promise<PurgePass>;
}
export interface PurgePass {
  readonly purged: number;
  readonly bytes: number;
  /** Versions that were forgotten, which are no items. */
  readonly trimmed?: number;
  readonly next: Instant | undefined;
}
export interface PurgerStatus {
  readonly paused: boolean;
  /** Items are due, and requests leave nothing over to purge them with. */
  readonly waiting: boolean;
  readonly purgedTotal: number;
  readonly bytesTotal: number;
  readonly lastRun: Instant | undefined;
  readonly itemsPerSecond: number;
}
/** What foreground requests there are. */
export interface Load {
  /** Being answered at this moment. */
  readonly active: number;
  /** Begun so far: most are over before anybody looks again. */
  readonly begun: number;
}

/** The capacity that requests have not used (T16). */
export interface Leftover {
  /** How many items may go at this moment, `rowsMax` at the most. */
  rows(id: string, rowsMax: number): number;
  /** What was removed; on demand it does not have to fit. */
  spent(id: string, pass: PurgePass, onDemand: boolean): void;
}
const UNLIMITED: Leftover = { rows: (_id, rowsMax) => rowsMax, spent: () => undefined };

const ROWS_IDLE = 128;
const ROWS_BUSY = 32;
/** Beside foreground work the purge takes one part of the time in this many. */
const BUSY_SHARE = 5;
/**
 * Items that fall due together are purged together: a pass waits this long, in real time, for
 * company.
 */
const GATHER_MS = 500;
const RETRY_MS = 1000;
/** How long the purge waits, by the server's clock, before it asks again for what is left over. */
const LEFTOVER_MS = 50;

export class Purger {
  readonly #clock: Clock;
  readonly #load: Load;
  readonly #report: (error: unknown) => void;
  readonly #leftover: Leftover;
  readonly #watched = new Map<string, { readonly target: Purgeable; next: Instant | undefined }>();
  #alarm: Alarm | undefined;
  #alarmAt: Instant | undefined;
  #background: Promise<void> | undefined;
  #demanded: Promise<unknown> = Promise.resolve();
  #demands = 0;
  readonly #passes = new Set<Promise<unknown>>();
  #wake: () => void = () => undefined;
  #paused = false;
  #waiting = false;
  #closed = false;
  #purgedTotal = 0;
  #bytesTotal = 0;
  #lastRun: Instant | undefined;
  #itemsPerSecond = 0;
  #begunBefore = 0;

  constructor(
    clock: Clock,
    load: Load,
    report: (error: unknown) => void,
    leftover: Leftover = UNLIMITED,
  ) {
    this.#clock = clock;
    this.#load = load;
    this.#report = report;
    this.#leftover = leftover;
  }

  /** Starts to look after a container, or looks again after its rules have changed. */
  async watch(target: Purgeable): Promise<void> {
    const next = await target.nextExpiry();
    this.#watched.set(target.id, { target, next });
    this.#setAlarm();
  }

  forget(id: string): void {
    this.#watched.delete(id);
    this.#setAlarm();
  }

  /**
   * Resolves when the passes under way are over. After `forget` that means that no more items go by
   * the old rules, so these can be changed without losing an item that the new ones revive (T7).
   */
  async passesOver(): Promise<void> {
    await Promise.allSettled(this.#passes);
  }

  /**
   * A write lit a fuse that burns down at this instant. Called for every write, so it only
   * compares.
   */
  expect(id: string, due: Instant | undefined): void {
    if (due === undefined) return;
    const watched = this.#watched.get(id);
    if (!watched || (watched.next !== undefined && watched.next <= due)) return;
    watched.next = due;
    if (this.#alarmAt === undefined || due < this.#alarmAt) this.#setAlarm();
  }

  pause(): void {
    this.#paused = true;
    this.#setAlarm();
  }

  resume(): void {
    this.#paused = false;
    this.#setAlarm();
  }

  /** Purges until nothing is due, also while paused. */
  runNow(): Promise<number> {
    const run = this.#demanded.then(async () => {
      // A pass under way removes what this one has just found, which then seems to get nowhere.
      await this.passesOver();
      return this.#runThrough();
    });
    const ended = run
      .catch(() => undefined)
      .then(() => {
        this.#demands -= 1;
      });
    this.#demands += 1;
    this.#demanded = ended;
    return run;
  }

  status(): PurgerStatus {
    return {
      paused: this.#paused,
      waiting: this.#waiting,
      purgedTotal: this.#purgedTotal,
      bytesTotal: this.#bytesTotal,
      lastRun: this.#lastRun,
      itemsPerSecond: this.#itemsPerSecond,
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#alarm?.cancel();
    this.#wake();
    await this.#demanded;
    await this.#background;
  }

  #setAlarm(): void {
    this.#alarm?.cancel();
    this.#alarm = undefined;
    this.#alarmAt = this.#paused || this.#closed ? undefined : this.#earliest()?.next;
    if (this.#alarmAt === undefined) return;
    this.#alarm = this.#clock.alarm(this.#alarmAt, () => {
      // While one run is under way it looks for more work itself.
      this.#background ??= this.#runUntilCaughtUp().finally(() => {
        this.#background = undefined;
        this.#setAlarm();
      });
    });
  }

  #earliest(): { readonly target: Purgeable; readonly next: Instant } | undefined {
    let earliest: { target: Purgeable; next: Instant } | undefined;
    for (const { target, next } of this.#watched.values()) {
      if (next !== undefined && (earliest === undefined || next < earliest.next)) {
        earliest = { target, next };
      }
    }
    return earliest;
  }

  async #runThrough(): Promise<number> {
    let purged = 0;
    for (const id of [...this.#watched.keys()]) {
      // The target is asked for before every pass, because its rules may have changed meanwhile.
      let target = this.#watched.get(id)?.target;
      while (!this.#closed && target) {
        const pass = await this.#pass(target, ROWS_IDLE, true);
        purged += pass.purged;
        const due = pass.next !== undefined && pass.next <= this.#clock.now();
        if (!due || pass.purged + (pass.trimmed ?? 0) === 0) break;
        await breathe();
        target = this.#watched.get(id)?.target;
      }
    }
    return purged;
  }

  async #runUntilCaughtUp(): Promise<void> {
    try {
      await this.#rest(GATHER_MS);
      while (!this.#paused && !this.#closed) {
        // A run on demand goes first, so that "until nothing is due" counts what it did itself.
        if (this.#demands > 0) await this.#demanded;
        const due = this.#due();
        if (due.length === 0) return;
        const busy = this.#isBusy();
        const took = stopwatch();
        const turn = this.#turnOf(due, busy ? ROWS_BUSY : ROWS_IDLE);
        if (turn === undefined) {
          this.#waiting = true;
          await this.#untilMoreIsLeft();
          this.#waiting = false;
          continue;
        }
        await this.#pass(turn.target, turn.rows, false);
        if (busy) await this.#rest(Math.max(1, took() * (BUSY_SHARE - 1)));
        else await breathe();
      }
    } catch (error) {
      this.#report(error);
      await this.#rest(RETRY_MS);
    }
  }

  /** What is due, the oldest first. */
  #due(): readonly Purgeable[] {
    const now = this.#clock.now();
    return [...this.#watched.values()]
      .flatMap(({ target, next }) => (next !== undefined && next <= now ? [{ target, next }] : []))
      .sort((a, b) => a.next - b.next)
      .map(({ target }) => target);
  }

  /** One container whose requests take all there is does not hold up the others. */
  #turnOf(due: readonly Purgeable[], rowsMax: number) {
    for (const target of due) {
      const rows = this.#leftover.rows(target.id, rowsMax);
      if (rows > 0) return { target, rows };
    }
    return undefined;
  }

  #untilMoreIsLeft(): Promise<void> {
    return new Promise((resolve) => {
      const at = instant(this.#clock.now() + LEFTOVER_MS);
      const alarm = this.#clock.alarm(at, resolve);
      this.#wake = () => {
        alarm.cancel();
        resolve();
      };
      if (this.#closed) this.#wake();
    });
  }

  /** Whether there were requests since this was asked last. */
  #isBusy(): boolean {
    const { active, begun } = this.#load;
    const isBusy = active > 0 || begun !== this.#begunBefore;
    this.#begunBefore = begun;
    return isBusy;
  }

  async #pass(target: Purgeable, rowsMax: number, onDemand: boolean): Promise<PurgePass> {
    const at = this.#clock.now();
    const took = stopwatch();
    const passing = target.purge(at, rowsMax);
    this.#passes.add(passing);
    const pass = await passing.finally(() => this.#passes.delete(passing));
    const watched = this.#watched.get(target.id);
    // The target may have been replaced meanwhile, by one with other rules that has its own next
    // instant.
    if (watched?.target === target) watched.next = pass.next;
    this.#leftover.spent(target.id, pass, onDemand);
    this.#purgedTotal += pass.purged;
    this.#bytesTotal += pass.bytes;
    this.#lastRun = at;
    if (pass.purged > 0) this.#itemsPerSecond = Math.round((pass.purged * 1000) / took());
    return pass;
  }

  /** Ends early on close: the timer by itself does not keep the process alive until then. */
  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (this.#closed) resolve();
      else void rest(ms).then(resolve);
    });
  }
}
