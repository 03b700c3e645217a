// The wire against what no driver sends: every message is answered or ends its connection, the
// server stays up, and what it keeps for strangers is bounded.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { serialize } from 'bson';
import { crc32c } from '../../src/mongo/wire/crc32c.js';
import { snappyPack } from '../../src/mongo/wire/snappy.js';
import {
  fuzzed,
  type Random,
  randomInteger,
  randomPick,
  seededRandom,
  seedFromEnvironment,
} from '../../src/value/random.suite.js';
import { serveMongo } from './support.suite.js';
import { commandSection, framed, header, Line, message, OP, sections } from './wire.suite.js';

const server = await serveMongo();
const PING = { ping: 1, $db: 'admin' };

async function isUp(): Promise<void> {
  const line = new Line(server.port);
  line.send(message(PING));
  assert.equal((await line.reply())?.ok, 1);
  line.end();
}

function compressed(opcode: number, size: number, compressor: number, body: Uint8Array): Buffer {
  const frame = Buffer.alloc(9);
  frame.writeInt32LE(opcode, 0);
  frame.writeInt32LE(size, 4);
  frame[8] = compressor;
  return framed(OP.compressed, Buffer.concat([frame, body]));
}

const ping = sections(0, commandSection(PING));
const bomb = deflateSync(Buffer.alloc(40_000_000));

function nested(levels: number): Uint8Array {
  const opening = Buffer.alloc(levels * 7);
  for (let level = 0; level < levels; level++) {
    opening.writeInt32LE(5 + 8 * (levels - level), level * 7);
    opening.set([3, 0x61, 0], level * 7 + 4);
  }
  const inner = Buffer.concat([opening, Buffer.from([5, 0, 0, 0, 0]), Buffer.alloc(levels)]);
  const name = Buffer.concat([
    Buffer.from([0x10]),
    Buffer.from('ping\0'),
    Buffer.from([1, 0, 0, 0]),
  ]);
  const member = Buffer.concat([Buffer.from([3]), Buffer.from('a\0'), inner]);
  const database = serialize({ $db: 'admin' }).subarray(4);
  const body = Buffer.concat([name, member, database]);
  const length = Buffer.alloc(4);
  length.writeInt32LE(body.length + 4);
  return Buffer.concat([length, body]);
}

function sequence(size: number | undefined, name: string, ...documents: Uint8Array[]): Buffer {
  const rest = Buffer.concat([Buffer.from(name), ...documents]);
  const length = Buffer.alloc(4);
  length.writeInt32LE(size ?? rest.length + 4);
  return Buffer.concat([Buffer.of(1), length, rest]);
}

function withChecksum(flags: number, isRight: boolean): Buffer {
  const body = sections(flags, commandSection(PING), Buffer.alloc(4));
  const whole = framed(OP.message, body);
  const sum = crc32c(whole.subarray(0, whole.length - 4));
  whole.writeUInt32LE(isRight ? sum : (sum + 1) >>> 0, whole.length - 4);
  return whole;
}

const truncated = serialize(PING).slice(0, -3);
truncated[truncated.length - 1] = 0;
const lying = Buffer.from(serialize({ ping: 'text', $db: 'admin' }));
lying.writeInt32LE(1_000_000, 10);

type Row = readonly [what: string, bytes: Uint8Array, answer: 'closed' | number];
const ROWS: readonly Row[] = [
  ['a length of 0', header(0, OP.message), 'closed'],
  ['a negative length', header(-1, OP.message), 'closed'],
  ['a length of 15', header(15, OP.message), 'closed'],
  ['a length of 2 GB', header(0x7fffffff, OP.message), 'closed'],
  ['a length beyond 48 MB', header(48_000_001, OP.message), 'closed'],
  ['what a stranger may not send', header(2_000_000, OP.message), 'closed'],
  ['no body', header(16, OP.message), 'closed'],
  ['flags alone', framed(OP.message, Buffer.alloc(4)), 'closed'],
  ['an unknown required flag', framed(OP.message, sections(4, commandSection(PING))), 223],
  ['an unknown optional flag', framed(OP.message, sections(2 ** 20, commandSection(PING))), 0],
  [
    'two commands',
    framed(OP.message, sections(0, commandSection(PING), commandSection(PING))),
    'closed',
  ],
  ['a section of kind 2', framed(OP.message, sections(0, Buffer.of(2), serialize(PING))), 'closed'],
  ['a command cut short', framed(OP.message, sections(0, commandSection(truncated))), 'closed'],
  ['a string longer than all', framed(OP.message, sections(0, commandSection(lying))), 22],
  ['an empty command', message({}), 2],
  ['no $db', message({ ping: 1 }), 40571],
  ['a $db that is no text', message({ ping: 1, $db: 1 }), 40571],
  ['170 levels', framed(OP.message, sections(0, commandSection(nested(170)))), 0],
  ['1000 levels', framed(OP.message, sections(0, commandSection(nested(1000)))), 15],
  ['100 000 levels', framed(OP.message, sections(0, commandSection(nested(100_000)))), 15],
  [
    'a sequence of size 0',
    framed(OP.message, sections(0, commandSection(PING), sequence(0, 'a\0'))),
    'closed',
  ],
  [
    'a sequence beyond the end',
    framed(OP.message, sections(0, commandSection(PING), sequence(999, 'a\0'))),
    'closed',
  ],
  [
    'a sequence without a name',
    framed(OP.message, sections(0, commandSection(PING), sequence(undefined, 'a'))),
    'closed',
  ],
  [
    'a negative sequence',
    framed(OP.message, sections(0, commandSection(PING), sequence(-5, 'a\0'))),
    'closed',
  ],
  [
    'a sequence with half a document',
    framed(
      OP.message,
      sections(0, commandSection(PING), sequence(undefined, 'a\0', Buffer.from([9, 0, 0, 0]))),
    ),
    'closed',
  ],
  [
    'a sequence beside its field',
    framed(OP.message, sections(0, commandSection({ ...PING, a: [] }), sequence(undefined, 'a\0'))),
    9,
  ],
  ['a checksum', withChecksum(1, true), 0],
  ['a wrong checksum', withChecksum(1, false), 'closed'],
  ['the opcode of an insert of old', framed(2002, Buffer.alloc(20)), 'closed'],
  ['an opcode of nothing', framed(77, Buffer.alloc(20)), 'closed'],
  ['an OP_QUERY of nothing', framed(OP.query, Buffer.alloc(3)), 'closed'],
  ['a package of zlib', compressed(OP.message, ping.length, 2, deflateSync(ping)), 0],
  ['a package of noop', compressed(OP.message, ping.length, 0, ping), 0],
  ['a package of snappy', compressed(OP.message, ping.length, 1, snappyPack(ping)), 0],
  ['a package that is no snappy', compressed(OP.message, ping.length, 1, ping), 'closed'],
  ['a bomb of snappy', compressed(OP.message, 100, 1, snappyPack(Buffer.alloc(9e6))), 'closed'],
  ['a package of a stranger kind', compressed(OP.message, ping.length, 9, ping), 'closed'],
  ['a package that is larger', compressed(OP.message, 10, 2, deflateSync(ping)), 'closed'],
  [
    'a package that is smaller',
    compressed(OP.message, ping.length + 1, 2, deflateSync(ping)),
    'closed',
  ],
  ['a package of nothing', compressed(OP.message, ping.length, 2, Buffer.alloc(0)), 'closed'],
  ['a package of negative size', compressed(OP.message, -1, 2, deflateSync(ping)), 'closed'],
  ['a package of 2 GB', compressed(OP.message, 0x7fffffff, 2, bomb), 'closed'],
  ['a bomb that says it is small', compressed(OP.message, 100, 2, bomb), 'closed'],
  [
    'a package in a package',
    compressed(OP.compressed, ping.length, 2, deflateSync(ping)),
    'closed',
  ],
  ['HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'), 'closed'],
];

test('each wrong message is answered by a code, or ends its connection', async () => {
  for (const [what, bytes, wanted] of ROWS) {
    const line = new Line(server.port);
    line.send(bytes);
    const bytesOfAnswer = await line.answer();
    line.end();
    if (wanted === 'closed') {
      assert.equal(bytesOfAnswer, undefined, what);
      continue;
    }
    assert.ok(bytesOfAnswer, what);
    if (bytesOfAnswer.readInt32LE(12) === OP.compressed) continue;
    const again = new Line(server.port);
    again.send(bytes);
    const reply = await again.reply();
    again.end();
    assert.equal(reply?.code ?? 0, wanted, `${what}: ${JSON.stringify(reply)}`);
  }
  await isUp();
});

test('messages cut anywhere, and glued together', async () => {
  const line = new Line(server.port);
  const three = Buffer.concat([message(PING), message(PING), message(PING)]);
  for (const byte of three) {
    line.send(Buffer.of(byte));
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (let index = 0; index < 3; index++) assert.equal((await line.reply())?.ok, 1);
  line.end();
});

test('a silent message gets no reply, and the next one gets its own', async () => {
  const line = new Line(server.port);
  line.send(message(PING, 2));
  line.send(message({ buildInfo: 1, $db: 'admin' }));
  assert.equal(typeof (await line.reply())?.version, 'string');
  line.end();
});

test('random damage of good messages', async () => {
  const seed = seedFromEnvironment();
  const random = seededRandom(seed);
  const good: readonly [Buffer, ...Buffer[]] = [
    message(PING),
    message({
      hello: 1,
      $db: 'admin',
      client: { application: { name: 'x' } },
      compression: ['zlib'],
    }),
    message({
      saslStart: 1,
      mechanism: 'SCRAM-SHA-256',
      payload: Buffer.from('n,,n=a,r=b'),
      $db: 'admin',
    }),
    compressed(OP.message, ping.length, 2, deflateSync(ping)),
    framed(
      OP.message,
      sections(
        0,
        commandSection({ find: 'c', $db: 'd' }),
        sequence(undefined, 'documents\0', serialize({ a: 1 })),
      ),
    ),
  ];
  const rounds = fuzzed(150);
  for (let round = 0; round < rounds; round++) {
    const bytes = damaged(random, randomPick(random, good));
    const line = new Line(server.port);
    line.send(bytes);
    // A message that says it is longer than it is is waited for, so what follows may be part of it.
    line.send(message(PING));
    const first = await Promise.race([
      line.answer(),
      new Promise<'waits'>((resolve) => setTimeout(() => resolve('waits'), 30)),
    ]);
    if (first instanceof Buffer) assert.ok(first.length > 16, `seed ${seed}`);
    line.end();
  }
  await isUp();
});

function damaged(random: Random, good: Buffer): Buffer {
  const bytes = Buffer.from(good);
  for (let left = 1 + randomInteger(random, 4); left > 0; left--) {
    bytes[randomInteger(random, bytes.length)] = randomInteger(random, 256);
  }
  return random() < 0.2 ? bytes.subarray(0, 1 + randomInteger(random, bytes.length)) : bytes;
}

test('what strangers send and never finish is bounded', async () => {
  const before = process.memoryUsage().rss;
  const lines = Array.from({ length: 100 }, () => new Line(server.port));
  // Each promises as much as a stranger may, and sends nearly all of it.
  const most = 1024 * 1024;
  for (const line of lines)
    line.send(Buffer.concat([header(most, OP.message), Buffer.alloc(most - 17)]));
  await isUp();
  const grown = process.memoryUsage().rss - before;
  assert.ok(grown < 600 * 1024 * 1024, `${grown}`);
  for (const line of lines) line.end();
});
