// Faults on demand: which requests a rule strikes, what they are answered with, and what the real
// SDK makes of it.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { type Json, ok, type Reply, serve } from './support.suite.js';

const server = await serve();
const client = server.client();

afterEach(async () => {
  ok(await server.control('DELETE', 'faults'), 200);
});

async function fault(rule: Json): Promise<string> {
  return String(ok(await server.control('POST', 'faults', rule), 200).json.fault);
}

async function counts(name: string): Promise<readonly unknown[]> {
  const { seen, hits } = ok(await server.control('GET', `faults/${name}`), 200).json;
  return [seen, hits];
}

test('there are none, and a rule is shown with what was left out', async () => {
  assert.deepEqual(ok(await server.control('GET', 'faults'), 200).json, { faults: [] });
  const rule = { operation: 'ReadItem', database: 'd', id: 'x', status: 429 };
  const made = ok(await server.control('POST', 'faults', rule), 200).json;
  assert.deepEqual(made, {
    fault: made.fault,
    seen: 0,
    hits: 0,
    operation: ['ReadItem'],
    database: 'd',
    id: 'x',
    probability: 1,
    seed: 1,
    skip: 0,
    when: 'before',
    status: 429,
    subStatus: 3200,
    retryAfterMs: 10,
    headers: {},
  });
  assert.deepEqual(ok(await server.control('GET', 'faults'), 200).json, { faults: [made] });
  assert.deepEqual(ok(await server.control('DELETE', `faults/${made.fault}`), 200).json, {
    removed: 1,
  });
  ok(await server.control('GET', `faults/${made.fault}`), 404);
  ok(await server.control('DELETE', `faults/${made.fault}`), 404);
});

for (const [status, subStatus] of [
  [429, 3200],
  [503, 0],
  [408, 0],
  [410, 1002],
  [449, 0],
  [500, 0],
] as const) {
  test(`a rule answers ${status}/${subStatus}, in the form of every error`, async () => {
    const box = await server.box();
    await fault({ operation: 'CreateItem', database: box.database, status, subStatus });
    const reply = ok(await box.create({ id: '1', pk: 'p' }), status);
    assert.equal(reply.headers['x-ms-substatus'], String(subStatus));
    assert.ok(Number(reply.headers['x-ms-request-charge']) > 0);
    assert.ok(reply.headers['x-ms-activity-id']);
    assert.equal(typeof reply.json.code, 'string');
    assert.match(String(reply.json.message), /_mayfly\/faults/);
    ok(await box.read('1'), 404);
  });
}

test('headers of the answer are the rule’s', async () => {
  const box = await server.box();
  const headers = { 'X-Own': 'yes', 'x-ms-throttle-retry-count': '3' };
  await fault({ resource: 'docs', status: 503, retryAfterMs: 77, headers });
  const reply = ok(await box.list(), 503);
  assert.equal(reply.headers['x-ms-retry-after-ms'], '77');
  assert.equal(reply.headers['x-own'], 'yes');
  assert.equal(reply.headers['x-ms-throttle-retry-count'], '3');
});

test('a rule strikes what it names and nothing else', async () => {
  const [box, other] = [await server.box(), await server.box()];
  for (const each of [box, other]) {
    for (const id of ['a', 'b']) ok(await each.create({ id, pk: 'p' }), 201);
  }
  const name = await fault({
    operation: ['ReadItem', 'DeleteItem'],
    resource: 'docs',
    database: box.database,
    container: 'c',
    id: 'a',
    status: 503,
  });
  ok(await box.read('a'), 503);
  ok(await box.remove('a'), 503);
  ok(await box.read('b'), 200);
  ok(await box.replace({ id: 'a', pk: 'p' }), 200);
  ok(await other.read('a'), 200);
  ok(await server.send('GET', box.path), 200);
  assert.deepEqual(await counts(name), [2, 2]);
});

test('skip, count and probability say how often, and a seed repeats it', async () => {
  const box = await server.box();
  const statuses = async (rule: Json, requests: number) => {
    const name = await fault({
      operation: 'ReadItem',
      database: box.database,
      status: 503,
      ...rule,
    });
    const replies: Reply[] = [];
    for (let count = 0; count < requests; count++) replies.push(await box.read('x'));
    ok(await server.control('DELETE', `faults/${name}`), 200);
    return replies.map(({ status }) => (status === 503 ? 'x' : '.')).join('');
  };
  assert.equal(await statuses({ skip: 2, count: 3 }, 8), '..xxx...');
  const first = await statuses({ probability: 0.5, seed: 7 }, 60);
  assert.equal(await statuses({ probability: 0.5, seed: 7 }, 60), first);
  assert.notEqual(await statuses({ probability: 0.5, seed: 8 }, 60), first);
  const struck = first.split('x').length - 1;
  assert.ok(struck > 15 && struck < 45, first);
  assert.equal(await statuses({ probability: 0 }, 5), '.....');
});

test('the first rule that strikes decides, and one that is used up lets the next one', async () => {
  const box = await server.box();
  await fault({ operation: 'ReadItem', status: 503, count: 1 });
  await fault({ operation: 'ReadItem', status: 408 });
  assert.deepEqual([(await box.read('x')).status, (await box.read('x')).status], [503, 408]);
});

test('a delay makes the request late and does nothing else to it', async () => {
  const box = await server.box();
  await fault({ operation: 'CreateItem', delay: '60ms' });
  const started = Date.now();
  ok(await box.create({ id: '1', pk: 'p' }), 201);
  assert.ok(Date.now() - started >= 59);
});

test('T10: a late request finds what is there when it arrives', async () => {
  const box = await server.box({ defaultTtl: 1 });
  ok(await box.create({ id: '1', pk: 'p' }), 201);
  const name = await fault({ operation: 'ReadItem', delay: '100ms' });
  const reading = box.read('1');
  while ((await counts(name))[0] === 0);
  server.clock.advance(1000);
  ok(await reading, 404);
});

test('a dropped connection, before and after the operation', async () => {
  const box = await server.box();
  await fault({ operation: 'CreateItem', drop: true, count: 1 });
  await assert.rejects(box.create({ id: 'before', pk: 'p' }), { code: 'ECONNRESET' });
  ok(await box.read('before'), 404);
  await fault({ operation: 'CreateItem', drop: true, when: 'after', count: 1 });
  await assert.rejects(box.create({ id: 'after', pk: 'p' }), { code: 'ECONNRESET' });
  ok(await box.read('after'), 200);
  await fault({ operation: 'CreateItem', status: 408, when: 'after', count: 1 });
  ok(await box.create({ id: 'timeout', pk: 'p' }), 408);
  ok(await box.read('timeout'), 200);
});

test('a connection with TLS is dropped as well', async () => {
  const { text: ca } = ok(await server.raw('GET', '/_mayfly/certificate.pem'), 200);
  const list = () => server.send('GET', '/dbs', { ca, host: 'localhost' });
  ok(await list(), 200);
  await fault({ operation: 'ListDatabases', drop: true, count: 1 });
  await assert.rejects(list(), { code: 'ECONNRESET' });
  ok(await list(), 200);
});

const REFUSED: readonly (readonly [unknown, string])[] = [
  [{ operation: 'ReadItems', status: 503 }, 'operation is "ReadItems"'],
  [{ operation: [], status: 503 }, 'operation is []'],
  [{ operation: 'Unsupported', status: 503 }, 'operation'],
  [{ operation: 'ReadItem', resource: 'colls', status: 503 }, 'No operation can match'],
  [{ operation: 'CreateItem', id: 'x', status: 503 }, 'No operation can match'],
  [{ operation: 'ReadOffer', container: 'c', status: 503 }, 'No operation can match'],
  [{ resource: 'items', status: 503 }, 'resource is "items"'],
  [{ status: 200 }, 'status is 200'],
  [{ status: '503' }, 'status is "503"'],
  [{}, 'the rule does nothing'],
  [{ probability: 0.5 }, 'the rule does nothing'],
  [{ status: 503, probability: 1.1 }, 'probability is 1.1'],
  [{ status: 503, count: 0 }, 'count is 0'],
  [{ status: 503, skip: -1 }, 'skip is -1'],
  [{ status: 503, seed: 0.5 }, 'seed is 0.5'],
  [{ delay: 'soon' }, 'delay is "soon"'],
  [{ delay: '6m' }, 'delay is "6m"'],
  [{ delay: '1s', when: 'after' }, 'when is "after"'],
  [{ drop: 'now' }, 'drop is "now"'],
  [{ drop: true, status: 503 }, 'status is 503'],
  [{ delay: 1, subStatus: 1 }, 'subStatus is 1'],
  [{ status: 503, when: 'later' }, 'when is "later"'],
  [{ status: 503, headers: { 'content-length': '1' } }, 'content-length'],
  [{ status: 503, headers: { a: 'b\r\nc: d' } }, 'headers.a'],
  [{ status: 503, headers: [] }, 'headers is []'],
  [{ status: 503, id: '' }, 'id is ""'],
  [{ status: 503, colour: 'red' }, "'colour' is not known"],
];

for (const [rule, text] of REFUSED) {
  test(`the rule ${JSON.stringify(rule)} is refused`, async () => {
    const reply = ok(await server.control('POST', 'faults', rule), 400);
    assert.ok(String(reply.json.message).includes(text), String(reply.json.message));
    assert.deepEqual(ok(await server.control('GET', 'faults'), 200).json, { faults: [] });
  });
}

test('the number of rules is limited', async () => {
  for (let count = 0; count < 100; count++) await fault({ status: 503, database: 'nobody' });
  ok(await server.control('POST', 'faults', { status: 503 }), 400);
  assert.deepEqual(ok(await server.control('DELETE', 'faults'), 200).json, { removed: 100 });
});

test('rules are for the holder of the account key', async () => {
  for (const [method, path] of [
    ['GET', 'faults'],
    ['POST', 'faults'],
    ['DELETE', 'faults'],
    ['DELETE', 'faults/1'],
  ] as const) {
    ok(await server.raw(method, `/_mayfly/${path}`), 401);
  }
});

test('the SDK gets past 429 and 503 by itself', async () => {
  const box = await server.box();
  const container = client.database(box.database).container('c');
  const throttle = await fault({ operation: 'CreateItem', status: 429, retryAfterMs: 5, count: 3 });
  const created = await container.items.create({ id: '1', pk: 'p' });
  assert.equal(created.statusCode, 201);
  assert.deepEqual(await counts(throttle), [3, 3]);
  const unavailable = await fault({ operation: 'ReadItem', status: 503, count: 1 });
  assert.equal((await container.item('1', 'p').read()).statusCode, 200);
  assert.deepEqual(await counts(unavailable), [1, 1]);
});

test('a write whose answer is lost is found by the retry of the program', async () => {
  const box = await server.box();
  const container = client.database(box.database).container('c');
  await fault({ operation: 'CreateItem', drop: true, when: 'after', count: 1 });
  const create = () => container.items.create({ id: 'once', pk: 'p' });
  const outcome = await create().then(
    ({ statusCode }) => statusCode,
    (error: { readonly code: unknown }) => error.code,
  );
  // The SDK repeats it or leaves that to the program; either way it is there, once.
  const again = await create().catch((error: { readonly code: unknown }) => error);
  assert.equal((again as { readonly code: unknown }).code, 409, String(outcome));
  const { resources } = await container.items.query('SELECT VALUE COUNT(1) FROM c').fetchAll();
  assert.deepEqual(resources, [1]);
});
