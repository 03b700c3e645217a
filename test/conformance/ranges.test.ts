// Partition key ranges: they tile the space of effective partition keys, feeds limited to them tile
// the container, and growing throughput splits them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Box,
  documents,
  type Headers,
  headerOf,
  type Json,
  keyHeader,
  listOf,
  ok,
  type Reply,
  refused,
  serve,
} from './support.suite.js';

const server = await serve();
const V1 = { paths: ['/pk'], kind: 'Hash', version: 1 };
const V2 = { paths: ['/pk'], kind: 'Hash', version: 2 };
const MULTI = { paths: ['/pk', '/user'], kind: 'MultiHash', version: 2 };
const KINDS: readonly (readonly [string, Json])[] = [
  ['version 1', V1],
  ['version 2', V2],
  ['hierarchical keys', MULTI],
];

test('a small container has one range with all properties', async () => {
  const box = await server.box();
  const reply = await rangesReply(box);
  const { _rid: rid, _self: self, _ts: ts } = ok(await server.send('GET', box.path), 200).json;
  assert.equal(reply.json._rid, rid);
  assert.match(String(reply.headers.etag), /^".+"$/);
  const [range, ...others] = listOf(reply, 'PartitionKeyRanges');
  assert.deepEqual(others, []);
  assert.ok(range);
  const { _rid: rangeRid, _etag: etag, lsn: _, ...rest } = range;
  assert.match(String(etag), /^".+"$/);
  const bytes = Buffer.from(String(rangeRid).replaceAll('-', '/'), 'base64');
  assert.equal(bytes.length, 16);
  assert.equal((bytes[15] ?? 0) & 0xf0, 0x50);
  assert.deepEqual(rest, {
    id: '0',
    minInclusive: '',
    maxExclusive: 'FF',
    ridPrefix: 0,
    _self: `${String(self)}pkranges/${String(rangeRid)}/`,
    throughputFraction: 1,
    status: 'online',
    parents: [],
    _ts: ts,
  });
});

test('the same etag answers 304 without a body, as often as it is asked', async () => {
  const box = await server.box();
  const { etag } = (await rangesReply(box)).headers;
  const headers = { 'if-none-match': String(etag), 'a-im': 'Incremental feed' };
  for (let times = 0; times < 3; times++) {
    const current = ok(await server.send('GET', `${box.path}/pkranges`, { headers }), 304);
    assert.equal(current.text, '');
    assert.equal(current.headers.etag, etag);
  }
  const other = { 'if-none-match': '"other"', 'x-ms-max-item-count': '-1' };
  ok(await server.send('GET', `${box.path}/pkranges`, { headers: other }), 200);
});

for (const [what, partitionKey] of KINDS) {
  for (const [throughput, count] of [
    ['10000', 1],
    ['10100', 2],
    ['25100', 3],
    ['100000', 10],
  ] as const) {
    test(`${what}, ${throughput} RU: ${count} ranges tile the space`, async () => {
      const box = await server.box({ partitionKey }, { 'x-ms-offer-throughput': throughput });
      const ranges = await rangesOf(box);
      assert.equal(ranges.length, count);
      checkTiling(ranges);
      const fractions = ranges.map((range) => Number(range.throughputFraction));
      assert.ok(Math.abs(fractions.reduce((sum, each) => sum + each, 0) - 1) < 1e-9);
    });
  }
}

test('autoscale counts with its ceiling', async () => {
  const settings = { 'x-ms-cosmos-offer-autopilot-settings': '{"maxThroughput":20000}' };
  const box = await server.box({}, settings);
  assert.equal((await rangesOf(box)).length, 2);
});

test('two ranges of version 2 meet in the middle', async () => {
  const box = await server.box({ partitionKey: V2 }, { 'x-ms-offer-throughput': '20000' });
  const [low, high] = await rangesOf(box);
  assert.equal(low?.maxExclusive, '1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF');
  assert.equal(high?.minInclusive, '1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF');
});

/** Key, version 2, version 1. */
const EPKS: readonly (readonly [unknown, string, string])[] = [
  ['', '32E9366E637A71B4E710384B2F4970A0', '05C1CF33970FF80800'],
  ['a', '3A5381E1114EB8D3FCC90795045B49B7', '05C1D78593652C086200'],
  ['redmond', '22E342F38A486A088463DFF7838A5963', '05C1EFE313830C087366656E706F6500'],
  [
    'partitionKey',
    '013AEFCF77FA271571CF665A58C933F1',
    '05C1E1B3D9CD2608716273756A756A706F4C667A00',
  ],
  ['é', '007199F104E04116EE25AF912CA4889B', '05C1B3CD91912008C4AA00'],
  [0, '155B95BEDAC4B1E9EC1CDC9BB0DDDE58', '05C1BF6DA115600580'],
  [1, '20CD98B339BA78A5D0CF6953B87070B0', '05C1ED172B6B2605BFF0'],
  [-1, '19938E7A936C1C5B9E3AE842BBC16839', '05C1D1A5BDDF9C054010'],
  [1.5, '35C5DDEB6C795D16A9963C73C54E97BC', '05C1E9694167A805BFF8'],
  [true, '0E711127C5B5A8E4726AC6DD306A3E59', '05C1D7C5A903D803'],
  [false, '2FE1BE91E90A3439635E0E9E37361EF2', '05C1DB857D857C02'],
  [null, '378867E4430E67857ACE5C908374FE16', '05C1ED45D7475601'],
  [undefined, '11622DAA78F835834610ABE56EFF5CB5', '05C1D529E345DC00'],
];

for (const [what, partitionKey, column] of [
  ['version 1', V1, 2],
  ['version 2', V2, 1],
] as const) {
  test(`${what}: each key lies where clients compute it`, async () => {
    const box = await server.box({ partitionKey }, { 'x-ms-offer-throughput': '50000' });
    const ranges = await rangesOf(box);
    for (const [index, row] of EPKS.entries()) {
      const epk = row[column];
      const written = ok(await box.create({ id: `i${index}`, pk: row[0] }, keyHeader(row[0])), 201);
      const home = ranges.find((range) => holds(range, epk));
      const [rangeId] = String(written.headers['x-ms-session-token']).split(':');
      assert.equal(rangeId, home?.id, `${JSON.stringify(row[0])} at ${epk}`);
      assert.deepEqual(await box.ids(span(epk, `${epk}FF`)), [`i${index}`]);
    }
    for (const range of ranges) {
      const inside = EPKS.flatMap((row, index) => (holds(range, row[column]) ? [`i${index}`] : []));
      assert.deepEqual([...(await box.ids(rangeId(range)))].sort(), inside.sort());
    }
  });
}

test('hierarchical keys lie at the hashes of their levels, one after the other', async () => {
  const partitionKey = { paths: ['/pk', '/n', '/f'], kind: 'MultiHash', version: 2 };
  const box = await server.box({ partitionKey });
  ok(await box.create({ id: '1', pk: 'a', n: 1, f: true }, keyHeader('a', 1, true)), 201);
  const [a, one, yes] = [EPKS[1], EPKS[6], EPKS[9]].map((row) => row?.[1]);
  const epk = `${a}${one}${yes}`;
  assert.deepEqual(await box.ids(span(epk, `${epk}FF`)), ['1']);
  assert.deepEqual(await box.ids(span(String(a), `${a}FF`)), ['1']);
  assert.deepEqual(await box.ids(span(`${a}FF`, 'FF')), []);
  assert.deepEqual(await box.ids(span('', epk)), []);
});

for (const [what, partitionKey] of KINDS) {
  test(`${what}: the lists of the ranges tile the container, by id and by span`, async () => {
    const box = await server.box({ partitionKey }, { 'x-ms-offer-throughput': '40000' });
    const all = await fill(box, 60);
    const ranges = await rangesOf(box);
    const byId: string[] = [];
    const bySpan: string[] = [];
    for (const range of ranges) {
      const small = { 'x-ms-max-item-count': '7' };
      const ids = await box.ids({ ...rangeId(range), ...small });
      assert.ok(ids.length > 0);
      byId.push(...ids);
      const bounds = span(String(range.minInclusive), String(range.maxExclusive));
      assert.deepEqual(await box.ids({ ...bounds, ...small }), ids);
      bySpan.push(...(await box.ids({ ...bounds, ...rangeId(range) })));
    }
    assert.deepEqual(byId.sort(), all);
    assert.deepEqual(bySpan.sort(), all);
    assert.deepEqual([...(await box.ids())].sort(), all);
  });
}

test('a span inside a range, and one across two, hold what lies between', async () => {
  const box = await server.box({}, { 'x-ms-offer-throughput': '20000' });
  const all = await fill(box, 40);
  const bounds = ['', '0A', '1F', '20', '3000000000000000000000000000000A', 'FF'];
  const parts: string[] = [];
  for (const [index, from] of bounds.slice(0, -1).entries()) {
    parts.push(...(await box.ids(span(from, bounds[index + 1] ?? 'FF'))));
  }
  assert.deepEqual(parts.sort(), all);
  const [low] = await rangesOf(box);
  assert.deepEqual(await box.ids({ ...rangeId(low ?? {}), ...span('30', 'FF') }), []);
});

test('a range is also named with the rid of its container', async () => {
  const box = await server.box({}, { 'x-ms-offer-throughput': '20000' });
  await fill(box, 20);
  const { _rid: rid } = ok(await server.send('GET', box.path), 200).json;
  const header = 'x-ms-documentdb-partitionkeyrangeid';
  const plain = await box.ids({ [header]: '1' });
  assert.deepEqual(await box.ids({ [header]: `${String(rid)},1` }), plain);
});

test('a range id that is none is refused, and one that is unknown is gone', async () => {
  const box = await server.box();
  const list = (id: string) => box.list({ 'x-ms-documentdb-partitionkeyrangeid': id });
  for (const id of ['abc', '-1', '0.5']) {
    refused(await list(id), 400, 0, `header contains invalid value '${id}'`);
  }
  refused(await list('7'), 410, 1002, "PartitionKeyRange with id '7'");
  const query = { query: 'SELECT * FROM c' };
  const headers = {
    'content-type': 'application/query+json',
    'x-ms-documentdb-isquery': 'True',
    'x-ms-documentdb-partitionkeyrangeid': '7',
  };
  refused(await server.send('POST', `${box.path}/docs`, { body: query, headers }), 410, 1002);
});

test('bounds that are no effective partition keys are refused', async () => {
  const box = await server.box();
  refused(await box.list(span('XY', 'FF')), 400, 0, 'x-ms-start-epk');
  refused(await box.list(span('', 'Z')), 400, 0, 'x-ms-end-epk');
});

for (const [what, partitionKey] of KINDS) {
  test(`${what}: more throughput splits ranges, and the parents are gone`, async () => {
    const box = await server.box({ partitionKey });
    const all = await fill(box, 30);
    const before = (await rangesReply(box)).headers.etag;
    await provision(box, 30_000);
    const reply = await rangesReply(box);
    assert.notEqual(reply.headers.etag, before);
    const ranges = listOf(reply, 'PartitionKeyRanges');
    assert.equal(ranges.length, 3);
    checkTiling(ranges);
    const ids = ranges.map(({ id }) => String(id));
    assert.ok(!ids.includes('0'));
    for (const { parents } of ranges) assert.ok((parents as string[]).includes('0'));
    refused(await box.list({ 'x-ms-documentdb-partitionkeyrangeid': '0' }), 410, 1002);
    const parts: string[] = [];
    for (const range of ranges) parts.push(...(await box.ids(rangeId(range))));
    assert.deepEqual(parts.sort(), all);
  });
}

test('a second split names parents and grandparents; less throughput merges nothing', async () => {
  const box = await server.box({}, { 'x-ms-offer-throughput': '20000' });
  await provision(box, 40_000);
  const quarters = await rangesOf(box);
  assert.equal(quarters.length, 4);
  checkTiling(quarters);
  await provision(box, 80_000);
  const eighths = await rangesOf(box);
  assert.equal(eighths.length, 8);
  checkTiling(eighths);
  const known = new Set(['0', '1', ...quarters.map(({ id }) => String(id))]);
  for (const { id, parents } of eighths) {
    assert.ok(!known.has(String(id)));
    assert.equal((parents as string[]).length, 2);
    for (const parent of parents as string[]) assert.ok(known.has(parent));
  }
  await provision(box, 1000);
  assert.deepEqual(await rangesOf(box), eighths);
});

test('throughput of the database splits the containers that share it', async () => {
  const headers = { 'x-ms-offer-throughput': '400' };
  ok(await server.send('POST', '/dbs', { body: { id: 'shared' }, headers }), 201);
  const body = { id: 'c', partitionKey: V2 };
  ok(await server.send('POST', '/dbs/shared/colls', { body }), 201);
  const { _self: self } = ok(await server.send('GET', '/dbs/shared'), 200).json;
  await provisionFor(String(self), 20_000);
  const reply = ok(await server.send('GET', '/dbs/shared/colls/c/pkranges'), 200);
  const ranges = listOf(reply, 'PartitionKeyRanges');
  assert.equal(ranges.length, 2);
  checkTiling(ranges);
});

test('session tokens name the ranges that an answer is about', async () => {
  const box = await server.box({}, { 'x-ms-offer-throughput': '30000' });
  await fill(box, 30);
  const ranges = await rangesOf(box);
  const every = ranges.map(({ id }) => String(id)).sort();
  assert.deepEqual(tokenRanges(await box.list()).sort(), every);
  for (const range of ranges) {
    assert.deepEqual(tokenRanges(await box.list(rangeId(range))), [range.id]);
    const home = holds(range, EPKS[1]?.[1] ?? '');
    if (home) assert.deepEqual(tokenRanges(await box.list(keyHeader('a'))), [range.id]);
  }
  const written = ok(await box.upsert({ id: '1', pk: 'a' }), 201);
  const read = ok(await box.read('1', 'a'), 200);
  assert.equal(read.headers['x-ms-session-token'], written.headers['x-ms-session-token']);
});

test('SDK: ranges and feed ranges are read', async () => {
  const box = await server.box({}, { 'x-ms-offer-throughput': '25100' });
  const container = server.client().database(box.database).container('c');
  const { resources } = await container.readPartitionKeyRanges().fetchAll();
  assert.deepEqual(
    resources.map(({ id }) => id),
    ['0', '1', '2'],
  );
  assert.equal((await container.getFeedRanges()).length, 3);
});

async function rangesReply(box: Box): Promise<Reply> {
  return ok(await server.send('GET', `${box.path}/pkranges`), 200);
}

async function rangesOf(box: Box): Promise<readonly Json[]> {
  return listOf(await rangesReply(box), 'PartitionKeyRanges');
}

function rangeId(range: Json): Headers {
  return { 'x-ms-documentdb-partitionkeyrangeid': String(range.id) };
}

function span(from: string, to: string): Headers {
  return {
    'x-ms-start-epk': from,
    'x-ms-end-epk': to,
    'x-ms-read-key-type': 'EffectivePartitionKeyRange',
  };
}

function holds(range: Json, epk: string): boolean {
  return String(range.minInclusive) <= epk && epk < String(range.maxExclusive);
}

function checkTiling(ranges: readonly Json[]): void {
  let end: unknown = '';
  for (const { minInclusive, maxExclusive } of ranges) {
    assert.equal(minInclusive, end);
    assert.ok(String(minInclusive) < String(maxExclusive));
    end = maxExclusive;
  }
  assert.equal(end, 'FF');
  assert.equal(new Set(ranges.map(({ id }) => id)).size, ranges.length);
}

function tokenRanges(reply: Reply): string[] {
  const parts = String(headerOf(ok(reply, 200), 'x-ms-session-token')).split(',');
  for (const part of parts) assert.match(part, /^\d+:-?\d+#\d+(#\d+=\d+)*$/);
  return parts.map((part) => part.split(':')[0] ?? '');
}

/** Items spread over many keys; gives back their ids in order. */
async function fill(box: Box, count: number): Promise<readonly string[]> {
  const { paths } = box.definition.partitionKey as { readonly paths: readonly string[] };
  const items = Array.from({ length: count }, (_, index) => ({
    id: `item-${String(index).padStart(3, '0')}`,
    pk: `key ${index}`,
    user: index,
  }));
  for (const item of items) {
    const key = paths.length === 2 ? keyHeader(item.pk, item.user) : keyHeader(item.pk);
    const { _self: self } = ok(await box.create(item, key), 201).json;
    assert.ok(self);
  }
  assert.equal(documents(await box.list({ 'x-ms-max-item-count': '-1' })).length, count);
  return items.map(({ id }) => id);
}

async function provision(box: Box, throughput: number): Promise<void> {
  const { _self: self } = ok(await server.send('GET', box.path), 200).json;
  await provisionFor(String(self), throughput);
}

async function provisionFor(self: string, offerThroughput: number): Promise<void> {
  const body = { query: `SELECT * from root where root.resource = "${self}"` };
  const headers = {
    'content-type': 'application/query+json',
    'x-ms-documentdb-isquery': 'true',
  };
  const found = ok(await server.send('POST', '/offers', { body, headers }), 200);
  const [offer] = listOf(found, 'Offers');
  const id = String(offer?.id);
  const changed = { ...offer, content: { offerThroughput } };
  const options = { link: id.toLowerCase(), body: changed };
  ok(await server.send('PUT', `/offers/${id}`, options), 200);
}
