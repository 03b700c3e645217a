// A stored procedure or a trigger while it runs: slices of script, and in between the operations it
// has asked for. It is over when nothing is waited for.
import type { QuickJSHandle, QuickJSWASMModule } from 'quickjs-emscripten-core';
import { stopwatch } from '../time/clock.js';
import type { Answer, Limits, Operation, Outcome, Program } from './messages.js';
import { preludeText } from './prelude.js';
import { Sandbox, ScriptFailed } from './sandbox.js';

/** How many operations the server has at the same time. */
const WINDOW = 16;
/** No document is larger, and what is asked together is staged together. */
const INPUT_CHARACTERS_MAX = 4 * 1024 * 1024;
const WAITING_CHARACTERS_MAX = 16 * 1024 * 1024;
/** Request and response together. */
const OUTCOME_CHARACTERS_MAX = 8 * 1024 * 1024;
/** The answer to an operation that is refused at once. */
const TOO_LARGE = -1;

/** What is printed is a header in the end, so there is not much of it. */
const LOG_CHARACTERS_MAX = 8000;

export class ProgramRun {
  readonly #sandbox: Sandbox;
  readonly #limits: Limits;
  readonly #runtime: QuickJSHandle;
  readonly #main: QuickJSHandle;
  readonly #send: (operation: Operation) => void;
  #asked = 0;
  #written = 0;
  /** Operations without an answer, in their order; the first of them are with the server. */
  readonly #waiting: Operation[] = [];
  #sent = 0;
  #characters = 0;
  #log = '';
  #computedMs = 0;

  constructor(
    engine: QuickJSWASMModule,
    program: Program,
    limits: Limits,
    send: (operation: Operation) => void,
  ) {
    this.#sandbox = new Sandbox(engine, limits);
    this.#limits = limits;
    this.#send = send;
    this.#runtime = this.#install(program);
    try {
      this.#main = this.#sandbox.compile(program.name, program.body);
    } catch (error) {
      this.#runtime.dispose();
      this.#sandbox.dispose();
      throw error;
    }
  }

  get log(): string {
    return this.#log;
  }

  get computedMs(): number {
    return this.#computedMs;
  }

  /** The outcome, once there is nothing to wait for. */
  start(): Outcome | undefined {
    // To get ready took the server's time, not the script's.
    this.#sandbox.restart();
    return this.#slice(() => {
      this.#sandbox.callMethod(this.#runtime, 'start', this.#main).dispose();
    });
  }

  answer({ number, error, value = 'null', options = '{}' }: Answer): Outcome | undefined {
    const { context } = this.#sandbox;
    const told = error === undefined ? `"value":${value}` : `"error":${JSON.stringify(error)}`;
    const text = context.newString(`{"number":${number},${told},"options":${options}}`);
    this.#characters -= this.#waiting.shift()?.input.length ?? 0;
    this.#sent -= 1;
    this.#sendMore();
    try {
      return this.#slice(() => {
        this.#sandbox.callMethod(this.#runtime, 'answer', text).dispose();
      });
    } finally {
      text.dispose();
    }
  }

  dispose(): void {
    this.#main.dispose();
    this.#runtime.dispose();
    this.#sandbox.dispose();
  }

  #slice(work: () => void): Outcome | undefined {
    const took = stopwatch();
    work();
    this.#sandbox.runJobs();
    this.#computedMs += took();
    if (this.#waiting.length > 0) return undefined;
    const outcome = this.#sandbox.callMethod(this.#runtime, 'outcome');
    const text = this.#sandbox.context.getString(outcome);
    outcome.dispose();
    if (text.length > OUTCOME_CHARACTERS_MAX) throw tooLarge();
    return JSON.parse(text) as Outcome;
  }

  #install({ name: _, body: __, ...setting }: Program): QuickJSHandle {
    const { context } = this.#sandbox;
    const ask = context.newFunction('ask', (name, input) => {
      const operation = { name: context.getString(name), input: context.getString(input) };
      return context.newNumber(this.#ask(operation));
    });
    const log = context.newFunction('log', (text) => this.#print(context.getString(text)));
    const hands = context.newObject();
    context.setProp(hands, 'ask', ask);
    context.setProp(hands, 'log', log);
    const text = context.newString(JSON.stringify(setting));
    const make = this.#sandbox.evaluate(preludeText());
    try {
      return this.#sandbox.call(make, context.global, hands, text);
    } finally {
      for (const handle of [ask, log, hands, text, make]) handle.dispose();
    }
  }

  #ask(operation: Omit<Operation, 'number'>): number {
    const { acceptMs, operationsMax, writesMax } = this.#limits;
    const isWrite = operation.name !== 'read' && operation.name !== 'query';
    if (this.#asked >= operationsMax || this.#sandbox.elapsed() > acceptMs) return 0;
    if (isWrite && this.#written >= writesMax) return 0;
    const characters = operation.input.length;
    if (characters > INPUT_CHARACTERS_MAX) return TOO_LARGE;
    if (this.#characters + characters > WAITING_CHARACTERS_MAX) return 0;
    this.#characters += characters;
    if (isWrite) this.#written += 1;
    this.#asked += 1;
    this.#waiting.push({ number: this.#asked, ...operation });
    this.#sendMore();
    return this.#asked;
  }

  /** The server has only a few of them at hand, however many a script asks for in one breath. */
  #sendMore(): void {
    while (this.#sent < Math.min(WINDOW, this.#waiting.length)) {
      const next = this.#waiting[this.#sent];
      this.#sent += 1;
      if (next) this.#send(next);
    }
  }

  #print(text: string): void {
    if (this.#log.length >= LOG_CHARACTERS_MAX) return;
    const all = this.#log === '' ? text : `${this.#log}\n${text}`;
    this.#log = all.length > LOG_CHARACTERS_MAX ? `${all.slice(0, LOG_CHARACTERS_MAX)}…` : all;
  }
}

function tooLarge(): ScriptFailed {
  const text = 'Error: What the script leaves in request and response is too large.';
  return new ScriptFailed({ kind: 'thrown', text, stack: '', number: 413 });
}
