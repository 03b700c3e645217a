// Operations and results byte by byte, as the layout of the format says; and bodies that are none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { randomInteger, seededRandom, seedFromEnvironment } from '../../value/random.suite.js';
import { readOperations, writeAnswers } from './batch-rows.js';
import { writeRecords } from './record-io.js';

const SEGMENT = '81 f0d8ff7f 01 0a000000';
const NOTHING = {
  ...{ subStatus: 0, charge: 1, etag: undefined, body: undefined },
  ...{ message: undefined, retryAfterMs: undefined },
};

test('an operation is read from its columns', () => {
  const row = hex(
    '81 7054e17f', // version, schema
    '57', // operationType, resourceType, partitionKey, id, resourceBody
    '05000000 03000000', // replace, document
    '05',
    '5b2261225d', // ["a"]
    '01',
    '31', // 1
    '13',
    '7b226964223a2231222c22706b223a2261227d',
    '14 09 03',
    '226522', // ifMatch: "e"
    '03 0c', // minimalReturnPreference: true
    '14 08 07',
    '44656661756c74', // indexingDirective: Default
  );
  const [operation, ...more] = readOperations(framed(row));
  assert.deepEqual(more, []);
  const value = {
    operationType: 'Replace',
    partitionKey: '["a"]',
    id: '1',
    resourceBody: { id: '1', pk: 'a' },
    ifMatch: '"e"',
    minimalReturnPreference: true,
  };
  assert.deepEqual(operation?.value, value);
  assert.deepEqual(JSON.parse(operation?.text ?? ''), value);
});

test('columns that are missing take no room, but for fixed ones', () => {
  const row = hex('81 7054e17f', '11', '04000000 00000000', '01', '31');
  assert.deepEqual(readOperations(framed(row))[0]?.value, { operationType: 'Delete', id: '1' });
});

test('sparse columns may have their names, and other types than the layout knows', () => {
  const named = hex('14 14', Buffer.from('ifMatch').toString('hex'), '01', '2a');
  const ttl = hex('07 0b', '0a000000');
  const start = hex('81 7054e17f', '11', '02000000 00000000', '01', '31');
  const [operation] = readOperations(framed(Buffer.concat([start, named, ttl])));
  assert.deepEqual(operation?.value, {
    ...{ operationType: 'Read', id: '1', ifMatch: '*', timeToLiveInSeconds: 10 },
  });
});

for (const [number, name] of [
  [0, 'Create'],
  [1, 'Patch'],
  [2, 'Read'],
  [4, 'Delete'],
  [5, 'Replace'],
  [20, 'Upsert'],
  [7, '7'],
] as const) {
  test(`operation type ${number} is ${name}`, () => {
    const type = Buffer.alloc(4);
    type.writeInt32LE(number);
    const row = hex('81 7054e17f', '01', type.toString('hex'), '00000000');
    assert.deepEqual(readOperations(framed(row))[0]?.value, { operationType: name });
  });
}

test('results are written with their columns, a checksum and a length each', () => {
  const body = Buffer.from('{"id":"1"}');
  const answers = [
    { ...NOTHING, status: 201, charge: 6.5, etag: '"e"', body },
    { ...NOTHING, status: 429, subStatus: 3200, charge: 0, retryAfterMs: 1000 },
  ];
  const rows = [
    hex(
      '81 7154e17f',
      '0f',
      'c9000000 00000000',
      '03',
      '226522',
      '0a',
      body.toString('hex'),
      '10 06',
      '0000000000001a40',
    ),
    hex('81 7154e17f', '03', 'ad010000 800c0000', '0b 05', 'e8030000', '10 06', '00'.repeat(8)),
  ];
  const expected = Buffer.concat([hex(SEGMENT), ...rows.flatMap(recorded)]);
  assert.equal(writeAnswers(answers).toString('hex'), expected.toString('hex'));
});

test('a body longer than 127 bytes has a length of two', () => {
  const text = JSON.stringify({ id: 'x'.repeat(200) });
  const bytes = Buffer.from(text);
  const row = hex('81 7054e17f', '43', '00000000 00000000', 'd1 01', bytes.toString('hex'));
  assert.equal(bytes.length, 0xd1);
  assert.deepEqual(readOperations(framed(row))[0]?.value, {
    operationType: 'Create',
    resourceBody: JSON.parse(text),
  });
});

test('an item may be in binary JSON', () => {
  const row = hex('81 7054e17f', '43', '00000000 00000000', '05', '80e92c8131');
  const [operation] = readOperations(framed(row));
  assert.deepEqual(operation?.value, { operationType: 'Create', resourceBody: { id: '1' } });
  assert.equal(operation?.text, '{"operationType":"Create","resourceBody":{"id":"1"}}');
});

const ROW = hex('81 7054e17f', '11', '02000000 00000000', '01', '31');

for (const [what, body, says] of [
  ['an empty stream of records', hex(SEGMENT), undefined],
  ['a record before any segment', Buffer.concat(recorded(ROW)), 'a row has the schema'],
  ['a row of another schema', framed(hex('81 7154e17f', '00', '00'.repeat(8))), 'the schema'],
  ['a row of another version', framed(hex('80 7054e17f', '00', '00'.repeat(8))), 'the version'],
  ['a short segment', hex('81 f0d8ff7f 01 09000000'), 'a segment has the length 9'],
  ['a long segment', hex('81 f0d8ff7f 01 0b000000'), 'a segment has the length 11'],
  ['a segment without a length', hex('81 f0d8ff7f 00 00000000'), 'length undefined'],
  ['a negative record', hex(SEGMENT, '81 f1d8ff7f ffffffff 00000000'), 'the length -1'],
  ['a wrong checksum', hex(SEGMENT, '81 f1d8ff7f 05000000 00000000 817054e17f'), 'checksum'],
  ['a length beyond the row', framed(hex('81 7054e17f 10 0000000000000000 05 31')), 'ends in'],
  ['an endless length', framed(hex('81 7054e17f 10 0000000000000000 ffffffffff')), 'too long'],
  ['a column without a name', framed(Buffer.concat([ROW, hex('14 00 00')])), 'no name'],
  ['a column of a strange type', framed(Buffer.concat([ROW, hex('1e 09')])), 'the type 30'],
  ['a text that is none', framed(hex('81 7054e17f 10 0000000000000000 01 ff')), 'no UTF-8'],
  ['an item that is no JSON', framed(hex('81 7054e17f 40 0000000000000000 01 7b')), 'payload'],
  ['an item of half', framed(hex('81 7054e17f 40 0000000000000000 01 80')), 'binary JSON'],
] as const) {
  test(`${what} is ${says ? 'refused' : 'none'}`, () => {
    if (!says) assert.deepEqual(readOperations(body), []);
    else assert.throws(() => readOperations(body), new RegExp(says));
  });
}

test('no damage is read beyond the end or without an end', (t) => {
  const seed = seedFromEnvironment();
  t.diagnostic(`SEED=${seed}`);
  const random = seededRandom(seed);
  const whole = framed(Buffer.concat([ROW, hex('14 09 01 2a')]));
  for (let round = 0; round < 2000; round++) {
    const body = Buffer.from(whole);
    body[randomInteger(random, body.length)] = randomInteger(random, 256);
    const cut = body.subarray(0, randomInteger(random, body.length + 1));
    for (const damaged of [body, cut]) {
      try {
        readOperations(damaged);
      } catch (error) {
        assert.equal((error as { code?: string }).code, 'invalidInput', `SEED=${seed}`);
      }
    }
  }
});

test('what is written is read again', () => {
  const rows = [ROW, hex('81 7054e17f', '01', '00000000 00000000')];
  assert.equal(readOperations(writeRecords(rows)).length, 2);
});

function framed(row: Buffer): Buffer {
  return Buffer.concat([hex(SEGMENT), ...recorded(row)]);
}

function recorded(row: Buffer): readonly Buffer[] {
  const numbers = Buffer.alloc(8);
  numbers.writeInt32LE(row.length);
  numbers.writeUInt32LE(crc32(row), 4);
  return [hex('81 f1d8ff7f'), numbers, row];
}

function hex(...parts: readonly string[]): Buffer {
  return Buffer.from(parts.join('').replaceAll(' ', ''), 'hex');
}
