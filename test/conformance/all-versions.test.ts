// The change feed of all versions and deletes: what it shows and where it may begin, how long, and
// that the purge tells of what it takes (T18).
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import {
  ChangeFeedMode,
  ChangeFeedPolicy,
  ChangeFeedRetentionTimeSpan,
  ChangeFeedStartFrom,
} from '@azure/cosmos';
import {
  type Box,
  documents,
  type Headers,
  type Json,
  keyHeader,
  NOON,
  NOON_SECONDS,
  ok,
  type Reply,
  refused,
  serve,
} from './support.suite.js';

const server = await serve();
const MINUTES = 5;
const POLICY = { changeFeedPolicy: { retentionDuration: MINUTES } };
const FEED = {
  'a-im': 'Full-Fidelity Feed',
  'x-ms-cosmos-changefeed-wire-format-version': '2021-09-15',
};
const OUTSIDE = 'You must read the change feed from within the retention period.';
let box: Box;

beforeEach(async () => {
  server.clock.set(NOON);
  server.clock.freeze();
  box = await server.box({ defaultTtl: -1, ...POLICY });
});

describe('on the wire', () => {
  test('every version has its envelope', async () => {
    const start = await now();
    const created = ok(await box.create({ id: '1', pk: 'p', n: 1 }), 201).json;
    server.clock.advance(2000);
    const replaced = ok(await box.replace({ id: '1', pk: 'p', n: 2 }), 200).json;
    ok(await box.remove('1'), 204);
    const upserted = ok(await box.upsert({ id: '2', pk: 'p' }), 201).json;
    const patched = ok(await box.patch('2', [{ op: 'set', path: '/n', value: 3 }]), 200).json;
    const reply = ok(await after(start), 200);
    const crts = NOON_SECONDS + 2;
    assert.deepEqual(documents(reply), [
      { current: created, metadata: { operationType: 'create', lsn: 1, crts: NOON_SECONDS } },
      {
        current: replaced,
        previous: created,
        metadata: { operationType: 'replace', lsn: 2, crts, previousImageLSN: 1 },
      },
      {
        previous: replaced,
        metadata: {
          ...{ operationType: 'delete', lsn: 3, crts, previousImageLSN: 2 },
          ...{ id: '1', partitionKey: { pk: 'p' } },
        },
      },
      { current: upserted, metadata: { operationType: 'create', lsn: 4, crts } },
      {
        current: patched,
        previous: upserted,
        metadata: { operationType: 'replace', lsn: 5, crts, previousImageLSN: 4 },
      },
    ]);
    assert.equal(reply.headers.etag, '"5"');
    assert.equal(reply.headers['x-ms-item-count'], '5');
    const end = ok(await after('"5"'), 304);
    assert.equal(end.headers.etag, '"5"');
    assert.equal(end.text, '');
  });

  test('T18: what has expired is a delete when it is purged, and says why', async () => {
    const start = await now();
    const { _ts: _, ...created } = ok(await box.create({ id: '1', pk: 'p', ttl: 10 }), 201).json;
    server.clock.advance(20_000);
    assert.deepEqual(kinds(await after(start)), ['create']);
    await server.mayfly.purge();
    const [, gone] = documents(await after(start)) as { previous: Json; metadata: Json }[];
    assert.equal(gone?.previous._etag, created._etag);
    assert.deepEqual(gone?.metadata, {
      ...{ operationType: 'delete', lsn: 2, crts: NOON_SECONDS + 20, previousImageLSN: 1 },
      ...{ timeToLiveExpired: true, id: '1', partitionKey: { pk: 'p' } },
    });
    const latest = await box.list({ 'a-im': 'Incremental feed', 'if-none-match': start });
    assert.equal(latest.status, 304);
  });

  test('T10: a new item in the place of an expired one comes behind its end', async () => {
    const start = await now();
    ok(await box.create({ id: '1', pk: 'p', ttl: 10 }), 201);
    server.clock.advance(10_000);
    ok(await box.create({ id: '1', pk: 'p' }), 201);
    const reply = await after(start);
    assert.deepEqual(kinds(reply), ['create', 'delete expired', 'create']);
  });

  test('a batch is shown whole, with each step', async () => {
    const start = await now();
    const batch = [
      { operationType: 'Create', resourceBody: { id: '1', pk: 'p' } },
      { operationType: 'Replace', id: '1', resourceBody: { id: '1', pk: 'p', n: 1 } },
      { operationType: 'Delete', id: '1' },
    ];
    const headers = {
      'x-ms-cosmos-is-batch-request': 'true',
      'x-ms-cosmos-batch-atomic': 'true',
      ...keyHeader('p'),
    };
    ok(await server.send('POST', `${box.path}/docs`, { body: batch, headers }), 200);
    const reply = await after(start, { 'x-ms-max-item-count': '1' });
    assert.deepEqual(kinds(reply), ['create', 'replace', 'delete']);
    assert.deepEqual(
      documents(reply).map(({ metadata }) => (metadata as Json).lsn),
      [1, 1, 1],
    );
  });

  test('it begins now or where a page ended, and nowhere else', async () => {
    ok(await box.create({ id: '1', pk: 'p' }), 201);
    refused(await box.list(FEED), 400, 0, OUTSIDE);
    const since = { 'if-modified-since': new Date(NOON).toUTCString() };
    refused(await box.list({ ...FEED, ...since }), 400, 0, OUTSIDE);
    refused(await after('"9"'), 400, 0, 'has not reached');
    assert.deepEqual(kinds(await after('"0"')), ['create']);
  });

  test('it needs a container that keeps versions, and those from before are not there', async () => {
    const plain = await server.box();
    const read = (etag: string) => plain.list({ ...FEED, 'if-none-match': etag });
    refused(await read('*'), 400, 0, 'changeFeedPolicy.retentionDuration');
    ok(await plain.create({ id: '1', pk: 'p' }), 201);
    ok(await plain.redefine(POLICY), 200);
    refused(await read('"0"'), 400, 0, OUTSIDE);
    const etag = String(ok(await read('*'), 304).headers.etag);
    ok(await plain.remove('1'), 204);
    assert.deepEqual(kinds(await read(etag)), ['delete']);
    ok(await plain.redefine({ changeFeedPolicy: { retentionDuration: 0 } }), 200);
    refused(await read(etag), 400, 0, 'changeFeedPolicy.retentionDuration');
  });

  test('versions are kept for the retention and no longer', async () => {
    const start = await now();
    ok(await box.create({ id: '1', pk: 'p' }), 201);
    server.clock.advance(MINUTES * 60_000 - 1);
    assert.deepEqual(kinds(await after(start)), ['create']);
    server.clock.advance(1);
    refused(await after(start), 400, 0, OUTSIDE);
    await server.mayfly.purge();
    refused(await after(start), 400, 0, OUTSIDE);
    ok(await after('"1"'), 304);
    ok(await box.redefine({ changeFeedPolicy: { retentionDuration: 100 } }), 200);
    refused(await after(start), 400, 0, OUTSIDE);
    ok(await box.read('1'), 200);
  });

  test('other modes and formats are refused by name', async () => {
    for (const mode of ['Partial Feed', 'feed']) {
      refused(await box.list({ 'a-im': mode }), 400, 0, mode);
    }
    const format = { 'x-ms-cosmos-changefeed-wire-format-version': '2020-01-01' };
    refused(await after('*', format), 400, 0, '2020-01-01');
  });
});

test('SDK: all versions of a container, a partition key and a range, from now on', async () => {
  const client = server.client();
  const { database } = await client.databases.create({ id: 'sdk' });
  const { container } = await database.containers.create({
    id: 'c',
    partitionKey: '/pk',
    defaultTtl: -1,
    throughput: 25_000,
    changeFeedPolicy: new ChangeFeedPolicy(ChangeFeedRetentionTimeSpan.fromMinutes(MINUTES)),
  });
  const feed = (entity?: unknown) =>
    container.items.getChangeFeedIterator<Version>({
      changeFeedMode: ChangeFeedMode.AllVersionsAndDeletes,
      changeFeedStartFrom: ChangeFeedStartFrom.Now(entity as string),
    });
  const iterators = [feed(), feed('a')];
  for (const range of await container.getFeedRanges()) iterators.push(feed(range));
  const read = async (iterator: ReturnType<typeof feed>) => {
    const seen: Version[] = [];
    for (let quiet = 0; quiet < 2; ) {
      const { result = [], statusCode } = await iterator.readNext();
      seen.push(...(result ?? []));
      quiet = statusCode === 304 ? quiet + 1 : 0;
    }
    return seen.map(
      ({ metadata, current, previous }) => `${(current ?? previous)?.id} ${shownOf(metadata)}`,
    );
  };
  for (const iterator of iterators) assert.deepEqual(await read(iterator), []);
  const keys = ['a', 'b', 'c', 'd'];
  for (const pk of keys) await container.items.create({ id: pk, pk, n: 1, ttl: 10 });
  for (const pk of keys) await container.item(pk, pk).replace({ id: pk, pk, n: 2, ttl: 10 });
  await container.item('b', 'b').delete();
  server.clock.advance(10_000);
  await server.mayfly.purge();
  const story = keys.flatMap((id) => [
    `${id} create`,
    `${id} replace`,
    id === 'b' ? 'b delete' : `${id} delete expired`,
  ]);
  const [all = [], ofA = [], ...ofRanges] = await Promise.all(iterators.map(read));
  assert.deepEqual([...all].sort(), [...story].sort());
  assert.deepEqual(ofA, story.slice(0, 3));
  assert.deepEqual(ofRanges.flat().sort(), [...story].sort());
  await database.delete();
});

interface Version {
  readonly current?: Json;
  readonly previous?: Json;
  readonly metadata: Json;
}

async function now(): Promise<string> {
  return String(ok(await after('*'), 304).headers.etag);
}

function after(etag: string, headers: Headers = {}): Promise<Reply> {
  return box.list({ ...FEED, 'if-none-match': etag, ...headers });
}

function kinds(reply: Reply): readonly string[] {
  return documents(ok(reply, 200)).map(({ metadata }) => shownOf(metadata as Json));
}

function shownOf({ operationType, timeToLiveExpired }: Json): string {
  return `${operationType}${timeToLiveExpired ? ' expired' : ''}`;
}
