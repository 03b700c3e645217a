// The bench's own child processes: started from a file beside this one, asked by named calls over
// Node's process channel, and gone as soon as the parent is.
import { type ChildProcess, fork } from 'node:child_process';
import type { AddressInfo, Server } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HOST } from './wire.js';

export interface Child {
  readonly pid: number;
  call<T>(name: string, argument: unknown, msMax?: number): Promise<T>;
  stop(): Promise<void>;
}

const CALL_MS_MAX = 120_000;
const STOP_MS_MAX = 20_000;

interface Question {
  readonly number: number;
  readonly name: string;
  readonly argument: unknown;
}
interface Answer {
  readonly number: number;
  readonly result?: unknown;
  readonly error?: string;
}

export function startChild(
  file: string,
  account: { readonly uid?: number; readonly gid?: number } = {},
): Child {
  const path = join(dirname(fileURLToPath(import.meta.url)), file);
  const child = fork(path, [], { ...account, execArgv: [], stdio: ['ignore', 2, 2, 'ipc'] });
  const waiting = new Map<number, (answer: Answer) => void>();
  let asked = 0;
  child.on('message', (answer: Answer) => waiting.get(answer.number)?.(answer));
  const gone = ended(child).then((how) => {
    for (const [number, answer] of waiting) answer({ number, error: `${file} ended ${how}` });
  });
  const call = async <T>(name: string, argument: unknown, msMax = CALL_MS_MAX): Promise<T> => {
    asked += 1;
    const number = asked;
    const answered = new Promise<Answer>((resolve) => waiting.set(number, resolve));
    child.send({ number, name, argument } satisfies Question);
    const answer = await within(msMax, answered, `${file}: ${name}`);
    waiting.delete(number);
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer.result as T;
  };
  const stop = async () => {
    if (child.connected) child.disconnect();
    await orKill(child, gone, STOP_MS_MAX);
  };
  return { pid: child.pid ?? 0, call, stop };
}

/** The other side: what a child can be asked, and what it does when its parent is gone. */
export function answerCalls(
  handlers: Readonly<Record<string, (argument: never) => unknown>>,
  leave: () => Promise<void> | void = () => undefined,
): void {
  process.on('message', ({ number, name, argument }: Question) => {
    const work = async () => handlers[name]?.(argument as never);
    work().then(
      (result) => process.send?.({ number, result } satisfies Answer),
      (error: unknown) => {
        const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
        process.send?.({ number, error: text } satisfies Answer);
      },
    );
  });
  const end = () => process.exit();
  process.once('disconnect', () => void Promise.resolve(leave()).then(end, end));
  // Ctrl-C reaches the whole group; the parent then disconnects everybody in order.
  process.on('SIGINT', () => undefined);
}

/** On a free port of the loopback address. */
export function listenAnywhere(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, HOST, () => resolve((server.address() as AddressInfo).port));
  });
}

export function ended(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(`with ${signal ?? `status ${code}`}`));
    child.once('error', (error) => resolve(`with ${error.message}`));
  });
}

/** Waits for a process that was told to end, and insists when it does not. */
export async function orKill(
  child: ChildProcess,
  gone: Promise<unknown>,
  msMax: number,
): Promise<void> {
  const timer = setTimeout(() => child.kill('SIGKILL'), msMax);
  await gone;
  clearTimeout(timer);
}

export async function within<T>(msMax: number, work: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const tell = () => reject(new Error(`${what} took longer than ${msMax / 1000} s`));
    timer = setTimeout(tell, msMax);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
