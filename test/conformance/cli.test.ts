// The command `mayfly`: what it prints, how it stops, what it keeps and what it refuses.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CosmosClient } from '@azure/cosmos';
import { environmentName, optionTable, parseOptions } from '../../src/cli/options.js';
import { UsageError } from '../../src/cli/usage-error.js';
import { WELL_KNOWN_KEY } from '../../src/main.js';
import type { Json } from './support.suite.js';

const COMMAND = fileURLToPath(new URL('../../src/cli/mayfly.js', import.meta.url));
const PACKAGE = fileURLToPath(new URL('../../../package.json', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'mayfly-cli-'));
const running = new Set<ChildProcess>();
let folders = 0;

after(() => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

test('scripts that want to hear of errors only still hear that it is ready', async () => {
  const quiet = await launch(['--port', '0', '--data', ':memory:', '--log-level', 'error']);
  assert.equal(quiet.ready.event, 'ready');
  assert.deepEqual(await stop(quiet), { code: 0, signal: null });
  assert.equal(quiet.lines.length, 1);
});

test('ready, written to, ended with 0 by SIGINT, and all there after a restart', async () => {
  const data = newFolder();
  const first = await launch(['--port', '0', '--data', data]);
  const { cosmos, mongo, time, ...rest } = first.ready;
  assert.match(String(mongo), /^mongodb:\/\/mayfly:[^@/]+@127\.0\.0\.1:\d+\/$/);
  assert.match(String(cosmos), /^http:\/\/127\.0\.0\.1:\d+\/$/);
  assert.ok(!Number.isNaN(Date.parse(String(time))));
  const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as Json;
  assert.deepEqual(rest, { level: 'info', event: 'ready', data, clock: 'system', version });
  const written = await withClient(first, async (client) => {
    const { database } = await client.databases.create({ id: 'd' });
    const { container } = await database.containers.create({
      id: 'c',
      partitionKey: '/pk',
      defaultTtl: 3600,
    });
    const { resource } = await container.items.create({ id: '1', pk: 'p', text: 'kept' });
    return resource;
  });
  assert.deepEqual(await stop(first), { code: 0, signal: null });
  const events = first.lines.map((line) => (JSON.parse(line) as Json).event);
  assert.deepEqual(events, ['ready', 'stopping', 'stopped']);
  const second = await launch(['--port', '0', '--data', data]);
  await withClient(second, async (client) => {
    const container = client.database('d').container('c');
    assert.equal((await container.read()).resource?.defaultTtl, 3600);
    assert.deepEqual((await container.item('1', 'p').read()).resource, written);
    await container.items.create({ id: '2', pk: 'p' });
    const { resources } = await container.items.readAll<Json>().fetchAll();
    assert.deepEqual(
      resources.map(({ id }) => id),
      ['1', '2'],
    );
  });
  assert.deepEqual(await stop(second, 'SIGTERM'), { code: 0, signal: null });
});

test('T17: what expired while the server stood still is gone, and the purge catches up', async () => {
  const data = newFolder();
  const options = ['--port', '0', '--data', data, '--clock', 'virtual'];
  const first = await launch(options);
  await withClient(first, async (client) => {
    const { database } = await client.databases.create({ id: 'd' });
    const { container } = await database.containers.create({
      id: 'c',
      partitionKey: '/pk',
      defaultTtl: 3600,
    });
    await container.items.create({ id: '1', pk: 'p' });
    await container.items.create({ id: 'eternal', pk: 'p', ttl: -1 });
  });
  await stop(first);
  const second = await launch(options);
  await control(second, 'purge/pause');
  await control(second, 'clock', { advance: '1h' });
  await withClient(second, async (client) => {
    const container = client.database('d').container('c');
    const { resources } = await container.items.readAll<Json>().fetchAll();
    assert.deepEqual(
      resources.map(({ id }) => id),
      ['eternal'],
    );
    assert.equal((await container.item('1', 'p').read()).statusCode, 404);
  });
  assert.deepEqual(await control(second, 'purge'), { purged: 1 });
  await stop(second);
});

test('a folder or a port in use is refused, with the reason and what to do', async () => {
  const data = newFolder();
  const first = await launch(['--port', '0', '--data', data]);
  const sameFolder = await run(['start', '--port', '0', '--data', data]);
  assert.equal(sameFolder.code, 1);
  assert.equal(sameFolder.stdout, '');
  assert.ok(sameFolder.stderr.startsWith('mayfly: '), sameFolder.stderr);
  assert.ok(sameFolder.stderr.includes(data), sameFolder.stderr);
  assert.ok(sameFolder.stderr.includes(String(first.child.pid)), sameFolder.stderr);
  const { port } = new URL(String(first.ready.cosmos));
  const samePort = await run(['start', '--port', port, '--data', ':memory:']);
  assert.equal(samePort.code, 1);
  assert.ok(samePort.stderr.includes(`:${port}`), samePort.stderr);
  assert.ok(samePort.stderr.includes('--port'), samePort.stderr);
  assert.equal((await fetch(`${String(first.ready.cosmos)}_mayfly/health`)).status, 200);
  await stop(first);
});

for (const [args, text] of [
  [['start', '--colour', 'red'], "Unknown option '--colour'. See mayfly --help."],
  [['stop'], "'stop' is no command; the commands are 'start' and 'migrate'. See mayfly --help."],
] as const) {
  test(`'mayfly ${args.join(' ')}' ends with 2 and a helpful text`, async () => {
    const { code, stdout, stderr } = await run(args);
    assert.equal(code, 2, stderr);
    assert.equal(stdout, '');
    assert.ok(stderr.startsWith('mayfly: '), stderr);
    assert.ok(stderr.includes(text), stderr);
    assert.ok(!stderr.includes('    at '), 'no stack trace');
  });
}

/** Judged without a process of their own, which would take most of the time. */
const OPTIONS_REFUSED: readonly (readonly [readonly string[], string])[] = [
  [['--prot', '1'], '--prot'],
  [['here'], 'here'],
  [['--port'], '--port'],
  [['--port', 'many'], "'many'"],
  [['--port', '65536'], '65535'],
  [['--port', '-1'], '--port'],
  [['--mongo-port', 'open'], '--mongo-port'],
  [['--clock', 'sundial'], 'virtual'],
  [['--tls', 'maybe'], 'auto'],
  [['--log-level', 'loud'], 'debug'],
  [['--allow-well-known-key=perhaps'], '--allow-well-known-key'],
  [['--tls-cert', 'x.pem'], '--tls-key'],
  [['--tls-key', 'x.pem'], '--tls-cert'],
  [['--tls-cert', 'missing.pem', '--tls-key', 'missing.pem'], 'missing.pem'],
];

for (const [args, text] of OPTIONS_REFUSED) {
  test(`the options ${args.join(' ')} are refused by a text that names them`, () => {
    assert.throws(
      () => parseOptions(args, {}),
      (error) => error instanceof UsageError && error.message.includes(text),
    );
  });
}

test('a server whose log nobody reads any more serves on, and closes its store', async () => {
  const data = newFolder();
  const server = await launch(['--port', '0', '--data', data], { MAYFLY_CLOK: 'virtual' });
  server.child.stdout?.destroy();
  await withClient(server, (client) => client.databases.create({ id: 'd' }));
  assert.deepEqual(await stop(server), { code: 0, signal: null });
  assert.ok(!existsSync(join(data, 'mayfly.lock')));
});

test('every option has its environment variable', () => {
  const values: Readonly<Record<string, string>> = {
    port: '1234',
    clock: 'virtual',
    tls: 'off',
    'allow-well-known-key': 'true',
    'tls-cert': PACKAGE,
    'tls-key': PACKAGE,
    'tls-name': 'one,two',
    'count-includes-unpurged': '1',
    throughput: 'enforce',
    entra: 'verify',
    'entra-keys': PACKAGE,
    'mongo-port': 'off',
    'mongo-topology': 'standalone',
    'mongo-document-ttl': 'off',
    'mongo-test-commands': 'true',
    'script-time': '2s',
    'log-level': 'warn',
    // Documents are in one place.
    store: '',
  };
  const environment = Object.fromEntries(
    optionTable
      // It is another place for what --data names.
      .filter(({ name }) => name !== 'store')
      .map(({ name }) => [environmentName(name), values[name] ?? `value of ${name}`]),
  );
  const text = readFileSync(PACKAGE, 'utf8');
  const { entra, ...others } = parseOptions([], environment);
  assert.ok(typeof entra === 'object' && typeof entra.keys === 'function');
  assert.deepEqual(
    { ...others, entra: { ...entra, keys: entra.keys() } },
    {
      host: 'value of host',
      port: 1234,
      data: 'value of data',
      key: 'value of key',
      secondaryKey: 'value of secondary-key',
      readOnlyKey: 'value of read-only-key',
      secondaryReadOnlyKey: 'value of secondary-read-only-key',
      allowWellKnownKey: true,
      clock: 'virtual',
      tls: 'off',
      tlsCertificate: { cert: text, key: text },
      tlsNames: ['one', 'two'],
      allowedHosts: ['value of allow-host'],
      corsOrigins: ['value of cors-origin'],
      countIncludesUnpurged: true,
      throughput: 'enforce',
      entra: {
        keys: text,
        issuers: ['value of entra-issuer'],
        audiences: ['value of entra-audience'],
        contributors: ['value of entra-contributor'],
        readers: ['value of entra-reader'],
      },
      mongoPort: 'off',
      mongoTopology: 'standalone',
      mongoDocumentTtl: false,
      mongoTestCommands: true,
      scriptTimeMs: 2000,
      logLevel: 'warn',
    },
  );
});

test('the well-known key beyond loopback: exit code 1 and what to do', async () => {
  const { code, stderr } = await run([
    'start',
    '--port',
    '0',
    '--data',
    ':memory:',
    '--host',
    '0.0.0.0',
  ]);
  assert.equal(code, 1);
  assert.ok(stderr.includes('--key') && stderr.includes('--allow-well-known-key'), stderr);
  // More bytes than these would come out in two lines, which make no key.
  assert.ok(stderr.includes('openssl rand -base64 48'), stderr);
});

test('--help names every option, wherever it stands', async () => {
  const { code, stdout, stderr } = await run(['start', '--port', '1', '--help']);
  assert.equal(code, 0);
  assert.equal(stderr, '');
  for (const { name } of optionTable) assert.ok(stdout.includes(`--${name}`), name);
  for (const name of ['--help', '--version', 'mayfly start', environmentName('log-level')]) {
    assert.ok(stdout.includes(name), name);
  }
});

test('--version is that of package.json', async () => {
  const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as Json;
  const { code, stdout } = await run(['--version']);
  assert.equal(code, 0);
  assert.equal(stdout, `mayfly ${String(version)}\n`);
});

test('environment variables act, and the command line wins over them', async () => {
  const data = newFolder();
  const key = Buffer.alloc(64, 5).toString('base64');
  const environment = {
    MAYFLY_PORT: '0',
    MAYFLY_DATA: data,
    MAYFLY_KEY: key,
    MAYFLY_CLOCK: 'virtual',
    MAYFLY_TLS: 'off',
    MAYFLY_ALLOW_HOST: 'one.test,two.test',
  };
  const server = await launch([], environment);
  assert.deepEqual([server.ready.data, server.ready.clock], [data, 'virtual']);
  // A key of one's own is not for logs.
  assert.match(String(server.ready.mongo), /^mongodb:\/\/mayfly:\*\*\*@127\.0\.0\.1:\d+\/$/);
  assert.ok(existsSync(data));
  const client = new CosmosClient({ endpoint: String(server.ready.cosmos), key });
  assert.equal((await client.databases.create({ id: 'd' })).statusCode, 201);
  client.dispose();
  const certificate = await fetch(`${String(server.ready.cosmos)}_mayfly/certificate.pem`);
  assert.equal(certificate.status, 404);
  await stop(server);
  const overruled = await launch(['--data', ':memory:', '--clock', 'system'], environment);
  assert.deepEqual([overruled.ready.data, overruled.ready.clock], [':memory:', 'system']);
  await stop(overruled);
});

interface Launched {
  readonly child: ChildProcess;
  readonly ready: Json;
  readonly lines: readonly string[];
}

/** Starts a server and waits for its first line. */
async function launch(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Launched> {
  const child = spawnMayfly(['start', ...args], environment);
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  let complaint = '';
  child.stderr?.on('data', (piece) => {
    complaint += String(piece);
  });
  const first = await new Promise<string>((resolve, reject) => {
    reader.on('line', (line) => {
      lines.push(line);
      resolve(line);
    });
    child.on('exit', (code) => reject(new Error(`ended with ${code}: ${complaint}`)));
  });
  return { child, ready: JSON.parse(first) as Json, lines };
}

async function stop(
  { child }: Launched,
  signal: NodeJS.Signals = 'SIGINT',
): Promise<{ readonly code: number | null; readonly signal: string | null }> {
  const closed = once(child, 'close');
  child.kill(signal);
  const [code, by] = (await closed) as [number | null, string | null];
  return { code, signal: by };
}

/** Runs the command to its end. */
async function run(
  args: readonly string[],
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const child = spawnMayfly(args, {});
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (piece) => {
    stdout += String(piece);
  });
  child.stderr?.on('data', (piece) => {
    stderr += String(piece);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

function spawnMayfly(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('MAYFLY_'));
  const child = spawn(process.execPath, [COMMAND, ...args], {
    env: { ...Object.fromEntries(inherited), ...environment },
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.on('exit', () => running.delete(child));
  return child;
}

async function withClient<T>(
  { ready }: Launched,
  work: (client: CosmosClient) => Promise<T>,
): Promise<T> {
  const client = new CosmosClient({ endpoint: String(ready.cosmos), key: WELL_KNOWN_KEY });
  try {
    return await work(client);
  } finally {
    client.dispose();
  }
}

async function control({ ready }: Launched, path: string, body: Json = {}): Promise<unknown> {
  const response = await fetch(`${String(ready.cosmos)}_mayfly/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${WELL_KNOWN_KEY}` },
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 200);
  return response.json();
}

function newFolder(): string {
  folders += 1;
  return join(root, `data-${folders}`);
}
