// A thread that runs scripts, one at a time. What it cannot stop itself, the server ends with the
// whole thread.
import { once } from 'node:events';
import { type MessagePort, parentPort } from 'node:worker_threads';
import type { EngineCode } from './engine-code.js';
import { FunctionSandboxes } from './functions.js';
import type { Failed, FromWorker, Limits, Outcome, Result, Task, ToWorker } from './messages.js';
import { ProgramRun } from './program-run.js';
import { loadEngine, Sandbox, ScriptFailed } from './sandbox.js';

const port = parentPort;
if (!port) throw new Error('this file is for worker threads');
const engine = await loadEngine(await codeFrom(port));
const functions = new FunctionSandboxes(engine);
let running: ProgramRun | undefined;
const WARM_UP_LIMITS: Limits = {
  timeMs: 10_000,
  acceptMs: 0,
  operationsMax: 0,
  writesMax: 0,
  stackBytes: 256 * 1024,
};

port.on('message', (message: ToWorker) => {
  if (message.kind === 'task') begin(message.task, message.limits);
  else if (message.kind === 'answer') {
    const { answer } = message;
    advance((run) => run.answer(answer));
  }
});

warmUp();
say({ kind: 'ready' });

async function codeFrom(server: MessagePort): Promise<EngineCode> {
  const [message] = (await once(server, 'message')) as [ToWorker];
  if (message.kind !== 'engine') throw new Error('a thread gets its engine first');
  return message.code;
}

/** The first script of an engine takes long, so that one is ours. */
function warmUp(): void {
  const links = { selfLink: '', altLink: '' };
  const setting = { kind: 'procedure', args: '[]', requestValues: {}, now: 0 } as const;
  const program = { name: 'warm-up', body: 'function () {}', ...setting, ...links };
  const run = new ProgramRun(engine, program, WARM_UP_LIMITS, () => undefined);
  run.start();
  run.dispose();
}

function begin(task: Task, limits: Limits): void {
  if (task.kind === 'program') {
    attempt(() => {
      running = new ProgramRun(engine, task.program, limits, (operation) =>
        say({ kind: 'operation', operation }),
      );
    }) && advance((run) => run.start());
    return;
  }
  attempt(() => {
    const values =
      task.kind === 'check'
        ? check(task.name, task.body, limits)
        : functions.run(task.functions, task.calls, limits);
    finish({ kind: 'values', values });
  });
}

function check(name: string, body: string, limits: Limits): string {
  const sandbox = new Sandbox(engine, limits);
  try {
    sandbox.compile(name, body).dispose();
  } finally {
    sandbox.dispose();
  }
  return '[]';
}

function advance(step: (run: ProgramRun) => Outcome | undefined): void {
  const run = running;
  // Answers may still come in behind a script that has failed.
  if (!run) return;
  attempt(() => {
    const outcome = step(run);
    if (!outcome) return;
    const { log, computedMs } = run;
    running = undefined;
    run.dispose();
    finish({ kind: 'done', outcome, log, computedMs });
  });
}

/** Only a script that threw leaves a sandbox that can be tidied up. */
function attempt(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    const log = running?.log ?? '';
    const failed = failedBy(error);
    const isSpent = failed.kind !== 'thrown' || !tidied();
    running = undefined;
    finish({ kind: 'failed', failed, log, isSpent });
    return false;
  }
}

function tidied(): boolean {
  try {
    running?.dispose();
    return true;
  } catch {
    return false;
  }
}

/** Where the engine itself breaks down, it has run out of stack. */
function failedBy(error: unknown): Failed {
  return error instanceof ScriptFailed ? error.failed : { kind: 'depth' };
}

function finish(result: Result): void {
  say({ kind: 'result', result });
}

function say(message: FromWorker): void {
  port?.postMessage(message);
}
