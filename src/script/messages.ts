// What the server and its sandbox threads say to each other. Values of scripts travel as JSON text:
// nothing of a sandbox reaches the server but texts and numbers.

import type { EngineCode } from './engine-code.js';

/** What a sandbox may use; the engine that it runs in has a little more for itself. */
export const MEMORY_MB = 64;

export interface Limits {
  /** How long a script may run, the operations that it waits for included. */
  readonly timeMs: number;
  /** After this time, or so many operations, a script is told that no more are accepted. */
  readonly acceptMs: number;
  readonly operationsMax: number;
  /** All writes become one commit, for which everybody waits. */
  readonly writesMax: number;
  readonly stackBytes: number;
}

export type ProgramKind = 'procedure' | 'preTrigger' | 'postTrigger';

/** A stored procedure or a trigger, and what it is run with. */
export interface Program {
  readonly kind: ProgramKind;
  readonly name: string;
  readonly body: string;
  /** JSON texts; absent where there is nothing. */
  readonly args: string;
  readonly requestBody?: string | undefined;
  readonly responseBody?: string | undefined;
  /** By name in lower case. */
  readonly requestValues: Readonly<Record<string, string>>;
  /** Of the request that a trigger belongs to. */
  readonly operation?: string | undefined;
  readonly selfLink: string;
  readonly altLink: string;
  /** Milliseconds: what the script's clock shows when it starts. */
  readonly now: number;
}

/** A user-defined function. */
export interface FunctionSource {
  readonly name: string;
  readonly body: string;
}

export type Task =
  | { readonly kind: 'check'; readonly name: string; readonly body: string }
  | { readonly kind: 'program'; readonly program: Program }
  /** `calls` is a JSON array of `[index of the function, arguments]`; see functions.ts. */
  | {
      readonly kind: 'functions';
      readonly functions: readonly FunctionSource[];
      readonly calls: string;
    };

export type ToWorker =
  /** The first one to every thread. */
  | { readonly kind: 'engine'; readonly code: EngineCode }
  | { readonly kind: 'task'; readonly task: Task; readonly limits: Limits }
  | { readonly kind: 'answer'; readonly answer: Answer };

export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'operation'; readonly operation: Operation }
  | { readonly kind: 'result'; readonly result: Result };

/** Something that a script asks of its collection; it is answered under the same number. */
export interface Operation {
  readonly number: number;
  readonly name: string;
  /** JSON of an object. */
  readonly input: string;
}
export interface Answer {
  readonly number: number;
  readonly error?: { readonly number: number; readonly message: string } | undefined;
  /** JSON texts. */
  readonly value?: string | undefined;
  readonly options?: string | undefined;
}

export type Result =
  | {
      readonly kind: 'done';
      readonly outcome: Outcome;
      readonly log: string;
      /** How long the script itself ran, without what it waited for. */
      readonly computedMs: number;
    }
  | { readonly kind: 'values'; readonly values: string }
  /** Where nothing but an error was thrown, the thread can be used again. */
  | {
      readonly kind: 'failed';
      readonly failed: Failed;
      readonly log: string;
      readonly isSpent: boolean;
    };

/** What a script leaves behind when it ends well. Bodies are JSON texts. */
export interface Outcome {
  readonly requestBody?: string | undefined;
  readonly requestValues: Readonly<Record<string, string>>;
  readonly responseBody?: string | undefined;
  readonly responseValues: Readonly<Record<string, string>>;
}

export type Failed =
  | {
      readonly kind: 'thrown';
      /** `Error: text`, as a script would print it. */
      readonly text: string;
      readonly stack: string;
      readonly number: number | undefined;
    }
  | { readonly kind: 'time' | 'memory' | 'depth' };
