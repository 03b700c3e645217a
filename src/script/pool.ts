// The threads that run scripts: made when they are needed, a few at most, each with one script at a
// time. A thread whose script failed is thrown away with whatever the script left in it.
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { type Alarm, breathe, later, stopwatch } from '../time/clock.js';
import { failure } from '../value/errors.js';
import { engineCode } from './engine-code.js';
import type { Answer, FromWorker, Limits, Operation, Result, Task, ToWorker } from './messages.js';

/** Two at least, so that one script that takes its time does not keep all others waiting. */
const THREADS_MAX = Math.max(2, Math.min(4, availableParallelism() - 1));
const WAITING_MAX = 200;
/**
 * How much longer than its time a script may take before its thread is ended from outside. To get
 * ready is part of it, which takes a while on a busy machine.
 */
const GRACE_MS = 2000;
/** After so long with the operations of a script everybody else has a turn. */
const TURN_MS = 3;
const THREAD_LIMITS = { stackSizeMb: 4, maxOldGenerationSizeMb: 256 };

export interface Job {
  readonly task: Task;
  readonly limits: Limits;
  /** Answers what the script asks for. */
  readonly carryOut?: (operation: Operation) => Promise<Answer>;
}

interface Waiting {
  readonly job: Job;
  settle(result: Result): void;
  reject(error: unknown): void;
}

export class ScriptPool {
  readonly #idle: Thread[] = [];
  readonly #threads = new Set<Thread>();
  readonly #waiting: Waiting[] = [];
  #isClosed = false;

  run(job: Job): Promise<Result> {
    if (this.#isClosed) return Promise.reject(failure('shuttingDown'));
    if (this.#waiting.length >= WAITING_MAX) return Promise.reject(failure('scriptsBusy'));
    return new Promise<Result>((settle, reject) => {
      this.#waiting.push({ job, settle, reject });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(failure('shuttingDown'));
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  #next(): void {
    const thread = this.#idle.pop() ?? this.#another();
    const next = thread && this.#waiting.shift();
    if (!thread || !next) {
      if (thread) this.#idle.push(thread);
      return;
    }
    thread.run(next.job).then(
      (result) => {
        this.#release(thread, result.kind !== 'failed' || !result.isSpent);
        next.settle(result);
      },
      (error: unknown) => {
        this.#release(thread, false);
        next.reject(error);
      },
    );
  }

  #another(): Thread | undefined {
    if (this.#threads.size >= THREADS_MAX || this.#waiting.length === 0) return undefined;
    const thread = new Thread();
    this.#threads.add(thread);
    return thread;
  }

  #release(thread: Thread, isGood: boolean): void {
    if (isGood) this.#idle.push(thread);
    else {
      this.#threads.delete(thread);
      void thread.end();
    }
    if (this.#waiting.length > 0) this.#next();
  }
}

const spent = (kind: 'time' | 'memory'): Result => {
  return { kind: 'failed', failed: { kind }, log: '', isSpent: true };
};

/** A task while its thread works on it. */
interface Underway extends Job {
  resolve(result: Result): void;
  reject(error: unknown): void;
}

class Thread {
  readonly #worker = new Worker(new URL('./worker.js', import.meta.url), {
    resourceLimits: THREAD_LIMITS,
    // A sandbox needs nothing of the server's.
    env: {},
    execArgv: [],
  });
  readonly #isReady: Promise<void>;
  #underway: Underway | undefined;
  /** Operations one after the other, in the order in which they were asked for. */
  #carried: Promise<void> = Promise.resolve();
  #turn = stopwatch();

  constructor() {
    this.#isReady = new Promise((resolve) => {
      this.#worker.on('message', (message: FromWorker) => {
        if (message.kind === 'ready') resolve();
        else this.#hear(message);
      });
    });
    this.#worker.on('error', (error) => this.#break(error));
    this.#worker.on('exit', () => this.#break(new Error('a script thread ended')));
    this.#worker.unref();
    engineCode().then(
      (code) => this.#say({ kind: 'engine', code }),
      (error) => this.#break(error),
    );
  }

  async run(job: Job): Promise<Result> {
    this.#worker.ref();
    let alarm: Alarm | undefined;
    try {
      return await new Promise<Result>((resolve, reject) => {
        this.#underway = { ...job, resolve, reject };
        // A thread takes a while to start, which is not the script's time.
        void this.#isReady.then(() => {
          alarm = later(job.limits.timeMs + GRACE_MS, () => resolve(spent('time')));
          this.#say({ kind: 'task', task: job.task, limits: job.limits });
        });
      });
    } finally {
      alarm?.cancel();
      this.#underway = undefined;
      this.#worker.unref();
    }
  }

  async end(): Promise<void> {
    this.#underway?.reject(failure('shuttingDown'));
    await this.#worker.terminate();
  }

  #hear(message: Exclude<FromWorker, { kind: 'ready' }>): void {
    const underway = this.#underway;
    if (message.kind === 'result') underway?.resolve(message.result);
    else this.#carried = this.#carried.then(() => this.#carryOut(underway, message.operation));
  }

  async #carryOut(underway: Underway | undefined, operation: Operation): Promise<void> {
    if (this.#turn() > TURN_MS) {
      await breathe();
      this.#turn = stopwatch();
    }
    // What a script asked for before it ended badly is not done any more.
    if (!underway?.carryOut || underway !== this.#underway) return;
    try {
      this.#say({ kind: 'answer', answer: await underway.carryOut(operation) });
    } catch (error) {
      underway.reject(error);
    }
  }

  #break(error: Error & { readonly code?: string }): void {
    if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') this.#underway?.reject(error);
    else this.#underway?.resolve(spent('memory'));
  }

  #say(message: ToWorker): void {
    this.#worker.postMessage(message);
  }
}
