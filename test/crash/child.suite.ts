// The command line's own server as a child process: started on a data folder, and killed without a
// warning.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from '../simulation/client.suite.js';

const COMMAND = fileURLToPath(new URL('../../src/cli/mayfly.js', import.meta.url));
const READY_MS = 30_000;

const folders: string[] = [];
const running = new Set<ChildProcess>();
after(() => {
  for (const child of running) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-crash-'));
  folders.push(folder);
  return folder;
}

/** Starts a server and does not wait for it. */
export function launch(folder: string): ChildProcess {
  const options = ['--port', '0', '--data', folder, '--clock', 'virtual'];
  const child = spawn(process.execPath, [COMMAND, 'start', ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

export async function kill(child: ChildProcess): Promise<void> {
  const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : [];
  child.kill('SIGKILL');
  await gone;
}

export interface Server {
  readonly client: Client;
  /** Where drivers of MongoDB connect to. */
  readonly mongo: string;
  /** Sends the signal at once; resolves when the process is gone. */
  kill(): Promise<void>;
}

export async function startServer(folder: string): Promise<Server> {
  const child = launch(folder);
  const { cosmos, mongo } = await readyLineOf(child);
  const client = new Client(Number(new URL(cosmos).port));
  return {
    client,
    mongo,
    kill: async () => {
      await kill(child);
      client.close();
    },
  };
}

/** What a server says when it refuses to start. */
export async function refusalOf(folder: string): Promise<string> {
  const child = launch(folder);
  let text = '';
  child.stderr?.on('data', (part) => {
    text += part;
  });
  const [code] = await once(child, 'close');
  assert.notEqual(code, 0, 'the server should not have started');
  return text;
}

/** A server that is not at a terminal tells each event in a line of JSON. */
function readyLineOf(child: ChildProcess): Promise<{ cosmos: string; mongo: string }> {
  return new Promise((resolve, reject) => {
    let output = '';
    let errors = '';
    const give = setTimeout(() => reject(new Error('the server does not start')), READY_MS);
    const settle = (work: () => void) => {
      clearTimeout(give);
      work();
    };
    child.stderr?.on('data', (part) => {
      errors += part;
    });
    child.stdout?.on('data', (part) => {
      output += part;
      const ready = output.split('\n').find((line) => line.includes('"event":"ready"'));
      if (ready?.endsWith('}')) settle(() => resolve(JSON.parse(ready)));
    });
    child.once('close', () => {
      settle(() => reject(new Error(`the server ended: ${errors}${output}`)));
    });
  });
}
