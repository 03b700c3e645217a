// User-defined functions in queries. They run in sandboxes, in other threads, and a row cannot wait
// for one. So the rows of a batch are evaluated beforehand, only to find out which calls they make;
// all of these are sent off together, and when the rows are evaluated for good, the values are
// there.
import { stopwatch } from '../time/clock.js';
import { failure } from '../value/errors.js';
import type { QueryFunction, Value } from './function.js';
import { MANY } from './function.js';

/** A value, nothing, or what went wrong and where. */
export type FunctionResult =
  | readonly [value: Value]
  | readonly []
  | readonly [failed: 0, text: string, stack: string];

export interface UserFunctions {
  /**
   * Carries out many calls: a JSON array of `[number in names, arguments]`, or of
   * `[number, arguments in arrays of their own, 1]` where some argument is undefined.
   */
  call(names: readonly string[], calls: string): Promise<readonly FunctionResult[]>;
  error(text: string, stack: string): Error;
}

/** Marks calls of user-defined functions in the logical form; no built-in function has a dot. */
const PREFIX = 'udf.';

export const isUserFunction = (name: string): boolean => name.startsWith(PREFIX);

export function userFunction(name: string): { readonly name: string; readonly fn: QueryFunction } {
  return {
    name: `${PREFIX}${name}`,
    fn: {
      arity: [0, MANY],
      takes: ['maybe'],
      call: (args, { functions }) => {
        if (!functions) throw new Error('nobody calls functions here');
        return functions.value(name, args);
      },
    },
  };
}

/** Whether any part of a query calls a user-defined function. */
export function callsFunctions(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false;
  if ('kind' in part && part.kind === 'constant') return false;
  const isCall = 'kind' in part && part.kind === 'call' && 'name' in part;
  if (isCall && isUserFunction(String(part.name))) return true;
  return Object.values(part).some(callsFunctions);
}

/** What one message holds at most, unless a single call is longer. */
const MESSAGE_CHARACTERS_MAX = 1_000_000;

/** The calls of one batch of rows, and their results. */
export class FunctionCalls {
  readonly #functions: UserFunctions;
  readonly #names: string[] = [];
  readonly #known = new Map<string, FunctionResult>();
  readonly #waiting = new Set<string>();
  /** While rows are evaluated beforehand: what is not known yet is undefined, failures too. */
  isRehearsal = false;
  /** How often a value was not known. */
  misses = 0;
  /** Calls that went to the sandbox, and how long they took. */
  made = 0;
  tookMs = 0;

  constructor(functions: UserFunctions) {
    this.#functions = functions;
  }

  value(name: string, args: readonly Value[]): Value {
    const call = this.#textOf(name, args);
    const result = this.#known.get(call);
    if (result === undefined) {
      if (!this.isRehearsal) throw changing(name);
      this.#waiting.add(call);
      this.misses += 1;
      return undefined;
    }
    if (result.length < 3) return result[0];
    if (this.isRehearsal) return undefined;
    throw this.#functions.error(String(result[1]), String(result[2]));
  }

  /** Asks for what is waited for; false when that was nothing. */
  async settle(): Promise<boolean> {
    if (this.#waiting.size === 0) return false;
    const took = stopwatch();
    const calls = [...this.#waiting];
    this.made += calls.length;
    this.#waiting.clear();
    for (let start = 0; start < calls.length; ) {
      let end = start;
      let characters = 0;
      while (end < calls.length && (end === start || characters < MESSAGE_CHARACTERS_MAX)) {
        characters += calls[end]?.length ?? 0;
        end += 1;
      }
      const part = calls.slice(start, end);
      const results = await this.#functions.call(this.#names, `[${part.join(',')}]`);
      for (const [index, call] of part.entries()) this.#known.set(call, results[index] ?? []);
      start = end;
    }
    this.tookMs += took();
    return true;
  }

  /** For the next batch of rows. */
  clear(): void {
    this.#known.clear();
  }

  #textOf(name: string, args: readonly Value[]): string {
    let number = this.#names.indexOf(name);
    if (number < 0) number = this.#names.push(name) - 1;
    if (!args.includes(undefined)) return `[${number},${JSON.stringify(args)}]`;
    const wrapped = args.map((arg) => (arg === undefined ? [] : [arg]));
    return `[${number},${JSON.stringify(wrapped)},1]`;
  }
}

/** RAND among them. */
function changing(name: string) {
  const why = `The arguments of udf.${name} are others each time they are evaluated.`;
  return failure('invalidInput', { why });
}
