// One sandbox: a JavaScript engine of its own in WebAssembly, with its own memory, stack and
// clockwork, made for one script and thrown away behind it. It runs in a thread of its own too,
// because not everything in the engine can be interrupted.
import variant from '@jitl/quickjs-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core';
import { stopwatch } from '../time/clock.js';
import type { EngineCode } from './engine-code.js';
import { type Failed, type Limits, MEMORY_MB } from './messages.js';
import { ownFrames, RUNTIME_FILE } from './prelude.js';

/** The libraries that we compile with do not have it. */
declare const WebAssembly: {
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => object;
};

const ENGINE_MB = 16;
const PAGES_PER_MB = 16;

/**
 * The engine's own limit looks at single allocations and cannot add them up, for WebAssembly does
 * not tell their sizes. So the memory that all of it is in cannot grow beyond the limit.
 */
export function loadEngine(code: EngineCode): Promise<QuickJSWASMModule> {
  const wasmMemory = new WebAssembly.Memory({
    initial: ENGINE_MB * PAGES_PER_MB,
    maximum: (ENGINE_MB + MEMORY_MB) * PAGES_PER_MB,
  });
  // The types are those of the CommonJS form, where the default is a member; here it is not.
  const plain = variant as unknown as QuickJSSyncVariant;
  return newQuickJSWASMModuleFromVariant(newVariant(plain, { wasmMemory, wasmModule: code }));
}

/** A script that ended badly, in words for people. */
export class ScriptFailed extends Error {
  readonly failed: Failed;

  constructor(failed: Failed) {
    super(failed.kind);
    this.failed = failed;
  }
}

export class Sandbox {
  readonly context: QuickJSContext;
  readonly #runtime: QuickJSRuntime;
  readonly #timeMs: number;
  #took = stopwatch();
  #isLate = false;
  /** How far the first line of the script is moved, by the parenthesis that makes it a value. */
  #shift = 1;

  constructor(engine: QuickJSWASMModule, limits: Limits) {
    this.#timeMs = limits.timeMs;
    this.#runtime = engine.newRuntime();
    this.#runtime.setMemoryLimit(MEMORY_MB * 1024 * 1024);
    this.#runtime.setMaxStackSize(limits.stackBytes);
    this.#runtime.setInterruptHandler(() => {
      this.#isLate ||= this.#took() > this.#timeMs;
      return this.#isLate;
    });
    this.context = this.#runtime.newContext();
  }

  /** Milliseconds since the script began. */
  elapsed(): number {
    return this.#took();
  }

  /** For a sandbox that is used again: its time begins anew. */
  restart(): void {
    this.#took = stopwatch();
  }

  /** The value of our own text. */
  evaluate(text: string): QuickJSHandle {
    return this.#settle(this.context.evalCode(text, RUNTIME_FILE));
  }

  /**
   * The one function that a body is: an expression, or a declaration with whatever stands behind
   * it.
   */
  compile(name: string, body: string): QuickJSHandle {
    const file = fileOf(name);
    const asExpression = this.context.evalCode(`(${body.replace(/[\s;]+$/, '')}\n)`, file);
    const declared = DECLARED.exec(body)?.[1];
    let made: QuickJSHandle;
    if (asExpression.error && declared !== undefined) {
      asExpression.error.dispose();
      this.#shift = 0;
      this.#settle(this.context.evalCode(body, file)).dispose();
      made = this.#settle(this.context.evalCode(declared, file));
    } else made = this.#settle(asExpression);
    if (this.context.typeof(made) === 'function') return made;
    made.dispose();
    const text = 'SyntaxError: The body of a script must be one function.';
    throw new ScriptFailed({ kind: 'thrown', text, stack: '', number: undefined });
  }

  call(fn: QuickJSHandle, ...args: readonly QuickJSHandle[]): QuickJSHandle {
    return this.#settle(this.context.callFunction(fn, this.context.undefined, ...args));
  }

  callMethod(object: QuickJSHandle, name: string, ...args: readonly QuickJSHandle[]) {
    const method = this.context.getProp(object, name);
    try {
      return this.call(method, ...args);
    } finally {
      method.dispose();
    }
  }

  /** What promises of the script have left to do. */
  runJobs(): void {
    const done = this.#runtime.executePendingJobs();
    if (done.error) this.#fail(done.error);
    // Promises keep to themselves what is thrown in them, an interruption too.
    if (this.#isLate) throw new ScriptFailed({ kind: 'time' });
  }

  dispose(): void {
    this.context.dispose();
    this.#runtime.dispose();
  }

  #settle(result: ReturnType<QuickJSContext['evalCode']>): QuickJSHandle {
    if (!result.error) return result.value;
    return this.#fail(result.error);
  }

  #fail(error: QuickJSHandle): never {
    const failed = describe(this.context, error, this.#shift);
    error.dispose();
    // What was thrown may run on when it is looked at, so the time is asked for behind it.
    throw new ScriptFailed(this.#isLate ? { kind: 'time' } : failed);
  }
}

/** The name of the function that a body declares, behind comments. */
const DECLARED =
  /^(?:\s|\/\/[^\n]*\n|\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/)*(?:async\s+)?function\s*\*?\s*([\p{L}_$][\p{L}\p{N}_$]*)/u;

const fileOf = (name: string): string => `${name.replace(/[^\p{L}\p{N}_.-]/gu, '_')}.js`;

const TEXT_CHARACTERS_MAX = 2000;

/** Only strings and numbers are taken from what was thrown. */
function describe(context: QuickJSContext, error: QuickJSHandle, shift: number): Failed {
  const thrown = context.typeof(error);
  if (thrown !== 'object' && thrown !== 'function') {
    return { kind: 'thrown', text: textOf(context, error), stack: '', number: undefined };
  }
  const name = property(context, error, 'name');
  const message = property(context, error, 'message') ?? property(context, error, 'body') ?? '';
  if (message === 'out of memory') return { kind: 'memory' };
  // `null` is thrown where there is not even room for an error.
  if (name === undefined && context.dump(error) === null) return { kind: 'memory' };
  const number = context.getProp(error, 'number');
  const isNumbered = context.typeof(number) === 'number';
  const failed = {
    kind: 'thrown',
    text: `${name ?? 'Error'}: ${message}`.slice(0, TEXT_CHARACTERS_MAX),
    stack: ownFrames(property(context, error, 'stack') ?? '', shift),
    number: isNumbered ? context.getNumber(number) : undefined,
  } as const;
  number.dispose();
  return failed;
}

function property(context: QuickJSContext, of: QuickJSHandle, name: string): string | undefined {
  const value = context.getProp(of, name);
  try {
    return context.typeof(value) === 'string' ? context.getString(value) : undefined;
  } finally {
    value.dispose();
  }
}

function textOf(context: QuickJSContext, value: QuickJSHandle): string {
  if (context.typeof(value) === 'symbol') return 'a symbol';
  return context.getString(value).slice(0, TEXT_CHARACTERS_MAX);
}
