// The real shell, `mongosh`: installed beside this file when it is first needed, started as a
// person starts it, and given one line after the other.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The packages stand beside the sources, not beside the compiled files. */
const folder = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'test', 'mongosh');
const PROGRESS_MS = 5000;
const ANSWER_MS_MAX = 60_000;
/** What the shell prints when it is ready for the next line. */
const READY = '\u0001';

export class Shell {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #home: string;
  #printed = '';
  #wake: () => void = () => {};

  private constructor(process: ChildProcessWithoutNullStreams, home: string) {
    this.#process = process;
    this.#home = home;
    const print = (text: string) => {
      this.#printed += text;
      this.#wake();
    };
    process.stdout.setEncoding('utf8').on('data', print);
    process.stderr.setEncoding('utf8').on('data', print);
    process.on('close', () => this.#wake());
  }

  static async open(...args: string[]): Promise<Shell> {
    const home = mkdtempSync(join(tmpdir(), 'mayfly-mongosh-'));
    const settings = join(home, '.mongodb', 'mongosh');
    mkdirSync(settings, { recursive: true });
    writeFileSync(join(settings, 'config'), JSON.stringify(SETTINGS));
    const script = join(folder, 'node_modules', 'mongosh', 'bin', 'mongosh.js');
    const child = spawn(process.execPath, [script, '--quiet', '--norc', ...args], {
      env: { ...process.env, HOME: home, USERPROFILE: home, LOCALAPPDATA: home, APPDATA: home },
    });
    const shell = new Shell(child, home);
    child.stdin.write(`prompt = ${JSON.stringify(READY)}\n`);
    await shell.#answer();
    return shell;
  }

  /** What the shell prints for a line, with all white space made single spaces. */
  async type(line: string): Promise<string> {
    this.#process.stdin.write(`${line}\n`);
    return (await this.#answer()).replace(/\s+/g, ' ').trim();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#process.once('close', resolve));
    if (this.#process.exitCode === null) {
      this.#process.stdin.end('exit\n');
      await closed;
    }
    rmSync(this.#home, { recursive: true, force: true });
  }

  async #answer(): Promise<string> {
    const late = setTimeout(() => this.#process.kill(), ANSWER_MS_MAX);
    while (!this.#printed.includes(READY)) {
      if (this.#process.exitCode !== null || this.#process.signalCode !== null)
        throw new Error(`mongosh ended after printing: ${this.#printed}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    clearTimeout(late);
    const end = this.#printed.indexOf(READY);
    const answer = this.#printed.slice(0, end);
    this.#printed = this.#printed.slice(end + READY.length);
    return answer;
  }
}

/** It tells nobody that it was started, and asks nobody for a newer version. */
const SETTINGS = {
  enableTelemetry: false,
  forceDisableTelemetry: true,
  disableGreetingMessage: true,
  updateURL: '',
};

/**
 * Without the parts that are compiled and without scripts of packages. npm writes
 * node_modules/.package-lock.json last: its age tells if the install is current.
 */
export async function installShell(): Promise<void> {
  const installed = modifiedAt(join(folder, 'node_modules', '.package-lock.json'));
  if (installed >= modifiedAt(join(folder, 'package-lock.json'))) return;
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  say(`installing mongosh ${dependencies.mongosh} for its tests, once ...`);
  const seconds = progress();
  const windows = process.platform === 'win32';
  const args = ['ci', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund'];
  const retries = ['--prefer-offline', '--fetch-retries=1', '--fetch-retry-mintimeout=1000'];
  const npm = spawn(windows ? 'npm.cmd' : 'npm', [...args, ...retries], {
    cwd: folder,
    shell: windows,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaints = '';
  npm.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  const code = await new Promise((resolve) => npm.on('close', resolve).on('error', resolve));
  seconds.stop();
  if (code === 0) return;
  throw new Error(
    `mongosh, which these tests run, could not be installed in ${folder} from the npm registry ` +
      `(${npm.spawnargs.join(' ')}): ${complaints || code}`,
  );
}

function progress(): { stop(): void } {
  let seconds = 0;
  const timer = setInterval(() => {
    seconds += PROGRESS_MS / 1000;
    say(`installing mongosh: ${seconds} s`);
  }, PROGRESS_MS);
  return { stop: () => clearInterval(timer) };
}

function modifiedAt(path: string): number {
  return existsSync(path) ? statSync(path).mtimeMs : 0;
}

function say(text: string): void {
  process.stderr.write(`mayfly: ${text}\n`);
}
