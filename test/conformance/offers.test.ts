// Offers: throughput as it is asked for at creation, looked up, replaced and changed in kind. What
// it does to the ranges of a container is in ranges.test.ts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Headers,
  type Json,
  listOf,
  NOON_SECONDS,
  ok,
  type Reply,
  refused,
  serve,
} from './support.suite.js';

const server = await serve();
const client = server.client();
const AUTOPILOT = 'x-ms-cosmos-offer-autopilot-settings';
const MANUAL = 'x-ms-offer-throughput';
let databases = 0;

test('a container for which nobody asks gets 400 request units', async () => {
  const { _rid: rid, _self: self } = await container();
  const offer = await offerOf(self);
  const { id, _etag: etag, ...rest } = offer;
  assert.match(String(id), /^[A-Za-z0-9+-]{4}$/);
  assert.match(String(etag), /^".+"$/);
  assert.deepEqual(rest, {
    _rid: id,
    _self: `offers/${String(id)}/`,
    _ts: NOON_SECONDS,
    resource: self,
    offerResourceId: rid,
    offerType: 'Invalid',
    offerVersion: 'V2',
    content: {
      offerThroughput: 400,
      offerIsRUPerMinuteThroughputEnabled: false,
      offerMinimumThroughputParameters: {
        maxThroughputEverProvisioned: 400,
        maxConsumedStorageEverInKB: 0,
      },
    },
  });
});

test('the most that was stored is told, also when it is less again', async () => {
  const home = (await database()).id;
  const { _self: self } = await containerIn(home, 'c');
  const stored = async () => {
    const { offerMinimumThroughputParameters: told } = contentOf(await offerOf(self));
    return Number((told as Json).maxConsumedStorageEverInKB);
  };
  const docs = `/dbs/${home}/colls/c/docs`;
  const headers = { 'x-ms-documentdb-partitionkey': '["p"]' };
  const body = { id: '1', pk: 'p', text: 'x'.repeat(5000) };
  ok(await server.send('POST', docs, { body, headers }), 201);
  const most = await stored();
  assert.ok(most >= 5 && most < 10, String(most));
  ok(await server.send('DELETE', `${docs}/1`, { headers }), 204);
  assert.equal(await stored(), most);
});

test('manual throughput is what the header says', async () => {
  const { _self: self } = await container({ [MANUAL]: '1200' });
  assert.equal(contentOf(await offerOf(self)).offerThroughput, 1200);
  assert.equal(contentOf(await offerOf(self)).offerAutopilotSettings, undefined);
});

test('autoscale has a ceiling', async () => {
  const { _self: self } = await container({ [AUTOPILOT]: '{"maxThroughput":4000}' });
  const settings = contentOf(await offerOf(self)).offerAutopilotSettings as Json;
  assert.equal(settings.maxThroughput, 4000);
  assert.equal(settings.maximumTierThroughput, 4000);
});

test('the policy for raising the ceiling is kept', async () => {
  const policy = { throughputPolicy: { incrementPercent: 10 } };
  const text = JSON.stringify({ maxThroughput: 1000, autoUpgradePolicy: policy });
  const { _self: self } = await container({ [AUTOPILOT]: text });
  const settings = contentOf(await offerOf(self)).offerAutopilotSettings as Json;
  assert.deepEqual(settings.autoUpgradePolicy, policy);
});

test('a database with throughput shares it among containers that ask for none', async () => {
  const shared = await database({ [MANUAL]: '600' });
  const offer = await offerOf(shared._self);
  assert.equal(contentOf(offer).offerThroughput, 600);
  assert.equal(offer.offerResourceId, shared._rid);
  const without = await containerIn(shared.id, 'without');
  assert.deepEqual(await offersOf(without._self), []);
  const own = await containerIn(shared.id, 'own', { [MANUAL]: '500' });
  assert.equal(contentOf(await offerOf(own._self)).offerThroughput, 500);
});

test('a database without throughput has no offer', async () => {
  const { _self: self } = await database();
  assert.deepEqual(await offersOf(self), []);
});

test('a database may have autoscale', async () => {
  const { _self: self } = await database({ [AUTOPILOT]: '{"maxThroughput":2000}' });
  const settings = contentOf(await offerOf(self)).offerAutopilotSettings as Json;
  assert.equal(settings.maxThroughput, 2000);
});

const ASKED_WRONGLY: readonly (readonly [Headers, string])[] = [
  [{ [MANUAL]: '399' }, 'offer throughput specified is invalid'],
  [{ [MANUAL]: '0' }, 'offer throughput specified is invalid'],
  [{ [MANUAL]: '-400' }, 'offer throughput specified is invalid'],
  [{ [MANUAL]: '450' }, 'in increments of 100'],
  [{ [MANUAL]: '1000100' }, '1000000 inclusive'],
  [{ [MANUAL]: 'many' }, 'offer throughput specified is invalid'],
  [{ [AUTOPILOT]: '{"maxThroughput":500}' }, 'invalid'],
  [{ [AUTOPILOT]: '{"maxThroughput":1500}' }, 'invalid'],
  [{ [AUTOPILOT]: '{}' }, 'invalid'],
  [{ [AUTOPILOT]: '4000' }, AUTOPILOT],
  [{ [AUTOPILOT]: '{"maxThroughput"' }, AUTOPILOT],
  [{ [AUTOPILOT]: '{"maxThroughput":4000}', [MANUAL]: '400' }, 'cannot both be specified'],
];

for (const [headers, text] of ASKED_WRONGLY) {
  test(`${JSON.stringify(headers)} is refused, and nothing is created`, async () => {
    const name = `wrong-${++databases}`;
    const asDatabase = await server.send('POST', '/dbs', { body: { id: name }, headers });
    refused(asDatabase, 400, 0, text);
    refused(await server.send('GET', `/dbs/${name}`), 404, 0);
    const { id } = await database();
    const body = { id: 'c', partitionKey: { paths: ['/pk'] } };
    const reply = await server.send('POST', `/dbs/${id}/colls`, { body, headers });
    refused(reply, 400, 0, text);
    refused(await server.send('GET', `/dbs/${id}/colls/c`), 404, 0);
  });
}

test('offers are found by every query that clients send', async () => {
  const { _self: self, _rid: rid } = await container();
  await container();
  const offer = await offerOf(self);
  const queries: readonly Json[] = [
    { query: `SELECT * from root where root.resource = "${self}"` },
    {
      query: 'SELECT * FROM root r WHERE r.resource=@link',
      parameters: [{ name: '@link', value: self }],
    },
    {
      query: 'select * from root r where r.offerResourceId= @targetRID',
      parameters: [{ name: '@targetRID', value: rid }],
    },
    { query: `SELECT * FROM c WHERE c.offerResourceId = '${rid}'`, parameters: [] },
  ];
  for (const query of queries) assert.deepEqual(await queryOffers(query), [offer]);
  assert.deepEqual(await queryOffers({ query: 'SELECT * FROM c WHERE c.resource = "dbs/x/"' }), []);
});

test('the list has every offer, page by page', async () => {
  const { _self: self } = await container();
  const offer = await offerOf(self);
  const headers = { 'x-ms-max-item-count': '-1' };
  const all = listOf(ok(await server.send('GET', '/offers', { headers }), 200), 'Offers');
  assert.deepEqual(
    all.find(({ id }) => id === offer.id),
    offer,
  );
  const everything = await queryOffers({ query: 'SELECT * FROM root' }, headers);
  assert.deepEqual(everything, all);
  const first = await server.send('GET', '/offers', { headers: { 'x-ms-max-item-count': '1' } });
  assert.deepEqual(listOf(ok(first, 200), 'Offers'), all.slice(0, 1));
  assert.ok(first.headers['x-ms-continuation']);
});

test('one offer is read by its id, with its etag and its minimum', async () => {
  const { _self: self } = await container();
  const offer = await offerOf(self);
  const reply = ok(await sendOffer('GET', offer), 200);
  assert.deepEqual(reply.json, offer);
  assert.equal(reply.headers.etag, offer._etag);
  assert.equal(reply.headers['x-ms-cosmos-min-throughput'], '400');
  assert.equal(reply.headers['x-ms-offer-replace-pending'], 'false');
});

test('an offer that is not there is 404', async () => {
  refused(await sendOffer('GET', { id: 'zzzz' }), 404, 0);
});

test('a replacement changes the throughput, the etag and the time', async () => {
  const { _self: self } = await container();
  const offer = await offerOf(self);
  server.clock.advance(3000);
  const reply = ok(await replace(offer, { offerThroughput: 900 }), 200);
  assert.equal(contentOf(reply.json).offerThroughput, 900);
  assert.notEqual(reply.json._etag, offer._etag);
  assert.equal(reply.json._ts, Number(offer._ts) + 3);
  assert.equal(reply.headers['x-ms-offer-replace-pending'], 'false');
  assert.deepEqual(await offerOf(self), reply.json);
});

test('the ceiling of autoscale can be replaced', async () => {
  const { _self: self } = await container({ [AUTOPILOT]: '{"maxThroughput":1000}' });
  const offer = await offerOf(self);
  const content = { offerAutopilotSettings: { maxThroughput: 6000 } };
  const reply = ok(await replace(offer, content), 200);
  const settings = contentOf(reply.json).offerAutopilotSettings as Json;
  assert.equal(settings.maxThroughput, 6000);
});

test('throughput can sink to a hundredth of the highest ever, and no further', async () => {
  const { _self: self } = await container({ [MANUAL]: '100000' });
  const high = await offerOf(self);
  const read = ok(await sendOffer('GET', high), 200);
  assert.equal(read.headers['x-ms-cosmos-min-throughput'], '1000');
  refused(await replace(high, { offerThroughput: 900 }), 400, 0, 'between 1000 and');
  assert.deepEqual(await offerOf(self), high);
  const low = ok(await replace(high, { offerThroughput: 1000 }), 200);
  const { maxThroughputEverProvisioned: highest } = contentOf(low.json)
    .offerMinimumThroughputParameters as Json;
  assert.equal(highest, 100_000);
  assert.equal(low.headers['x-ms-cosmos-min-throughput'], '1000');
});

test('the ceiling of autoscale can sink to a tenth of the highest ever', async () => {
  const { _self: self } = await container({ [AUTOPILOT]: '{"maxThroughput":50000}' });
  const offer = await offerOf(self);
  const lower = (maxThroughput: number) =>
    replace(offer, { offerAutopilotSettings: { maxThroughput } });
  refused(await lower(4000), 400, 0, 'between 5000 and');
  ok(await lower(5000), 200);
});

const CONTENTS_REFUSED: readonly unknown[] = [
  undefined,
  null,
  {},
  { offerThroughput: 399 },
  { offerThroughput: 450 },
  { offerThroughput: '400' },
  { offerThroughput: 1_000_100 },
];

for (const content of CONTENTS_REFUSED) {
  test(`a replacement with the content ${JSON.stringify(content)} is refused`, async () => {
    const { _self: self } = await container();
    const offer = await offerOf(self);
    refused(await replace(offer, content), 400, 0);
    assert.deepEqual(await offerOf(self), offer);
  });
}

test('a replacement with another id is refused', async () => {
  const offer = await offerOf((await container())._self);
  for (const changed of [{ id: 'zzzz' }, { _rid: 'zzzz' }]) {
    const body = { ...offer, ...changed };
    refused(await sendOffer('PUT', offer, { body }), 400, 0);
  }
});

test('If-Match guards a replacement', async () => {
  const { _self: self } = await container();
  const offer = await offerOf(self);
  const guard = (etag: unknown) => ({ 'if-match': String(etag) });
  const content = { offerThroughput: 500 };
  refused(await replace(offer, content, guard('"other"')), 412, 0);
  ok(await replace(offer, content, guard(offer._etag)), 200);
});

test('of two replacements with the same etag one wins', async () => {
  const { _self: self } = await container();
  for (let round = 1; round <= 10; round++) {
    const offer = await offerOf(self);
    const guard = { 'if-match': String(offer._etag) };
    const race = [1, 2].map((who) =>
      replace(offer, { offerThroughput: 400 + 1000 * round + 100 * who }, guard),
    );
    const statuses = (await Promise.all(race)).map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, 412], `round ${round}`);
  }
});

test('a header turns manual throughput into autoscale and back', async () => {
  const { _self: self } = await container({ [MANUAL]: '5500' });
  const before = await offerOf(self);
  const toAutoscale = { 'x-ms-cosmos-migrate-offer-to-autopilot': 'true' };
  const scaled = ok(await replace(before, before.content, toAutoscale), 200).json;
  const { maxThroughput } = contentOf(scaled).offerAutopilotSettings as Json;
  assert.ok(Number(maxThroughput) >= 5500 && Number(maxThroughput) % 1000 === 0);
  const toManual = { 'x-ms-cosmos-migrate-offer-to-manual-throughput': 'true' };
  const back = contentOf(ok(await replace(scaled, scaled.content, toManual), 200).json);
  assert.equal(back.offerAutopilotSettings, undefined);
  assert.ok(Number(back.offerThroughput) >= 400 && Number(back.offerThroughput) % 100 === 0);
});

test('a change of kind takes the amount that comes with it', async () => {
  const { _self: self } = await container({ [MANUAL]: '5500' });
  const toAutoscale = { 'x-ms-cosmos-migrate-offer-to-autopilot': 'true' };
  const toManual = { 'x-ms-cosmos-migrate-offer-to-manual-throughput': 'true' };
  const settings = { offerThroughput: -1, offerAutopilotSettings: { maxThroughput: 7000 } };
  const scaled = ok(await replace(await offerOf(self), settings, toAutoscale), 200).json;
  assert.equal((contentOf(scaled).offerAutopilotSettings as Json).maxThroughput, 7000);
  refused(await replace(scaled, { offerThroughput: 450 }, toManual), 400, 0, "Got '450'");
  const back = ok(await replace(scaled, { offerThroughput: 900 }, toManual), 200).json;
  assert.equal(contentOf(back).offerThroughput, 900);
  const both = await replace(back, back.content, { ...toAutoscale, ...toManual });
  refused(both, 400, 0, 'cannot be combined');
  const wrong = { offerAutopilotSettings: { maxThroughput: 1500 } };
  refused(await replace(back, wrong, toAutoscale), 400, 0, 'increments of 1000');
});

test('without the header the kind of throughput stays as it is', async () => {
  const { _self: self } = await container();
  const offer = await offerOf(self);
  const content = { offerAutopilotSettings: { maxThroughput: 4000 } };
  refused(await replace(offer, content), 400, 0, 'x-ms-cosmos-migrate-offer-to-autopilot');
  assert.deepEqual(await offerOf(self), offer);
});

test('an offer goes with its container', async () => {
  const { id } = await database();
  const { _self: self } = await containerIn(id, 'c');
  const offer = await offerOf(self);
  ok(await server.send('DELETE', `/dbs/${id}/colls/c`), 204);
  assert.deepEqual(await offersOf(self), []);
  refused(await sendOffer('GET', offer), 404, 0);
  refused(await replace(offer, { offerThroughput: 500 }), 404, 0);
});

test('SDK: the offers of a database and of its containers', async () => {
  const { database: home } = await client.databases.create({ id: 'sdk', throughput: 700 });
  const { resource: shared } = await home.readOffer();
  assert.equal(shared?.content?.offerThroughput, 700);
  const { container: without } = await home.containers.create({ id: 'without' });
  assert.equal((await without.readOffer()).resource, undefined);
  const { container: own } = await home.containers.create({ id: 'own', maxThroughput: 3000 });
  const { resource } = await own.readOffer();
  assert.equal(resource?.content?.offerAutopilotSettings?.maxThroughput, 3000);
});

test('SDK: read, replace and list', async () => {
  const { database: home } = await client.databases.create({ id: 'sdk-offers' });
  const { container: box } = await home.containers.create({ id: 'c', throughput: 800 });
  const { resource: found } = await box.readOffer();
  assert.ok(found?.content);
  const offer = client.offer(found.id);
  assert.deepEqual((await offer.read()).resource, found);
  const content = { ...found.content, offerThroughput: 1000 };
  const replaced = await offer.replace({ ...found, content });
  assert.equal(replaced.statusCode, 200);
  assert.equal((await box.readOffer()).resource?.content?.offerThroughput, 1000);
  const { resources } = await client.offers.readAll().fetchAll();
  assert.ok(resources.some(({ id }) => id === found.id));
  const query = `SELECT * FROM root WHERE root.offerResourceId = "${found.offerResourceId}"`;
  const { resources: matches } = await client.offers.query({ query }).fetchAll();
  assert.deepEqual(matches, [replaced.resource]);
});

interface Owner {
  readonly id: string;
  readonly _rid: string;
  readonly _self: string;
}

async function database(headers: Headers = {}): Promise<Owner> {
  databases += 1;
  const body = { id: `d${databases}` };
  return ok(await server.send('POST', '/dbs', { body, headers }), 201).json as unknown as Owner;
}

async function container(headers: Headers = {}): Promise<Owner> {
  return containerIn((await database()).id, 'c', headers);
}

async function containerIn(home: string, id: string, headers: Headers = {}): Promise<Owner> {
  const body = { id, partitionKey: { paths: ['/pk'] } };
  const reply = await server.send('POST', `/dbs/${home}/colls`, { body, headers });
  return ok(reply, 201).json as unknown as Owner;
}

async function queryOffers(body: Json, more: Headers = {}): Promise<readonly Json[]> {
  const headers = {
    'content-type': 'application/query+json',
    'x-ms-documentdb-isquery': 'true',
    ...more,
  };
  return listOf(ok(await server.send('POST', '/offers', { body, headers }), 200), 'Offers');
}

function offersOf(self: string): Promise<readonly Json[]> {
  return queryOffers({ query: `SELECT * from root where root.resource = "${self}"` });
}

async function offerOf(self: string): Promise<Json> {
  const [offer, ...others] = await offersOf(self);
  assert.ok(offer);
  assert.deepEqual(others, []);
  return offer;
}

/** Offers have no names: their requests are signed over the resource id in lower case. */
function sendOffer(method: string, offer: Json, options: object = {}): Promise<Reply> {
  const id = String(offer.id);
  return server.send(method, `/offers/${id}`, { link: id.toLowerCase(), ...options });
}

function replace(offer: Json, content: unknown, headers: Headers = {}): Promise<Reply> {
  return sendOffer('PUT', offer, { body: { ...offer, content }, headers });
}

function contentOf(offer: Json): Json {
  return offer.content as Json;
}
