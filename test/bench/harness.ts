// What the parts share: the temporary folder, everything that must be closed at the end, and rounds
// that alternate between the subjects of a comparison.
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from './child.js';
import type { Options } from './options.js';
import { cpuMsOf } from './proc.js';

export class Bench {
  readonly options: Options;
  readonly #folder: string;
  readonly #closing: (() => Promise<void> | void)[] = [];
  readonly #shared = new Map<string, Promise<unknown>>();
  #folders = 0;
  #closed: Promise<void> | undefined;

  constructor(options: Options) {
    this.options = options;
    this.#folder = mkdtempSync(join(tmpdir(), 'mayfly-bench-'));
    // PostgreSQL may run under another account and must find its way to its own folder.
    chmodSync(this.#folder, 0o711);
    this.#closing.push(() => rmSync(this.#folder, { recursive: true, force: true }));
  }

  /** A path in the temporary folder that nobody else has. */
  newFolder(name: string, made = false): string {
    this.#folders += 1;
    const path = join(this.#folder, `${name}-${this.#folders}`);
    if (made) mkdirSync(path);
    return path;
  }

  child(file: string, account?: { readonly uid: number; readonly gid: number }): Child {
    const child = startChild(file, account);
    this.atEnd(() => child.stop());
    return child;
  }

  /** Closed in the opposite order, whatever happens; closing twice must do no harm. */
  atEnd(close: () => Promise<void> | void): void {
    this.#closing.push(close);
  }

  /** Made by the first part that wants it, and kept for the others. */
  once<T>(name: string, make: () => Promise<T>): Promise<T> {
    const made = this.#shared.get(name) ?? make();
    this.#shared.set(name, made);
    return made as Promise<T>;
  }

  close(): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  async #closeAll(): Promise<void> {
    for (const close of this.#closing.reverse()) {
      try {
        await close();
      } catch (error) {
        process.stderr.write(`while closing: ${String(error)}\n`);
      }
    }
  }
}

/** One of the servers that are compared. */
export interface Subject {
  readonly name: string;
  readonly pid: number;
  /** Everything that is not to be measured; rounds count from 0, which is a warm-up. */
  prepare(round: number): Promise<void>;
  run(): Promise<{ readonly requests: number; readonly ms: number }>;
}
export interface Sample {
  readonly cpuUs: number;
  readonly perSecond: number;
}
export type Samples = ReadonlyMap<string, readonly Sample[]>;

/** Each round asks every subject, and begins with another one than the round before. */
export async function interleave(subjects: readonly Subject[], rounds: number): Promise<Samples> {
  const samples = new Map<string, Sample[]>(subjects.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    const turn = round % subjects.length;
    for (const subject of [...subjects.slice(turn), ...subjects.slice(0, turn)]) {
      await subject.prepare(round);
      const before = cpuMsOf(subject.pid);
      const { requests, ms } = await subject.run();
      const cpuUs = ((cpuMsOf(subject.pid) - before) * 1000) / requests;
      if (round > 0) {
        samples.get(subject.name)?.push({ cpuUs, perSecond: (requests * 1000) / ms });
      }
    }
  }
  return samples;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

export function cpuUs(samples: Samples, name: string): number {
  return median((samples.get(name) ?? []).map((sample) => sample.cpuUs));
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
