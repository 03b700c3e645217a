// The server as a process of its own, as people run it: its log is read, and it can be asked how
// much memory it takes and whether Object.prototype is still what it was.
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface Inside {
  readonly rssBytes: number;
  readonly pid: number;
  /** Names that were not there at the start. */
  readonly pollution: readonly string[];
}

const COMMAND = fileURLToPath(new URL('../../src/cli/mayfly.js', import.meta.url));
const START_MS = 20_000;

/** Runs before the server and answers questions of its parent. */
const WITNESS = `
  const own = () => [Object, Array, String, Number, Function].flatMap((type) =>
    Reflect.ownKeys(type.prototype).map((name) => type.name + '.' + String(name)));
  const before = new Set(own());
  process.on('message', () => {
    globalThis.gc?.();
    process.send({
      pid: process.pid,
      rssBytes: process.memoryUsage().rss,
      pollution: own().filter((name) => !before.has(name)),
    });
  });
  process.channel.unref();`;

export class ServerProcess {
  /** Lines of the log that tell of an error, and whatever is no log at all. */
  readonly complaints: string[] = [];
  readonly #child: ChildProcess;
  readonly #data = mkdtempSync(join(tmpdir(), 'mayfly-bad-input-'));
  readonly #ready: Promise<number>;

  constructor(args: readonly string[] = []) {
    const all = ['start', '--port', '0', '--data', this.#data, '--clock', 'virtual', ...args];
    const environment = Object.entries(process.env).filter(
      ([name]) => !name.startsWith('MAYFLY_') && !name.startsWith('NODE_'),
    );
    this.#child = fork(COMMAND, all, {
      silent: true,
      env: Object.fromEntries(environment),
      execArgv: ['--expose-gc', '--import', `data:text/javascript,${encodeURIComponent(WITNESS)}`],
    });
    this.#ready = this.#listenToLog();
  }

  get port(): Promise<number> {
    return this.#ready;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  async inside(): Promise<Inside> {
    const answered = once(this.#child, 'message') as Promise<[Inside]>;
    this.#child.send('report');
    const [inside] = await answered;
    return inside;
  }

  /** Stops it as Ctrl-C does; answers how it ended. */
  async stop(): Promise<number | null> {
    if (this.isRunning) {
      const exited = once(this.#child, 'exit');
      this.#child.kill('SIGTERM');
      await exited;
    }
    rmSync(this.#data, { recursive: true, force: true });
    return this.#child.exitCode;
  }

  #listenToLog(): Promise<number> {
    const { stdout, stderr } = this.#child;
    assert.ok(stdout !== null && stderr !== null);
    stderr.on('data', (text) => this.complaints.push(String(text)));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the server does not start')), START_MS);
      this.#child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
      createInterface(stdout).on('line', (line) => {
        const port = this.#readLine(line);
        if (port === undefined) return;
        clearTimeout(timer);
        resolve(port);
      });
    });
  }

  #readLine(line: string): number | undefined {
    try {
      const { level, event, cosmos } = JSON.parse(line) as Record<string, string>;
      if (level === 'error' || event === 'defect') this.complaints.push(line);
      return event === 'ready' ? Number(new URL(cosmos ?? '').port) : undefined;
    } catch {
      this.complaints.push(line);
      return undefined;
    }
  }
}
