// Enforced throughput: budgets of containers, databases and physical partitions, and the answer to
// those who want more. The clock is frozen, so that nothing flows in unless a test lets it.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { Box, NOON, ok, plainMessage, type Reply, refused, serve } from './support.suite.js';

const server = await serve({ throughput: 'enforce' });
const MANUAL = 'x-ms-offer-throughput';
const AUTOPILOT = 'x-ms-cosmos-offer-autopilot-settings';

beforeEach(() => server.clock.set(NOON));

let items = 0;

const charge = ({ headers }: Reply) => Number(headers['x-ms-request-charge']);

/** Creates items until one is refused; what they cost, and the refusal. */
async function exhaust(box: Box, pk = 'p'): Promise<{ spent: number; refusal: Reply }> {
  let spent = 0;
  for (let count = 0; count < 1000; count++) {
    const reply = await box.create({ id: `i${++items}`, pk });
    if (reply.status !== 201) return { spent, refusal: reply };
    spent += charge(reply);
  }
  throw new Error('nobody was refused');
}

test('one second of 400 request units, then 429 as documented', async () => {
  const box = await server.box({}, { [MANUAL]: '400' });
  const { spent, refusal } = await exhaust(box);
  assert.ok(spent >= 400 && spent < 407, String(spent));
  assert.equal(refusal.status, 429);
  assert.equal(refusal.json.code, '429');
  assert.equal(refusal.headers['x-ms-substatus'], '3200');
  assert.match(plainMessage(refusal), /^Request rate is large\. More Request Units may be needed/);
  assert.match(String(refusal.json.message), /^Message: \{"Errors":\["Request rate is large/);
  const waitMs = Number(refusal.headers['x-ms-retry-after-ms']);
  assert.equal(waitMs, Math.floor(((spent - 400) * 1000) / 400) + 1);
  server.clock.advance(waitMs - 1);
  assert.equal((await box.read('none')).status, 429);
  server.clock.advance(1);
  assert.equal((await box.read('none')).status, 404);
});

test('low priority stands back once high priority was turned away, and not before', async () => {
  const box = await server.box({}, { [MANUAL]: '400' });
  const low = { 'x-ms-cosmos-priority-level': 'Low' };
  ok(await box.create({ id: 'low', pk: 'p' }, low), 201);
  await exhaust(box);
  server.clock.advance(500);
  const refusal = await box.read('low', 'p', low);
  assert.equal(refusal.status, 429);
  assert.ok(Number(refusal.headers['x-ms-retry-after-ms']) >= 500);
  ok(await box.read('low', 'p', { 'x-ms-cosmos-priority-level': 'high' }), 200);
  server.clock.advance(500);
  ok(await box.read('low', 'p', low), 200);
});

for (const [header, value] of [
  ['x-ms-cosmos-priority-level', 'Middle'],
  ['x-ms-cosmos-throughput-bucket', '0'],
  ['x-ms-cosmos-throughput-bucket', '6'],
  ['x-ms-cosmos-throughput-bucket', 'one'],
] as const) {
  test(`${header}: ${value} is refused by name`, async () => {
    const box = await server.box();
    const reply = await box.read('none', 'p', { [header]: value });
    refused(reply, 400, 0);
    assert.match(plainMessage(reply), new RegExp(`'${value}'.*'${header}'`));
  });
}

test('a thousand at once are not let in on the last unit', async () => {
  const box = await server.box();
  await box.create({ id: 'first', pk: 'p' });
  const replies = await Promise.all(
    Array.from({ length: 300 }, (_, index) => box.create({ id: `at-once-${index}`, pk: 'p' })),
  );
  const spent = replies.reduce((sum, reply) => sum + (reply.status === 201 ? charge(reply) : 0), 0);
  assert.ok(spent > 350 && spent < 410, String(spent));
});

test('nothing is done for a request that is refused, and it costs nobody anything', async () => {
  const box = await server.box();
  await exhaust(box);
  const before = await units(box);
  refused429(await box.upsert({ id: 'late', pk: 'p' }));
  assert.equal(await units(box), before);
  server.clock.advance(2000);
  refused(await box.read('late'), 404, 0);
});

test('a request larger than the budget is let in, and the next ones pay for it', async () => {
  const box = await server.box();
  const big = { id: 'big', pk: 'p', pad: 'x'.repeat(1_900_000) };
  const reply = ok(await box.create(big), 201);
  assert.ok(charge(reply) > 800);
  const refusal = refused429(await box.read('big'));
  const waitMs = Number(refusal.headers['x-ms-retry-after-ms']);
  assert.equal(waitMs, Math.floor(((charge(reply) - 400) * 1000) / 400) + 1);
});

test('every operation on items is refused; definitions, ranges, offers and plans are not', async () => {
  const box = await server.box();
  await exhaust(box);
  const query = { query: 'SELECT * FROM c', parameters: [] };
  const asQuery = { 'content-type': 'application/query+json', 'x-ms-documentdb-isquery': 'true' };
  const across = { 'x-ms-documentdb-query-enablecrosspartition': 'true' };
  const batch = { 'x-ms-cosmos-is-batch-request': 'true', 'x-ms-cosmos-batch-atomic': 'true' };
  const key = { 'x-ms-documentdb-partitionkey': '["p"]' };
  const docs = (body: unknown, headers: Readonly<Record<string, string>>) =>
    server.send('POST', `${box.path}/docs`, { body, headers });
  const operations: readonly Promise<Reply>[] = [
    box.create({ id: 'x', pk: 'p' }),
    box.upsert({ id: 'x', pk: 'p' }),
    box.replace({ id: 'x', pk: 'p' }),
    box.patch('x', [{ op: 'set', path: '/a', value: 1 }]),
    box.read('x'),
    box.remove('x'),
    box.list(),
    box.list({ 'a-im': 'Incremental Feed' }),
    docs(query, { ...asQuery, ...across }),
    docs([{ operationType: 'Read', id: 'x' }], { ...batch, ...key }),
  ];
  for (const reply of await Promise.all(operations)) refused429(reply);
  const plan = { ...asQuery, 'x-ms-cosmos-is-query-plan-request': 'True' };
  ok(await docs(query, plan), 200);
  ok(await server.send('GET', box.path), 200);
  ok(await server.send('GET', `${box.path}/pkranges`), 200);
  ok(await server.send('GET', '/offers'), 200);
});

test('a stored procedure spends what it does, and waits its turn like others', async () => {
  const box = await server.box();
  const body = `function (count) {
    var collection = getContext().getCollection();
    for (var i = 0; i < count; i++) {
      collection.createDocument(collection.getSelfLink(), { id: 's' + i, pk: 'p' });
    }
  }`;
  const definition = { id: 'fill', body };
  ok(await server.send('POST', `${box.path}/sprocs`, { body: definition }), 201);
  const run = (count: number) =>
    server.send('POST', `${box.path}/sprocs/fill`, {
      body: [count],
      headers: { 'x-ms-documentdb-partitionkey': '["p"]' },
    });
  const reply = ok(await run(80), 200);
  assert.ok(charge(reply) > 80 * 5.5, String(charge(reply)));
  assert.equal(await units(box), charge(reply));
  refused429(await run(1));
});

test('a query costs the same whatever else the client wants to know', async () => {
  const box = await server.box();
  for (let count = 0; count < 20; count++) await box.create({ id: `q${count}`, pk: 'p', count });
  server.clock.advance(1000);
  const udf = { id: 'twice', body: 'function (n) { return 2 * n; }' };
  ok(await server.send('POST', `${box.path}/udfs`, { body: udf }), 201);
  const ask = async (query: string, more = {}) => {
    const headers = {
      'content-type': 'application/query+json',
      'x-ms-documentdb-isquery': 'true',
      'x-ms-documentdb-query-enablecrosspartition': 'true',
      ...more,
    };
    return charge(
      ok(await server.send('POST', `${box.path}/docs`, { body: { query }, headers }), 200),
    );
  };
  const plain = 'SELECT * FROM c WHERE c.count > 5';
  const metrics = { 'x-ms-documentdb-populatequerymetrics': 'true' };
  assert.equal(await ask(plain, metrics), await ask(plain));
  const indexed = await ask('SELECT * FROM c WHERE c.count = 5');
  const scanned = await ask('SELECT * FROM c WHERE ABS(c.count) = 5');
  assert.ok(scanned > indexed, `${scanned} ${indexed}`);
  const calling = await ask('SELECT * FROM c WHERE udf.twice(c.count) = 10');
  assert.ok(calling > scanned + 0.3, `${calling} ${scanned}`);
});

test('refusals of other kinds cost as they say', async () => {
  const box = await server.box();
  ok(await box.create({ id: 'a', pk: 'p' }), 201);
  const before = await units(box);
  const replies = [await box.create({ id: 'a', pk: 'p' }), await box.read('none')];
  assert.deepEqual(
    replies.map(({ status }) => status),
    [409, 404],
  );
  const sum = replies.reduce((total, reply) => total + charge(reply), 0);
  assert.equal(((await units(box)) - before).toFixed(2), sum.toFixed(2));
});

test('containers of a database share its throughput; one with its own does not', async () => {
  const body = { id: 'shared' };
  ok(await server.send('POST', '/dbs', { body, headers: { [MANUAL]: '500' } }), 201);
  const [a, b, own] = await Promise.all([
    containerIn('shared', 'a'),
    containerIn('shared', 'b'),
    containerIn('shared', 'own', { [MANUAL]: '400' }),
  ]);
  const { spent } = await exhaust(a);
  assert.ok(spent >= 500 && spent < 507, String(spent));
  refused429(await b.read('x'));
  refused(await own.read('x'), 404, 0);
  server.clock.advance(1000);
  refused(await b.read('x'), 404, 0);
});

test('each physical partition has its share', async () => {
  const box = await server.box({}, { [MANUAL]: '20000' });
  const ranges = ok(await server.send('GET', `${box.path}/pkranges`), 200).json._count;
  assert.equal(ranges, 2);
  const pks = Array.from({ length: 20 }, (_, index) => `pk${index}`);
  const rangeOf = async (pk: string) =>
    String((await box.create({ id: `r${++items}`, pk })).headers[RANGE]);
  const found = await Promise.all(pks.map(rangeOf));
  const [here, there] = ['0', '1'].map((id) => pks[found.indexOf(id)] as string);
  const big = (pk = '') => box.upsert({ id: 'big', pk, pad: 'x'.repeat(1_900_000) });
  let reply = await big(here);
  for (let count = 0; reply.status !== 429 && count < 30; count++) reply = await big(here);
  refused429(reply);
  ok(await box.create({ id: 'elsewhere', pk: there }), 201);
  refused429(await box.list());
  refused429(await box.list({ [RANGE]: '0' }));
  ok(await box.list({ [RANGE]: '1' }), 200);
});

test('a new throughput acts at once', async () => {
  const box = await server.box();
  await exhaust(box);
  server.clock.advance(1000);
  await setThroughput(box, 1000);
  const first = await exhaust(box);
  assert.ok(first.spent < 1007, String(first.spent));
  server.clock.advance(1000);
  const { spent } = await exhaust(box);
  assert.ok(spent > 990 && spent < 1007, String(spent));
});

test('autoscale lets its ceiling be used, and shows what was used in this hour', async () => {
  const box = await server.box({}, { [AUTOPILOT]: '{"maxThroughput":1000}' });
  const shown = async () => Number((await offerOf(box)).content.offerThroughput);
  assert.equal(await shown(), 100);
  const { spent } = await exhaust(box);
  assert.ok(spent >= 1000 && spent < 1007, String(spent));
  assert.equal(await shown(), 1000);
  const metric = `mayfly_throughput{database="${box.database}",container="c"}`;
  assert.equal(await server.metric(metric), 1000);
  server.clock.advance(3_600_000);
  assert.equal(await shown(), 100);
  for (let count = 0; count < 40; count++) await box.create({ id: `h${count}`, pk: 'p' });
  const used = await shown();
  assert.ok(used > 200 && used < 300, String(used));
});

const RANGE = 'x-ms-documentdb-partitionkeyrangeid';

function refused429(reply: Reply): Reply {
  assert.equal(reply.status, 429, reply.text);
  assert.equal(reply.headers['x-ms-substatus'], '3200');
  assert.ok(Number(reply.headers['x-ms-retry-after-ms']) > 0);
  return reply;
}

function units(box: Box): Promise<number> {
  return server.metric(
    `mayfly_request_units_total{database="${box.database}",container="${box.definition.id}"}`,
  );
}

async function containerIn(database: string, id: string, headers = {}): Promise<Box> {
  const body = { id, partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 } };
  ok(await server.send('POST', `/dbs/${database}/colls`, { body, headers }), 201);
  return new Box(server, database, body);
}

interface OfferJson {
  readonly id: string;
  readonly content: { readonly offerThroughput: number };
}

async function offerOf(box: Box): Promise<OfferJson> {
  const { _rid: rid } = ok(await server.send('GET', box.path), 200).json;
  const body = { query: `SELECT * FROM c WHERE c.offerResourceId = '${String(rid)}'` };
  const headers = { 'content-type': 'application/query+json', 'x-ms-documentdb-isquery': 'true' };
  const reply = ok(await server.send('POST', '/offers', { body, headers }), 200);
  return (reply.json.Offers as OfferJson[])[0] as OfferJson;
}

async function setThroughput(box: Box, offerThroughput: number): Promise<void> {
  const offer = await offerOf(box);
  const body = { ...offer, content: { offerThroughput } };
  const link = offer.id.toLowerCase();
  ok(await server.send('PUT', `/offers/${encodeURIComponent(offer.id)}`, { body, link }), 200);
}
