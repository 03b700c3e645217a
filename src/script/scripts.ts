// Running scripts: what the rest of the server asks of the sandboxes. Nothing is started before the
// first script is.
import { errorTable, failure, MayflyError } from '../value/errors.js';
import {
  type Answer,
  type Failed,
  type FunctionSource,
  type Limits,
  MEMORY_MB,
  type Operation,
  type Outcome,
  type Program,
} from './messages.js';
import { ScriptPool } from './pool.js';

/** Above the deepest native recursion that this leaves room for, the thread's own stack ends. */
const STACK_BYTES = 256 * 1024;
/** The share of its time after which a script is told to come to an end. */
const ACCEPTING_SHARE = 0.8;
const OPERATIONS_MAX = 5000;
const WRITES_MAX = 2000;
const CHECK_MS = 5000;

/** An error that a script has thrown: its number is the sub-status. */
export class ScriptError extends MayflyError {
  readonly #subStatus: number;

  constructor(text: string, subStatus: number) {
    super('scriptThrew', text);
    this.#subStatus = subStatus;
  }

  override get kind() {
    return { ...super.kind, subStatus: this.#subStatus };
  }
}

export interface RanProgram extends Outcome {
  readonly log: string;
  readonly computedMs: number;
}

export class Scripts {
  readonly #programs = new ScriptPool();
  /** Apart, because the queries of programs call functions while their thread waits for them. */
  readonly #functions = new ScriptPool();
  readonly #limits: Limits;

  constructor(timeMs: number) {
    this.#limits = {
      timeMs,
      acceptMs: timeMs * ACCEPTING_SHARE,
      operationsMax: OPERATIONS_MAX,
      writesMax: WRITES_MAX,
      stackBytes: STACK_BYTES,
    };
  }

  /** Throws with the place in the text where a body is not one function. */
  async check(name: string, body: string): Promise<void> {
    // Nothing is run, so how long scripts may run has nothing to do with it.
    const limits = { ...this.#limits, timeMs: CHECK_MS };
    const result = await this.#programs.run({ task: { kind: 'check', name, body }, limits });
    if (result.kind !== 'failed') return;
    const { failed } = result;
    if (failed.kind !== 'thrown') throw this.#error(failed);
    const why = `${failed.text} ${failed.stack.trim()}`;
    throw failure('scriptInvalid', { id: name, why });
  }

  async run(
    program: Program,
    carryOut: (operation: Operation) => Promise<Answer>,
  ): Promise<RanProgram> {
    const limits = this.#limits;
    const task = { kind: 'program', program } as const;
    const result = await this.#programs.run({ task, limits, carryOut });
    if (result.kind === 'failed') throw withLog(this.#error(result.failed), result.log);
    if (result.kind !== 'done') throw new Error('a program has an outcome');
    const { outcome, log, computedMs } = result;
    return { ...outcome, log, computedMs };
  }

  /** Calls and results are JSON texts, as functions.ts draws them. */
  async callFunctions(functions: readonly FunctionSource[], calls: string): Promise<string> {
    const limits = this.#limits;
    const task = { kind: 'functions', functions, calls } as const;
    const result = await this.#functions.run({ task, limits });
    if (result.kind === 'failed') throw this.#error(result.failed);
    if (result.kind !== 'values') throw new Error('functions have values');
    return result.values;
  }

  async close(): Promise<void> {
    await Promise.all([this.#programs.close(), this.#functions.close()]);
  }

  #error(failed: Failed): MayflyError {
    switch (failed.kind) {
      case 'thrown':
        return thrownError(failed.text, failed.stack, failed.number);
      case 'time':
        return failure('scriptTimeout', { limit: this.#limits.timeMs });
      case 'memory':
        return failure('scriptMemory', { limit: MEMORY_MB });
      case 'depth':
        return failure('scriptDepth');
      default:
        throw new Error(`unknown failure ${failed satisfies never}`);
    }
  }
}

const logs = new WeakMap<object, string>();

function withLog(error: MayflyError, log: string): MayflyError {
  logs.set(error, log);
  return error;
}

/** What a program had printed that ended with this error; undefined for other errors. */
export function logOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null ? logs.get(error) : undefined;
}

/** Sub-statuses are small whole numbers; whatever else a script calls a number is none. */
export function thrownError(text: string, stack: string, number: number | undefined): ScriptError {
  const isSubStatus = Number.isInteger(number) && Number(number) > 0 && Number(number) < 65536;
  const exception = stack === '' ? text : `${text}\r\nStack trace: ${text}\n${stack}`;
  const words = errorTable.scriptThrew.text.replace('{exception}', () => exception);
  return new ScriptError(words, isSubStatus ? Number(number) : 0);
}
