// Batches and bulk as rows in HybridRow, the form the .NET SDK sends: answered in the same form.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { type Box, type Headers, keyHeader, ok, type Reply, serve } from './support.suite.js';

const server = await serve();
let box: Box;

beforeEach(async () => {
  box = await server.box({ defaultTtl: -1 });
});

const TYPES = { create: 0, patch: 1, read: 2, delete: 4, replace: 5, upsert: 20 };

interface Operation {
  readonly type: keyof typeof TYPES;
  readonly key?: string;
  readonly id?: string;
  readonly body?: object;
  readonly ifMatch?: string;
  readonly minimal?: boolean;
}

test('a batch is carried out, and each result is a row', async () => {
  const item = { id: '1', pk: 'p', n: 1, text: 'ü'.repeat(100) };
  const reply = await batch([
    { type: 'create', body: item },
    { type: 'upsert', body: { ...item, n: 2 }, minimal: true },
    { type: 'read', id: '1' },
    { type: 'patch', id: '1', body: { operations: [{ op: 'incr', path: '/n', value: 3 }] } },
    { type: 'replace', id: '1', body: { ...item, n: 9 } },
    { type: 'create', body: { id: '2', pk: 'p', ttl: 60 } },
    { type: 'delete', id: '2' },
  ]);
  ok(reply, 200);
  assert.equal(reply.headers['content-type'], 'application/octet-stream');
  assert.match(String(reply.headers['x-ms-session-token']), /^0:-1#1$/);
  const results = rowsIn(reply);
  assert.deepEqual(
    results.map(({ status }) => status),
    [201, 200, 200, 200, 200, 201, 204],
  );
  assert.deepEqual(
    results.map(({ body }) => body?.n),
    [1, undefined, 2, 5, 9, undefined, undefined],
  );
  assert.equal(results[1]?.body, undefined);
  const read = ok(await box.read('1'), 200);
  assert.deepEqual(results[4]?.body, read.json);
  assert.equal(results[4]?.etag, read.headers.etag);
  const charge = results.reduce((sum, result) => sum + (result.charge ?? 0), 0);
  assert.ok(Math.abs(charge - Number(reply.headers['x-ms-request-charge'])) < 0.02);
});

test('a refused operation fails the batch, and nothing is written', async () => {
  ok(await box.create({ id: '1', pk: 'p' }), 201);
  const reply = await batch([
    { type: 'create', body: { id: '2', pk: 'p' } },
    { type: 'replace', id: '1', body: { id: '1', pk: 'p' }, ifMatch: '"other"' },
    { type: 'delete', id: '1' },
  ]);
  assert.deepEqual(
    rowsIn(ok(reply, 207)).map(({ status }) => status),
    [424, 412, 424],
  );
  ok(await box.read('2'), 404);
});

test('bulk has a key for each operation and goes on after an error', async () => {
  const headers = {
    'x-ms-cosmos-batch-atomic': 'False',
    'x-ms-cosmos-batch-continue-on-error': 'True',
    'x-ms-documentdb-partitionkeyrangeid': '0',
  };
  const operations: readonly Operation[] = [
    { type: 'create', key: 'a', body: { id: '1', pk: 'a' } },
    { type: 'create', key: 'a', body: { id: '1', pk: 'a' } },
    { type: 'create', key: 'b', body: { id: '1', pk: 'b', ttl: 0 } },
    { type: 'upsert', key: 'c', body: { id: '1', pk: 'c' } },
  ];
  const reply = ok(await send(operations, headers), 207);
  assert.deepEqual(
    rowsIn(reply).map(({ status }) => status),
    [201, 409, 400, 201],
  );
  ok(await box.read('1', 'c'), 200);
  assert.equal((await send(operations, { ...headers, [RANGE]: '7' })).status, 410);
});

test('an empty batch and one of 101 operations are refused as JSON', async () => {
  assert.match(ok(await batch([]), 400).json.message as string, /at least one operation/);
  const many = Array.from({ length: 101 }, () => ({ type: 'read', id: '1' }) as const);
  assert.match(ok(await batch(many), 400).json.message as string, /101/);
});

const RANGE = 'x-ms-documentdb-partitionkeyrangeid';

function batch(operations: readonly Operation[]): Promise<Reply> {
  return send(operations, { 'x-ms-cosmos-batch-atomic': 'True', ...keyHeader('p') });
}

function send(operations: readonly Operation[], headers: Headers): Promise<Reply> {
  const body = Buffer.concat([
    Buffer.from('81f0d8ff7f010a000000', 'hex'),
    ...operations.flatMap((operation) => {
      const row = rowOf(operation);
      return [Buffer.from('81f1d8ff7f', 'hex'), int32(row.length), uint32(crc32(row)), row];
    }),
  ]);
  return server.send('POST', `${box.path}/docs`, {
    body,
    headers: { 'x-ms-cosmos-is-batch-request': 'True', ...headers },
  });
}

function rowOf({ type, key, id, body, ifMatch, minimal }: Operation): Buffer {
  const keyText = key === undefined ? undefined : JSON.stringify([key]);
  const columns = [keyText, undefined, id, undefined, body && JSON.stringify(body)];
  let presence = 0b11;
  const values = columns.flatMap((column, index) => {
    if (column === undefined) return [];
    presence |= 1 << (2 + index);
    return [lengthOf(column), Buffer.from(column)];
  });
  return Buffer.concat([
    Buffer.from('817054e17f', 'hex'),
    Buffer.of(presence),
    int32(TYPES[type]),
    int32(3),
    ...values,
    ...(ifMatch ? [Buffer.of(20, 9), lengthOf(ifMatch), Buffer.from(ifMatch)] : []),
    ...(minimal ? [Buffer.of(3, 12)] : []),
  ]);
}

interface Result {
  readonly status: number;
  readonly etag: string | undefined;
  readonly body: { readonly n?: number } | undefined;
  readonly charge: number | undefined;
}

function rowsIn({ bytes }: Reply): readonly Result[] {
  assert.equal(bytes.subarray(0, 10).toString('hex'), '81f0d8ff7f010a000000');
  const results: Result[] = [];
  for (let at = 10; at < bytes.length; ) {
    assert.equal(bytes.subarray(at, at + 5).toString('hex'), '81f1d8ff7f');
    const row = bytes.subarray(at + 13, at + 13 + bytes.readInt32LE(at + 5));
    assert.equal(bytes.readUInt32LE(at + 9), crc32(row));
    results.push(resultIn(row));
    at += 13 + row.length;
  }
  return results;
}

function resultIn(row: Buffer): Result {
  assert.equal(row.subarray(0, 5).toString('hex'), '817154e17f');
  const presence = row[5] ?? 0;
  let at = 14;
  const next = (bit: number): string | undefined => {
    if (!(presence & bit)) return undefined;
    let [length, shift] = [0, 0];
    for (let byte = 0x80; byte >= 0x80; shift += 7) {
      byte = row[at++] ?? 0;
      length |= (byte & 0x7f) << shift;
    }
    at += length;
    return row.subarray(at - length, at).toString();
  };
  const [etag, body] = [next(4), next(8)];
  const charge = row.subarray(at, at + 2).toString('hex') === '1006' ? row.readDoubleLE(at + 2) : 0;
  return { status: row.readInt32LE(6), etag, body: body && JSON.parse(body), charge };
}

function lengthOf(text: string): Buffer {
  const length = Buffer.byteLength(text);
  return length < 0x80 ? Buffer.of(length) : Buffer.of((length & 0x7f) | 0x80, length >> 7);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
