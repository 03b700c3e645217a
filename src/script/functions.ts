// User-defined functions in a sandbox that is kept for the next rows: nothing in it can be changed,
// so no call can leave anything behind for another.
//
//   calls    [[function, [argument, …]], …]     or [function, [[argument], [], …], 1] where some
//                                               argument is undefined, which JSON does not have
//   results  [[value] | [] | [0, text, stack], …]     undefined is [], a failure has three
import type { QuickJSHandle, QuickJSWASMModule } from 'quickjs-emscripten-core';
import type { FunctionSource, Limits } from './messages.js';
import { Sandbox } from './sandbox.js';

export class FunctionSandbox {
  readonly #sandbox: Sandbox;
  readonly #run: QuickJSHandle;

  constructor(engine: QuickJSWASMModule, functions: readonly FunctionSource[], limits: Limits) {
    this.#sandbox = new Sandbox(engine, limits);
    const { context } = this.#sandbox;
    this.#sandbox.evaluate(`(${harden})(globalThis)`).dispose();
    const list = context.newArray();
    functions.forEach(({ name, body }, index) => {
      const made = this.#sandbox.compile(name, body);
      context.setProp(list, index, made);
      made.dispose();
    });
    const driver = this.#sandbox.evaluate(`(${driverFor})`);
    this.#run = this.#sandbox.call(driver, list);
    driver.dispose();
    list.dispose();
  }

  run(calls: string): string {
    const { context } = this.#sandbox;
    this.#sandbox.restart();
    const text = context.newString(calls);
    try {
      const results = this.#sandbox.call(this.#run, text);
      const answer = context.getString(results);
      results.dispose();
      return answer;
    } finally {
      text.dispose();
    }
  }

  dispose(): void {
    this.#run.dispose();
    this.#sandbox.dispose();
  }
}

/** Sandboxes by the functions in them, the one used last at the end. */
export class FunctionSandboxes {
  readonly #engine: QuickJSWASMModule;
  readonly #kept = new Map<string, FunctionSandbox>();

  constructor(engine: QuickJSWASMModule) {
    this.#engine = engine;
  }

  run(functions: readonly FunctionSource[], calls: string, limits: Limits): string {
    const key = JSON.stringify(functions);
    const sandbox = this.#kept.get(key) ?? new FunctionSandbox(this.#engine, functions, limits);
    this.#kept.delete(key);
    this.#kept.set(key, sandbox);
    if (this.#kept.size > SANDBOXES_MAX) {
      const [oldest] = this.#kept;
      this.#kept.delete(oldest?.[0] ?? '');
      oldest?.[1].dispose();
    }
    return sandbox.run(calls);
  }
}

const SANDBOXES_MAX = 4;

/** Runs inside: freezes everything that can be reached from the global object. */
function harden(global: object): void {
  const seen = new Set<object>();
  const waiting: unknown[] = [global];
  for (let next = waiting.pop(); waiting.length > 0 || next !== undefined; next = waiting.pop()) {
    const isObject = typeof next === 'object' || typeof next === 'function';
    if (!isObject || next === null || seen.has(next as object)) continue;
    const object = next as object;
    seen.add(object);
    Object.freeze(object);
    waiting.push(Object.getPrototypeOf(object));
    for (const key of Reflect.ownKeys(object)) {
      const property = Object.getOwnPropertyDescriptor(object, key);
      waiting.push(property?.value, property?.get, property?.set);
    }
  }
}

/** Runs inside: a failure of one call is a result too, for a row that may never be looked at. */
function driverFor(functions: readonly ((...args: unknown[]) => unknown)[]) {
  for (const each of functions) Object.freeze(each);
  return (text: string): string => {
    const results: string[] = [];
    const charactersMax = 8_000_000;
    let characters = 0;
    for (const [index, args, isWrapped] of JSON.parse(text)) {
      try {
        const plain = isWrapped ? args.map((each: unknown[]) => each[0]) : args;
        const value = functions[index]?.(...plain);
        const isNothing =
          value === undefined ||
          typeof value === 'function' ||
          typeof value === 'symbol' ||
          (typeof value === 'number' && !Number.isFinite(value));
        const result = isNothing ? '[]' : JSON.stringify([value]);
        characters += result.length;
        if (characters > charactersMax) throw new Error('The results are too large.');
        results.push(result);
      } catch (error) {
        const thrown = error as Error | undefined;
        const isError = typeof thrown?.message === 'string';
        const name = isError ? String(error) : `Error: ${String(error)}`;
        results.push(JSON.stringify([0, name, isError ? String(thrown.stack) : '']));
      }
    }
    return `[${results.join(',')}]`;
  };
}
