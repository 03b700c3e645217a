// The options of `mayfly start`: one table for parsing, environment variables and --help.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { LogLevel, StartOptions } from '../options.js';
import { parseDurationMs } from '../time/duration.js';
import { entraOptions } from './entra-options.js';
import { UsageError } from './usage-error.js';

interface Option {
  readonly name: string;
  readonly value: string | undefined;
  readonly help: string;
  readonly repeated?: true;
}

// biome-ignore format: a table is read in columns
export const optionTable: readonly Option[] = [
  { name: 'host',                    value: 'ADDRESS',            help: 'address to listen on (127.0.0.1)' },
  { name: 'port',                    value: 'N',                  help: 'port to listen on, 0 picks a free one (8081)' },
  { name: 'data',                    value: 'DIR|:memory:',       help: 'where documents are kept (./mayfly-data)' },
  { name: 'store',                   value: 'postgres://…',       help: 'keep them in PostgreSQL instead; several servers may share it' },
  { name: 'key',                     value: 'BASE64',             help: "account key (the official emulator's, on loopback only)" },
  { name: 'secondary-key',           value: 'BASE64',             help: 'a second account key' },
  { name: 'read-only-key',           value: 'BASE64',             help: 'a key that may only read' },
  { name: 'secondary-read-only-key', value: 'BASE64',             help: 'a second key that may only read' },
  { name: 'allow-well-known-key',    value: undefined,            help: "use the emulator's key beyond loopback: everybody knows it" },
  { name: 'clock',                   value: 'system|virtual',     help: 'virtual: time can be frozen, set and advanced (system)' },
  { name: 'tls',                     value: 'auto|only|off',      help: 'auto: HTTP and HTTPS on one port (auto)' },
  { name: 'tls-cert',                value: 'FILE',               help: 'your certificate (PEM), instead of the self-signed one' },
  { name: 'tls-key',                 value: 'FILE',               help: 'its private key (PEM)' },
  { name: 'tls-name',                value: 'NAME', repeated: true, help: 'another host name for the self-signed certificate' },
  { name: 'allow-host',              value: 'NAME', repeated: true, help: 'another host name the control API answers to' },
  { name: 'cors-origin',             value: 'ORIGIN', repeated: true, help: 'a web origin that may use the account' },
  { name: 'count-includes-unpurged', value: undefined,            help: "COUNT takes in expired items until they are purged, as the service's does" },
  { name: 'throughput',              value: 'measure|enforce',    help: 'enforce: 429 beyond the provisioned request units (measure)' },
  { name: 'entra',                   value: 'off|accept|verify',  help: 'accept: any Entra token, on loopback only; verify: those that pass the next options (off)' },
  { name: 'entra-keys',              value: 'FILE',               help: 'public keys that sign tokens: a JSON Web Key Set, or PEM' },
  { name: 'entra-issuer',            value: 'URL', repeated: true, help: 'whose tokens are taken' },
  { name: 'entra-audience',          value: 'URL', repeated: true, help: 'for whom they must be (https://cosmos.azure.com)' },
  { name: 'entra-contributor',       value: 'ID', repeated: true, help: 'who may read and write items, * for everybody' },
  { name: 'entra-reader',            value: 'ID', repeated: true, help: 'who may read items, * for everybody' },
  { name: 'mongo-port',              value: 'N|off',              help: 'port for MongoDB clients, 0 picks a free one (10255; with --port 0: 0)' },
  { name: 'mongo-topology',          value: 'mongos|replset|standalone', help: 'what MongoDB clients are told they talk to (mongos)' },
  { name: 'mongo-document-ttl',      value: 'on|off',             help: "whether a MongoDB document's own ttl counts (on)" },
  { name: 'mongo-test-commands',     value: undefined,            help: 'MongoDB clients may set the fail point failCommand' },
  { name: 'script-time',             value: 'TIME',               help: 'how long a script may run, such as 500ms or 5s (5s)' },
  { name: 'log-level',               value: 'debug|info|warn|error', help: 'what to log (info)' },
];

export const environmentName = (option: string): string =>
  `MAYFLY_${option.toUpperCase().replaceAll('-', '_')}`;

/** Variables that look like options and are none: mistyped, most likely. */
export function strayVariables(environment: Readonly<Record<string, unknown>>): readonly string[] {
  const known = new Set(optionTable.map(({ name }) => environmentName(name)));
  return Object.keys(environment).filter((name) => name.startsWith('MAYFLY_') && !known.has(name));
}

export interface CliOptions extends StartOptions {
  readonly logLevel: LogLevel;
}

/** The command line wins over the environment. */
export function parseOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): CliOptions {
  const values = readValues(args, environment);
  const one = (name: string) => values.get(name)?.at(-1);
  return {
    host: one('host'),
    port: portOf('port', one('port') ?? '8081'),
    ...placeOf(one('data'), one('store')),
    key: one('key'),
    secondaryKey: one('secondary-key'),
    readOnlyKey: one('read-only-key'),
    secondaryReadOnlyKey: one('secondary-read-only-key'),
    allowWellKnownKey: truthOf('allow-well-known-key', one('allow-well-known-key')),
    clock: choiceOf('clock', one('clock') ?? 'system', ['system', 'virtual']),
    tls: choiceOf('tls', one('tls') ?? 'auto', ['auto', 'only', 'off']),
    tlsCertificate: certificateOf(one('tls-cert'), one('tls-key')),
    tlsNames: values.get('tls-name') ?? [],
    allowedHosts: values.get('allow-host') ?? [],
    corsOrigins: values.get('cors-origin') ?? [],
    countIncludesUnpurged: truthOf('count-includes-unpurged', one('count-includes-unpurged')),
    throughput: choiceOf('throughput', one('throughput') ?? 'measure', ['measure', 'enforce']),
    entra: entraOptions(values),
    // A throwaway server on a free port is one for all its clients.
    mongoPort: mongoPortOf(one('mongo-port') ?? (one('port') === '0' ? '0' : '10255')),
    mongoTopology: choiceOf('mongo-topology', one('mongo-topology') ?? 'mongos', [
      'mongos',
      'replset',
      'standalone',
    ]),
    mongoDocumentTtl:
      choiceOf('mongo-document-ttl', one('mongo-document-ttl') ?? 'on', ['on', 'off']) === 'on',
    mongoTestCommands: truthOf('mongo-test-commands', one('mongo-test-commands')),
    scriptTimeMs: scriptTimeOf(one('script-time')),
    logLevel: choiceOf('log-level', one('log-level') ?? 'info', ['debug', 'info', 'warn', 'error']),
  };
}

function readValues(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, readonly string[]>();
  for (const { name, repeated } of optionTable) {
    const text = environment[environmentName(name)];
    if (text) values.set(name, repeated ? text.split(',') : [text]);
  }
  const spec = Object.fromEntries(
    optionTable.map(({ name, value }) => [
      name,
      { type: value === undefined ? 'boolean' : 'string', multiple: true } as const,
    ]),
  );
  try {
    const parsed = parseArgs({ args: [...args], options: spec, strict: true });
    for (const [name, given] of Object.entries(parsed.values)) {
      values.set(name, (given as unknown[]).map(String));
    }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  return values;
}

function placeOf(data: string | undefined, store: string | undefined) {
  if (store === undefined) return { data: data ?? 'mayfly-data' };
  if (data !== undefined) {
    throw new UsageError('--data and --store are two places for documents; give one.');
  }
  if (/^postgres(ql)?:\/\/./.test(store) && URL.canParse(store)) return { data: MEMORY, store };
  throw new UsageError(`--store wants postgres://user@host/database, not '${store}'.`);
}

/** What a server that keeps nothing itself writes to disk. */
const MEMORY = ':memory:';

function portOf(name: string, text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`--${name} wants a number from 0 to 65535, not '${text}'.`);
}

function mongoPortOf(text: string): number | 'off' {
  return text === 'off' ? 'off' : portOf('mongo-port', text);
}

const SCRIPT_TIME_MAX_MS = 60_000;

function scriptTimeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDurationMs(text);
  if (ms !== undefined && ms >= 1 && ms <= SCRIPT_TIME_MAX_MS) return ms;
  throw new UsageError(`--script-time wants a time from 1ms to 1m, such as 5s, not '${text}'.`);
}

function truthOf(name: string, text: string | undefined): boolean {
  return choiceOf(name, text ?? 'false', ['true', 'false', '1', '0']).match(/true|1/) !== null;
}

function choiceOf<const T extends string>(name: string, text: string, choices: readonly T[]): T {
  const choice = choices.find((each) => each === text);
  if (choice !== undefined) return choice;
  throw new UsageError(`--${name} wants ${choices.join(' or ')}, not '${text}'.`);
}

function certificateOf(cert: string | undefined, key: string | undefined) {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    throw new UsageError('--tls-cert and --tls-key belong together; give both.');
  }
  const read = (name: string, file: string) => {
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      throw new UsageError(`--${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  return { cert: read('tls-cert', cert), key: read('tls-key', key) };
}
