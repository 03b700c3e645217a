// The options of `mayfly start`: defaults, the command line over the environment, and refusals that
// name the option and what it wants.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { helpText } from './help.js';
import {
  type CliOptions,
  environmentName,
  optionTable,
  parseOptions,
  strayVariables,
} from './options.js';
import { UsageError } from './usage-error.js';

const folder = mkdtempSync(join(tmpdir(), 'mayfly-options-'));
after(() => rmSync(folder, { recursive: true }));

const KEY = Buffer.alloc(64, 7).toString('base64');

test('told nothing, it has defaults', () => {
  assert.deepEqual(parseOptions([], {}), {
    host: undefined,
    port: 8081,
    data: 'mayfly-data',
    key: undefined,
    secondaryKey: undefined,
    readOnlyKey: undefined,
    secondaryReadOnlyKey: undefined,
    allowWellKnownKey: false,
    clock: 'system',
    tls: 'auto',
    tlsCertificate: undefined,
    tlsNames: [],
    allowedHosts: [],
    corsOrigins: [],
    countIncludesUnpurged: false,
    throughput: 'measure',
    entra: 'off',
    mongoPort: 10_255,
    mongoTopology: 'mongos',
    mongoDocumentTtl: true,
    mongoTestCommands: false,
    scriptTimeMs: undefined,
    logLevel: 'info',
  });
});

test('a throwaway server picks both of its ports', () => {
  assert.equal(parseOptions(['--port', '0'], {}).mongoPort, 0);
  assert.equal(parseOptions(['--port', '0', '--mongo-port', '1'], {}).mongoPort, 1);
});

test('every option is taken from the command line and from the environment', () => {
  type Row = readonly [option: string, value: string, name: keyof CliOptions, parsed: unknown];
  const rows: readonly Row[] = [
    ['host', '0.0.0.0', 'host', '0.0.0.0'],
    ['port', '0', 'port', 0],
    ['port', '65535', 'port', 65_535],
    ['mongo-port', '27017', 'mongoPort', 27_017],
    ['mongo-port', 'off', 'mongoPort', 'off'],
    ['mongo-topology', 'replset', 'mongoTopology', 'replset'],
    ['mongo-document-ttl', 'off', 'mongoDocumentTtl', false],
    ['data', ':memory:', 'data', ':memory:'],
    ['key', KEY, 'key', KEY],
    ['secondary-key', KEY, 'secondaryKey', KEY],
    ['read-only-key', KEY, 'readOnlyKey', KEY],
    ['secondary-read-only-key', KEY, 'secondaryReadOnlyKey', KEY],
    ['clock', 'virtual', 'clock', 'virtual'],
    ['tls', 'only', 'tls', 'only'],
    ['tls-name', 'mayfly.test', 'tlsNames', ['mayfly.test']],
    ['allow-host', 'mayfly.test', 'allowedHosts', ['mayfly.test']],
    ['cors-origin', 'http://a.test', 'corsOrigins', ['http://a.test']],
    ['throughput', 'enforce', 'throughput', 'enforce'],
    ['entra', 'accept', 'entra', 'accept'],
    ['script-time', '500ms', 'scriptTimeMs', 500],
    ['log-level', 'debug', 'logLevel', 'debug'],
  ];
  for (const [option, value, name, parsed] of rows) {
    assert.deepEqual(parseOptions([`--${option}`, value], {})[name], parsed, option);
    assert.deepEqual(parseOptions([`--${option}=${value}`], {})[name], parsed, option);
    assert.deepEqual(parseOptions([], { [environmentName(option)]: value })[name], parsed, option);
  }
});

test('the switches', () => {
  for (const [option, variable, property] of [
    ['allow-well-known-key', 'MAYFLY_ALLOW_WELL_KNOWN_KEY', 'allowWellKnownKey'],
    ['count-includes-unpurged', 'MAYFLY_COUNT_INCLUDES_UNPURGED', 'countIncludesUnpurged'],
  ] as const) {
    assert.equal(environmentName(option), variable);
    assert.equal(parseOptions([`--${option}`], {})[property], true);
    for (const [text, value] of [
      ['true', true],
      ['1', true],
      ['false', false],
      ['0', false],
      ['', false],
    ] as const) {
      assert.equal(parseOptions([], { [variable]: text })[property], value, text);
    }
    refuses([], { [variable]: 'yes' }, [`--${option}`, "'yes'", 'true or false']);
  }
});

test('the command line wins, the last of several counts, and lists grow', () => {
  const environment = { MAYFLY_PORT: '1', MAYFLY_TLS_NAME: 'a.test,b.test', MAYFLY_DATA: '' };
  assert.equal(parseOptions([], environment).port, 1);
  assert.equal(parseOptions(['--port', '2'], environment).port, 2);
  assert.equal(parseOptions(['--port', '2', '--port', '3'], environment).port, 3);
  assert.equal(parseOptions([], environment).data, 'mayfly-data', 'an empty variable says nothing');
  assert.deepEqual(parseOptions([], environment).tlsNames, ['a.test', 'b.test']);
  const args = ['--tls-name', 'c.test', '--tls-name', 'd.test'];
  assert.deepEqual(parseOptions(args, environment).tlsNames, ['c.test', 'd.test']);
});

test('a bad environment variable does not count once the command line speaks', () => {
  assert.equal(parseOptions(['--port', '5'], { MAYFLY_PORT: 'x' }).port, 5);
});

test('refusals name the option, the value and what is wanted', () => {
  const rows: readonly (readonly [readonly string[], readonly string[]])[] = [
    [
      ['--port', '65536'],
      ['--port', "'65536'", '0 to 65535'],
    ],
    [
      ['--script-time', '2m'],
      ['--script-time', "'2m'", '1ms to 1m'],
    ],
    [
      ['--port', 'http'],
      ['--port', "'http'"],
    ],
    [
      ['--port', ''],
      ['--port', "''"],
    ],
    [['--port', ' 80'], ['--port']],
    [
      ['--port', '8e3'],
      ['--port', "'8e3'"],
    ],
    [
      ['--port', '80.5'],
      ['--port', "'80.5'"],
    ],
    [
      ['--port', '0x50'],
      ['--port', "'0x50'"],
    ],
    [['--port=-1'], ['--port', "'-1'"]],
    [['--port'], ['--port']],
    [
      ['--clock', 'broken'],
      ['--clock', "'broken'", 'system or virtual'],
    ],
    [
      ['--tls', 'on'],
      ['--tls', "'on'", 'auto or only or off'],
    ],
    [
      ['--entra', 'on'],
      ['--entra', "'on'", 'off or accept or verify'],
    ],
    [
      ['--entra', 'accept', '--entra-issuer', 'x'],
      ['--entra-issuer has no effect without --entra verify'],
    ],
    [['--entra-reader', 'x'], ['--entra-reader has no effect without --entra verify']],
    [['--entra', 'verify'], ['--entra-keys FILE']],
    [
      ['--entra', 'verify', '--entra-keys', join(folder, 'none.json')],
      ['--entra-keys', 'ENOENT'],
    ],
    [
      ['--log-level', 'loud'],
      ['--log-level', "'loud'", 'debug or info or warn or error'],
    ],
    [
      ['--log-level', 'INFO'],
      ['--log-level', "'INFO'"],
    ],
    [['--colour'], ['--colour']],
    [['--prot', '80'], ['--prot']],
    [['stray'], ['stray']],
    [
      ['--tls-cert', 'x.pem'],
      ['--tls-cert and --tls-key', 'both'],
    ],
    [
      ['--tls-key', 'x.pem'],
      ['--tls-cert and --tls-key', 'both'],
    ],
    [['--__proto__', 'x'], ['--__proto__']],
  ];
  for (const [args, words] of rows) refuses(args, {}, words);
  refuses([], { MAYFLY_PORT: 'x' }, ['--port', "'x'"]);
  refuses([], { MAYFLY_CLOCK: 'sun' }, ['--clock', "'sun'"]);
});

test('certificate files are read, and a missing one is named', () => {
  const [cert, key] = ['cert.pem', 'key.pem'].map((name) => join(folder, name));
  assert.ok(cert !== undefined && key !== undefined);
  writeFileSync(cert, 'the certificate');
  writeFileSync(key, 'the key');
  const args = ['--tls-cert', cert, '--tls-key', key];
  const pair = { cert: 'the certificate', key: 'the key' };
  assert.deepEqual(parseOptions(args, {}).tlsCertificate, pair);
  const environment = { MAYFLY_TLS_CERT: cert, MAYFLY_TLS_KEY: key };
  assert.deepEqual(parseOptions([], environment).tlsCertificate, pair);
  const missing = join(folder, 'missing.pem');
  refuses(['--tls-cert', missing, '--tls-key', key], {}, ['--tls-cert', missing]);
  refuses(['--tls-cert', cert, '--tls-key', folder], {}, ['--tls-key']);
});

test('--help shows every option with its default', () => {
  const help = helpText();
  for (const { name, help: text } of optionTable) {
    assert.ok(help.includes(`--${name}`), name);
    assert.ok(help.includes(text), name);
  }
  assert.ok(help.includes('MAYFLY_LOG_LEVEL'));
});

function refuses(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  words: readonly string[],
): void {
  assert.throws(
    () => parseOptions(args, environment),
    (error) => {
      assert.ok(error instanceof UsageError, `no usage error: ${String(error)}`);
      for (const word of words) assert.ok(error.message.includes(word), error.message);
      return true;
    },
  );
}

test('the options about Entra belong together', () => {
  const file = join(folder, 'keys.json');
  writeFileSync(file, '{"keys":[]}');
  const args = ['--entra', 'verify', '--entra-keys', file, '--entra-issuer', 'https://a.test/'];
  const environment = { MAYFLY_ENTRA_READER: 'rob,bob', MAYFLY_ENTRA_CONTRIBUTOR: 'ann' };
  const { entra } = parseOptions(args, environment);
  assert.ok(typeof entra === 'object' && typeof entra.keys === 'function');
  assert.deepEqual(
    { ...entra, keys: entra.keys() },
    {
      keys: '{"keys":[]}',
      issuers: ['https://a.test/'],
      audiences: [],
      contributors: ['ann'],
      readers: ['rob', 'bob'],
    },
  );
});

test('documents are in a folder or in PostgreSQL', () => {
  const store = 'postgres://me@db/mayfly?schema=x';
  assert.equal(parseOptions([], {}).data, 'mayfly-data');
  assert.deepEqual(parseOptions([], { MAYFLY_STORE: store }).store, store);
  for (const args of [
    ['--data', 'x', '--store', store],
    ['--store', 'mysql://db/x'],
    ['--store', 'postgres://'],
  ]) {
    assert.throws(() => parseOptions(args, {}), UsageError, args.join(' '));
  }
});

test('variables that look like options and are none are told', () => {
  const environment = { MAYFLY_PORT: '1', MAYFLY_CLOK: 'virtual', PATH: '/bin' };
  assert.deepEqual(strayVariables(environment), ['MAYFLY_CLOK']);
});
