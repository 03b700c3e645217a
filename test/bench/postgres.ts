// PostgreSQL, as strict as Mayfly about durability: a cluster in a temporary folder, hosted by this
// process, which runs under an account that initdb accepts.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { answerCalls, listenAnywhere } from './child.js';
import { type EmbeddedPostgres, loadEmbeddedPostgres } from './packages.js';
import { HOST } from './wire.js';

export interface PostgresPlan {
  readonly folder: string;
  readonly user: string;
  readonly password: string;
}
export interface PostgresAnswer {
  readonly port: number;
  /** The postmaster: all other processes of the cluster are below it. */
  readonly pid: number;
}

const START_ATTEMPTS = 5;
const LOG_LINES_MAX = 20;

/**
 * Everything about durability is on, which is also the default; memory is a quarter of what there
 * is, as its manual advises.
 */
const SETTINGS = {
  listen_addresses: HOST,
  unix_socket_directories: '',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_buffers: `${Math.round(totalmem() / 4 / 2 ** 20)}MB`,
  max_wal_size: '2GB',
  max_connections: '200',
};

let cluster: EmbeddedPostgres | undefined;
const log: string[] = [];

answerCalls({ serve }, () => cluster?.stop());

async function serve({ folder, user, password }: PostgresPlan): Promise<PostgresAnswer> {
  const Cluster = await loadEmbeddedPostgres();
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const options = {
    databaseDir: folder,
    user,
    password,
    persistent: true,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: settings,
    onLog: note,
    onError: note,
  };
  try {
    await new Cluster({ ...options, port: 0 }).initialise();
    return await startOnFreePort((port) => new Cluster({ ...options, port }), folder);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it ended at its start';
    throw new Error(`PostgreSQL does not start: ${why}\n${log.join('\n')}`);
  }
}

/** PostgreSQL cannot pick a port itself, and between picking and using one it may be taken. */
async function startOnFreePort(
  make: (port: number) => EmbeddedPostgres,
  folder: string,
): Promise<PostgresAnswer> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const tried = make(port);
    try {
      await tried.start();
      cluster = tried;
      const [pid] = readFileSync(join(folder, 'postmaster.pid'), 'latin1').split('\n');
      return { port, pid: Number(pid) };
    } catch (error) {
      if (attempt === START_ATTEMPTS) throw error;
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listenAnywhere(server);
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}

function note(message: unknown): void {
  log.push(String(message).trim());
  if (log.length > LOG_LINES_MAX) log.shift();
}
