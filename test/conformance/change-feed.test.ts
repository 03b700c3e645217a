// The change feed, latest version only: where it begins and goes on, what it is limited to, what it
// shows and what not, and that nothing is missed while others write.
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import {
  type ChangeFeedIteratorOptions,
  type ChangeFeedIteratorResponse,
  ChangeFeedMode,
  ChangeFeedStartFrom,
  type Container,
} from '@azure/cosmos';
import {
  type Box,
  documents,
  type Headers,
  headerOf,
  type Json,
  keyHeader,
  listOf,
  NOON,
  NOON_SECONDS,
  ok,
  type Reply,
  refused,
  serve,
} from './support.suite.js';

const server = await serve();
const client = server.client();
const FEED = { 'a-im': 'Incremental feed' };
const THREE_RANGES = { 'x-ms-offer-throughput': '25100' };
const RANGES = 'PartitionKeyRanges';
let box: Box;

beforeEach(async () => {
  server.clock.set(NOON);
  box = await server.box({ defaultTtl: -1 });
});

describe('on the wire', () => {
  test('a page has the items with their positions, and an etag to go on from', async () => {
    const { _rid: rid } = ok(await server.send('GET', box.path), 200).json;
    const created = await fill(2);
    const reply = ok(await box.list(FEED), 200);
    const Documents = created.map((item, index) => ({ ...item, _lsn: index + 1 }));
    assert.deepEqual(reply.json, { _rid: rid, Documents, _count: 2 });
    assert.equal(reply.headers.etag, '"2"');
    assert.equal(reply.headers['x-ms-item-count'], '2');
    assert.equal(reply.headers.lsn, '2');
    assert.equal(reply.headers['x-ms-session-token'], '0:-1#2');
  });

  test('where nothing is new, 304 has no body and the same etag', async () => {
    await fill(2);
    const first = nothingNew(await box.list({ ...FEED, 'if-none-match': '"2"' }));
    assert.equal(first, '"2"');
    assert.equal(nothingNew(await box.list({ ...FEED, 'if-none-match': first })), first);
    assert.equal(nothingNew(await (await server.box()).list(FEED)), '"0"');
  });

  test('the mode is read without regard to case', async () => {
    await fill(1);
    for (const mode of ['Incremental Feed', 'incremental feed', 'INCREMENTAL FEED']) {
      ok(await box.list({ 'a-im': mode }), 200);
    }
  });

  test('other modes are refused by name', async () => {
    for (const mode of ['Partial Feed', 'feed']) {
      refused(await box.list({ 'a-im': mode }), 400, 0, mode);
    }
  });

  for (const size of [1, 2, 3, 7, 10, 11]) {
    test(`pages of ${size} hold each of 10 items once`, async () => {
      await fill(10);
      const pages = await drain(box, { 'x-ms-max-item-count': String(size) });
      assert.deepEqual(
        pages.flatMap(documents).map(({ _lsn }) => _lsn),
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
      );
      for (const page of pages) assert.ok(documents(page).length <= size);
      assert.equal(pages.length, Math.ceil(10 / size));
    });
  }

  test('a page ends soon after 4 MB', async () => {
    const filler = 'x'.repeat(1_500_000);
    for (let n = 0; n < 4; n++) ok(await box.create({ id: `i${n}`, pk: 'p', filler }), 201);
    const pages = await drain(box);
    assert.deepEqual(
      pages.map((page) => documents(page).length),
      [3, 1],
    );
  });

  test('an etag goes on from any client, quoted or not, and outdoes a time', async () => {
    await fill(3);
    const since = { 'if-modified-since': new Date(NOON + 60_000).toUTCString() };
    for (const etag of ['"2"', '2']) {
      const page = ok(await box.list({ ...FEED, ...since, 'if-none-match': etag }), 200);
      assert.deepEqual(idsOf(page), ['i2']);
      assert.deepEqual(idsOf(ok(await box.list({ ...FEED, 'x-ms-continuation': etag }), 200)), [
        'i2',
      ]);
    }
  });

  test('positions and times that are none are refused', async () => {
    await fill(1);
    const wrong: readonly (readonly [string, string, string])[] = [
      ['if-none-match', 'junk', 'if-none-match'],
      ['if-none-match', '"1', 'if-none-match'],
      ['if-none-match', '-1', 'if-none-match'],
      ['if-none-match', '"1@"', 'if-none-match'],
      ['if-none-match', '"2"', 'not reached'],
      ['if-none-match', '"999999999999999"', 'not reached'],
      ['x-ms-continuation', 'junk', 'x-ms-continuation'],
      ['if-modified-since', 'yesterday', 'if-modified-since'],
      ['if-modified-since', '2030-06-01', 'if-modified-since'],
      ['if-modified-since', 'Sat, 99 Jun 2030 12:00:00 GMT', 'if-modified-since'],
    ];
    for (const [name, value, text] of wrong) {
      refused(await box.list({ ...FEED, [name]: value }), 400, 0, text);
    }
  });

  test('an item that has _lsn already shows its position once', async () => {
    ok(await box.create({ id: '1', pk: 'p', _lsn: 77, in: { _lsn: 5 } }), 201);
    ok(await box.create({ id: '2', pk: 'p', in: { _lsn: 5 } }), 201);
    const page = ok(await box.list(FEED), 200);
    assert.deepEqual(
      documents(page).map((item) => [item._lsn, item.in]),
      [1, 2].map((lsn) => [lsn, { _lsn: 5 }]),
    );
    assert.equal(page.text.match(/"_lsn":[127]/g)?.length, 2);
  });

  test('the newer format has what is not the item beside it; others are refused', async () => {
    const [item] = await fill(1);
    const name = 'x-ms-cosmos-changefeed-wire-format-version';
    const page = ok(await box.list({ ...FEED, [name]: '2021-09-15' }), 200);
    const metadata = { lsn: 1, crts: NOON_SECONDS };
    assert.deepEqual(documents(page), [{ current: item, metadata }]);
    refused(await box.list({ ...FEED, [name]: '2020-01-01' }), 400, 0, name);
  });

  test('a range that is none is gone', async () => {
    const headers = { ...FEED, 'x-ms-documentdb-partitionkeyrangeid': '7' };
    refused(await box.list(headers), 410, 1002);
  });

  test('a container that is none has no feed', async () => {
    refused(await server.send('GET', '/dbs/none/colls/c/docs', { headers: FEED }), 404, 1003);
  });
});

describe('what is shown', () => {
  test('an item that changes again moves to the end, as it is now', async () => {
    await fill(3);
    ok(await box.replace({ id: 'i0', pk: 'p0', n: 1 }), 200);
    ok(await box.upsert({ id: 'i1', pk: 'p1', n: 2 }), 200);
    const page = ok(await box.list(FEED), 200);
    assert.deepEqual(
      documents(page).map(({ id, n, _lsn }) => [id, n, _lsn]),
      [
        ['i2', 2, 3],
        ['i0', 1, 4],
        ['i1', 2, 5],
      ],
    );
  });

  test('a batch is one change and on one page; a patch moves its item', async () => {
    const container = client.database(box.database).container('c');
    const batch = ['1', '2', '3'].map(
      (id) => ({ operationType: 'Create', resourceBody: { id, pk: 'p' } }) as const,
    );
    assert.equal((await container.items.batch([...batch], 'p')).code, 200);
    await container.item('2', 'p').patch([{ op: 'add', path: '/n', value: 1 }]);
    const pages = await drain(box, { 'x-ms-max-item-count': '1' });
    assert.deepEqual(
      pages.map((page) => documents(page).map(({ id, n, _lsn }) => [id, n, _lsn])),
      [
        [
          ['1', undefined, 1],
          ['3', undefined, 1],
        ],
        [['2', 1, 2]],
      ],
    );
  });

  test('what is deleted leaves no trace, and a new life is a change', async () => {
    await fill(2);
    const etag = { 'if-none-match': String(ok(await box.list(FEED), 200).headers.etag) };
    ok(await box.remove('i0', 'p0'), 204);
    assert.equal(nothingNew(await box.list({ ...FEED, ...etag })), '"3"');
    assert.deepEqual(idsOf(ok(await box.list(FEED), 200)), ['i1']);
    ok(await box.create({ id: 'i0', pk: 'p0' }), 201);
    assert.deepEqual(idsOf(ok(await box.list({ ...FEED, ...etag }), 200)), ['i0']);
  });

  test('T10: an expired item is not shown, purged or not', async () => {
    ok(await box.create({ id: 'short', pk: 'p', ttl: 10 }), 201);
    ok(await box.create({ id: 'long', pk: 'p' }), 201);
    server.clock.advance(9_000);
    assert.deepEqual(idsOf(ok(await box.list(FEED), 200)), ['short', 'long']);
    server.clock.advance(1_000);
    assert.deepEqual(idsOf(ok(await box.list(FEED), 200)), ['long']);
    ok(await server.control('POST', 'purge'), 200);
    assert.equal(await box.stored(), 1);
    assert.deepEqual(idsOf(ok(await box.list(FEED), 200)), ['long']);
    assert.equal(nothingNew(await box.list({ ...FEED, 'if-none-match': '"2"' })), '"3"');
  });

  test('T10: what expires between two pages is not on the second', async () => {
    ok(await box.create({ id: '1', pk: 'p' }), 201);
    ok(await box.create({ id: '2', pk: 'p', ttl: 10 }), 201);
    const first = ok(await box.list({ ...FEED, 'x-ms-max-item-count': '1' }), 200);
    server.clock.advance(10_000);
    const etag = nothingNew(
      await box.list({ ...FEED, 'if-none-match': String(first.headers.etag) }),
    );
    assert.equal(etag, '"2"');
  });

  test('a time begins with its second; later changes are all shown', async () => {
    await fill(1);
    server.clock.advance(10_000);
    ok(await box.create({ id: 'later', pk: 'p' }), 201);
    server.clock.set(NOON);
    ok(await box.create({ id: 'set back', pk: 'p' }), 201);
    for (const [seconds, ids] of [
      [NOON_SECONDS, ['i0', 'later', 'set back']],
      [NOON_SECONDS + 1, ['later', 'set back']],
      [NOON_SECONDS + 10, ['later', 'set back']],
    ] as const) {
      const since = { 'if-modified-since': new Date(seconds * 1000).toUTCString() };
      assert.deepEqual(idsOf(ok(await box.list({ ...FEED, ...since }), 200)), ids);
    }
  });

  test('a time yet to come is waited for', async () => {
    await fill(1);
    const since = { 'if-modified-since': new Date((NOON_SECONDS + 60) * 1000).toUTCString() };
    const etag = { 'if-none-match': nothingNew(await box.list({ ...FEED, ...since })) };
    ok(await box.create({ id: 'early', pk: 'p' }), 201);
    nothingNew(await box.list({ ...FEED, ...etag }));
    server.clock.advance(60_000);
    ok(await box.create({ id: 'due', pk: 'p' }), 201);
    const page = ok(await box.list({ ...FEED, ...etag }), 200);
    assert.deepEqual(idsOf(page), ['due']);
    assert.equal(page.headers.etag, '"3"');
  });
});

for (const [ranges, throughput] of [
  [1, {}],
  [3, THREE_RANGES],
] as const) {
  describe(`through the SDK, ${ranges} range(s)`, () => {
    let container: Container;
    const ids = Array.from({ length: 30 }, (_, n) => `i${n}`);

    beforeEach(async () => {
      box = await server.box({}, throughput);
      container = client.database(box.database).container('c');
      const { length } = await container.getFeedRanges();
      assert.equal(length, ranges);
      await fill(30);
    });

    test('from the beginning: everything once, in order within a partition', async () => {
      const feed = await read(container, { maxItemCount: 4 });
      assert.deepEqual([...feed.ids].sort(), [...ids].sort());
      assert.equal(feed.last.statusCode, 304);
      assert.equal(feed.last.count, 0);
      for (const key of ['p0', 'p1', 'p2']) {
        const own = feed.ids.filter((id) => `p${Number(id.slice(1)) % 7}` === key);
        const sorted = [...own].sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)));
        assert.deepEqual(own, sorted);
      }
    });

    test('an iterator goes on for ever, and shows what comes', async () => {
      const changeFeedStartFrom = ChangeFeedStartFrom.Beginning();
      const iterator = container.items.getChangeFeedIterator({ changeFeedStartFrom });
      await drained(iterator);
      assert.equal(iterator.hasMoreResults, true);
      await container.item('i3', 'p3').replace({ id: 'i3', pk: 'p3', again: true });
      assert.deepEqual((await drained(iterator)).ids, ['i3']);
      assert.deepEqual((await drained(iterator)).ids, []);
    });

    test('from now: only what comes', async () => {
      const changeFeedStartFrom = ChangeFeedStartFrom.Now();
      const iterator = container.items.getChangeFeedIterator({ changeFeedStartFrom });
      assert.equal((await iterator.readNext()).statusCode, 304);
      await container.items.create({ id: 'new', pk: 'p' });
      assert.deepEqual((await drained(iterator)).ids, ['new']);
    });

    test('from a time', async () => {
      server.clock.advance(60_000);
      await container.items.create({ id: 'a', pk: 'p1' });
      await container.items.create({ id: 'b', pk: 'p2' });
      const time = new Date(NOON + 30_000);
      const feed = await read(container, { changeFeedStartFrom: ChangeFeedStartFrom.Time(time) });
      assert.deepEqual([...feed.ids].sort(), ['a', 'b']);
    });

    test('from a continuation', async () => {
      const { last } = await read(container, {});
      await container.items.create({ id: 'new', pk: 'p' });
      const changeFeedStartFrom = ChangeFeedStartFrom.Continuation(last.continuationToken);
      assert.deepEqual((await read(container, { changeFeedStartFrom })).ids, ['new']);
    });

    test('of a partition key, and on from there', async () => {
      const from = ChangeFeedStartFrom.Beginning('p2');
      const feed = await read(container, { changeFeedStartFrom: from, maxItemCount: 2 });
      assert.deepEqual(feed.ids, ['i2', 'i9', 'i16', 'i23']);
      await container.items.create({ id: 'other', pk: 'p3' });
      await container.items.create({ id: 'new', pk: 'p2' });
      const on = ChangeFeedStartFrom.Continuation(feed.last.continuationToken);
      assert.deepEqual((await read(container, { changeFeedStartFrom: on })).ids, ['new']);
    });

    test('by feed ranges, which tile the container', async () => {
      const seen: string[] = [];
      for (const range of await container.getFeedRanges()) {
        const changeFeedStartFrom = ChangeFeedStartFrom.Beginning(range);
        const feed = await read(container, { changeFeedStartFrom, maxItemCount: 3 });
        seen.push(...feed.ids);
      }
      assert.deepEqual(seen.sort(), [...ids].sort());
    });

    test('all versions and deletes are not kept without a policy', async () => {
      const iterator = container.items.getChangeFeedIterator({
        changeFeedStartFrom: ChangeFeedStartFrom.Now(),
        changeFeedMode: ChangeFeedMode.AllVersionsAndDeletes,
      });
      await assert.rejects(iterator.readNext(), /changeFeedPolicy.retentionDuration/);
    });

    test('8 writers and a reader: no change is missing', async () => {
      await assertNothingMissed(container);
    });
  });
}

test('ranges may split under an iterator', async () => {
  const container = client.database(box.database).container('c');
  await fill(30);
  const changeFeedStartFrom = ChangeFeedStartFrom.Beginning();
  const options = { changeFeedStartFrom, maxItemCount: 7 };
  const iterator = container.items.getChangeFeedIterator(options);
  const first = (await iterator.readNext()).result.map(({ id }) => id);
  assert.equal(first.length, 7);
  const { resource: offer } = await container.readOffer();
  assert.ok(offer?.content);
  const content = { ...offer.content, offerThroughput: 25_100 };
  await client.offer(offer.id).replace({ ...offer, content });
  assert.equal(listOf(await server.send('GET', `${box.path}/pkranges`), RANGES).length, 3);
  await container.items.create({ id: 'new', pk: 'p' });
  const all = [...first, ...(await drained(iterator)).ids];
  assert.equal(all.length, 31);
  assert.equal(new Set(all).size, 31);
});

test('by spans of effective partition keys, which tile the container', async () => {
  await fill(30);
  const bounds = ['', '0AAA', '15', '2F00', 'FF'];
  const pages: string[] = [];
  for (const [index, to] of bounds.slice(1).entries()) {
    const span = { 'x-ms-start-epk': bounds[index] ?? '', 'x-ms-end-epk': to };
    const type = { 'x-ms-read-key-type': 'EffectivePartitionKeyRange' };
    const found = (await drain(box, { ...span, ...type })).flatMap(idsOf);
    assert.ok(found.length < 30);
    pages.push(...found);
  }
  assert.equal(new Set(pages).size, 30);
  assert.equal(pages.length, 30);
});

test('of the beginning of a hierarchical key', async () => {
  const partitionKey = { paths: ['/t', '/u'], kind: 'MultiHash', version: 2 };
  box = await server.box({ partitionKey }, THREE_RANGES);
  const container = client.database(box.database).container('c');
  for (const [id, t, u] of [
    ['1', 'a', 'x'],
    ['2', 'b', 'x'],
    ['3', 'a', 'y'],
  ] as const) {
    await container.items.create({ id, t, u });
  }
  const changeFeedStartFrom = ChangeFeedStartFrom.Beginning(['a']);
  assert.deepEqual((await read(container, { changeFeedStartFrom })).ids, ['1', '3']);
  const whole = ChangeFeedStartFrom.Beginning(['a', 'y']);
  assert.deepEqual((await read(container, { changeFeedStartFrom: whole })).ids, ['3']);
  assert.deepEqual((await drain(box, keyHeader('a'))).flatMap(idsOf), ['1', '3']);
  assert.deepEqual((await drain(box, keyHeader('b', 'x'))).flatMap(idsOf), ['2']);
});

/** Writers write items again and again; a reader must meet the last version of every one. */
async function assertNothingMissed(container: Container): Promise<void> {
  const changeFeedStartFrom = ChangeFeedStartFrom.Now();
  const iterator = container.items.getChangeFeedIterator({ changeFeedStartFrom, maxItemCount: 5 });
  await iterator.readNext();
  let isWriting = true;
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let n = 0; n < 20; n++) {
      await container.items.upsert({ id: `w${n % 12}`, pk: `p${writer}`, n });
      await container.items.create({ id: `once${n}`, pk: `p${writer}` });
    }
  });
  const done = Promise.all(writers).finally(() => {
    isWriting = false;
  });
  const latest = new Map<string, unknown>();
  const positions = new Map<string, number>();
  for (let isLast = false; !isLast; ) {
    const wasWriting = isWriting;
    const { result = [], statusCode } = await iterator.readNext();
    for (const { id, pk, n, _lsn } of result as unknown as readonly Json[]) {
      const name = `${pk}/${id}`;
      assert.ok(Number(_lsn) > (positions.get(name) ?? 0), `${name} went back`);
      positions.set(name, Number(_lsn));
      latest.set(name, n);
    }
    isLast = !wasWriting && statusCode === 304;
  }
  await done;
  assert.equal(latest.size, 8 * (12 + 20));
  for (let writer = 0; writer < 8; writer++) {
    for (let id = 0; id < 12; id++) {
      assert.equal(latest.get(`p${writer}/w${id}`), id < 8 ? id + 12 : id);
    }
  }
}

async function fill(count: number): Promise<readonly Json[]> {
  const created: Json[] = [];
  for (let n = 0; n < count; n++) {
    created.push(ok(await box.create({ id: `i${n}`, pk: `p${n % 7}`, n }), 201).json);
  }
  return created;
}

/** All pages from the beginning until nothing is new. */
async function drain(from: Box, headers: Headers = {}): Promise<readonly Reply[]> {
  const pages: Reply[] = [];
  for (let etag: Headers = {}; ; ) {
    const page = await from.list({ ...FEED, ...headers, ...etag });
    if (page.status === 304) return pages;
    pages.push(ok(page, 200));
    etag = { 'if-none-match': String(page.headers.etag) };
  }
}

function nothingNew(reply: Reply): string {
  assert.equal(reply.status, 304, reply.text);
  assert.equal(reply.text, '');
  assert.match(String(headerOf(reply, 'etag')), /^"\d+(@\d+)?"$/);
  return String(headerOf(reply, 'etag'));
}

function idsOf(page: Reply): readonly string[] {
  return documents(page).map(({ id }) => String(id));
}

interface Drained {
  readonly ids: readonly string[];
  readonly last: ChangeFeedIteratorResponse<readonly Json[]>;
}

function read(container: Container, options: ChangeFeedIteratorOptions): Promise<Drained> {
  const changeFeedStartFrom = ChangeFeedStartFrom.Beginning();
  return drained(container.items.getChangeFeedIterator({ changeFeedStartFrom, ...options }));
}

async function drained(iterator: {
  readNext(): Promise<ChangeFeedIteratorResponse<unknown>>;
}): Promise<Drained> {
  const ids: string[] = [];
  for (;;) {
    const page = (await iterator.readNext()) as Drained['last'];
    if (page.statusCode === 304) return { ids, last: page };
    ids.push(...page.result.map(({ id }) => String(id)));
  }
}
