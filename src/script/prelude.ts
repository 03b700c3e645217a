// What scripts find in their sandbox. These functions never run here: their texts are put together
// and evaluated inside the sandbox, so they may use nothing from outside.
import { chainFor, chainRunner, chainSteps } from './prelude-chain.js';
import { collectionFor } from './prelude-collection.js';
import { clockFrom, errorsWithNumbers, refusal } from './prelude-globals.js';
import { requestFor, responseFor } from './prelude-messages.js';

/** The hands of the sandbox, as plain functions over texts. */
export interface Hands {
  /** The number of the operation; 0 when no more are accepted, -1 when it is too large. */
  ask(name: string, input: string): number;
  log(text: string): void;
}
/** What a program starts with; all that the sandbox is told. */
export interface Setting {
  readonly kind: string;
  readonly args: string;
  readonly requestBody?: string;
  readonly responseBody?: string;
  readonly requestValues: Record<string, string>;
  readonly operation?: string;
  readonly selfLink: string;
  readonly altLink: string;
  readonly now: number;
}
export type Callback = (error: unknown, value?: unknown, options?: unknown) => void;
/** Sends an operation off; answers whether it was accepted. */
export type Submit = (name: string, input: unknown, callback: Callback | undefined) => boolean;

/** The file name that marks our own frames in stack traces. */
export const RUNTIME_FILE = 'mayfly-runtime.js';

const FRAMES_MAX = 20;
/** What our own constructor of errors leaves in a stack. */
const CONSTRUCTION = 'at construct (native)';

/** The frames of the script itself, where its author counts them. */
export function ownFrames(stack: string, shift = 1): string {
  return stack
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.includes(RUNTIME_FILE))
    .filter((line) => line.trim() !== CONSTRUCTION)
    .slice(0, FRAMES_MAX)
    .map((line) => line.replace(/(?<=:1:)\d+(?=\)?$)/, (column) => String(Number(column) - shift)))
    .join('\n');
}

/** An expression whose value takes hands and setting, and answers what drives the script. */
export function preludeText(): string {
  const parts = [
    refusal,
    errorsWithNumbers,
    clockFrom,
    consoleFor,
    collectionFor,
    chainSteps,
    chainRunner,
    chainFor,
    requestFor,
    responseFor,
    runtimeFor,
  ];
  return `(() => {${parts.map(String).join('\n')}\nreturn runtimeFor;})()`;
}

export function consoleFor(hands: Hands): Record<string, (...items: unknown[]) => void> {
  const textOf = (item: unknown): string => {
    if (typeof item === 'string') return item;
    if (item instanceof Error) return String(item);
    const text = typeof item === 'object' ? JSON.stringify(item) : undefined;
    return text === undefined ? String(item) : text;
  };
  const log = (...items: unknown[]) => hands.log(items.map(textOf).join(' '));
  return { log, info: log, warn: log, error: log, debug: log };
}

/** What the sandbox drives a program by. */
export interface Runtime {
  start(main: (...args: unknown[]) => unknown): void;
  answer(text: string): void;
  outcome(): string;
}

export function runtimeFor(global: Record<string, unknown>, hands: Hands, text: string): Runtime {
  const setting: Setting = JSON.parse(text);
  const waiting = new Map<number, Callback | undefined>();
  let rejected: { readonly reason: unknown } | undefined;
  const submit: Submit = (name, input, callback) => {
    const number = hands.ask(name, JSON.stringify(input));
    if (number < 0) throw refusal(413, 'The request of the script is too large.');
    if (number > 0) waiting.set(number, callback);
    return number > 0;
  };
  errorsWithNumbers(global);
  clockFrom(global, setting.now);
  const request = requestFor(setting);
  const response = responseFor(setting);
  const collection: Record<string, unknown> = collectionFor(setting, submit);
  Object.assign(collection, chainFor(collection as never));
  const context = {
    getCollection: () => collection,
    getRequest: () => request.face,
    getResponse: () => {
      if (setting.kind === 'preTrigger') throw refusal(400, 'A pre-trigger has no response.');
      return response.face;
    },
    abort: (error: unknown) => {
      throw error;
    },
  };
  Object.defineProperty(collection, 'request', { get: context.getRequest });
  Object.defineProperty(collection, 'response', { get: context.getResponse });
  global.console = consoleFor(hands);
  global.getContext = () => context;
  global.__ = collection;
  const checkRejected = () => {
    if (rejected) throw rejected.reason;
  };
  return {
    start: (main) => {
      const result = main(...JSON.parse(setting.args)) as PromiseLike<unknown> | undefined;
      if (typeof result?.then !== 'function') return;
      result.then(undefined, (reason) => {
        rejected ??= { reason };
      });
    },
    answer: (json) => {
      const { number, error, value, options } = JSON.parse(json);
      const callback = waiting.get(number);
      waiting.delete(number);
      if (!error) callback?.(undefined, value, options ?? {});
      else {
        const refused = refusal(error.number, error.message);
        refused.body = error.message;
        // Nobody listens, so the script must not go on as if nothing had happened.
        if (!callback) throw refused;
        callback(refused, undefined, {});
      }
    },
    outcome: () => {
      checkRejected();
      return JSON.stringify({ ...request.outcome(), ...response.outcome() });
    },
  };
}
