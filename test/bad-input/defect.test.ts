// What nobody expected: a 500 that is in the log under its activity id, whether or not the request
// had a body; and a client that went away is none of that.
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { adminHandler } from '../../src/admin/server.js';
import type { Catalog } from '../../src/catalog/catalog.js';
import { cosmosHandler } from '../../src/cosmos/server.js';
import type { Documents } from '../../src/documents/documents.js';
import { nodeExchange } from '../../src/http/exchange.js';
import { Faults } from '../../src/http/faults.js';
import { WELL_KNOWN_KEY } from '../../src/http/keys.js';
import { Metrics } from '../../src/http/metrics.js';
import { Scripts } from '../../src/script/scripts.js';
import { Budgets } from '../../src/throughput/budgets.js';
import { systemClock } from '../../src/time/clock.js';
import { systemEntropy } from '../../src/time/entropy.js';
import { Purger } from '../../src/time/purger.js';
import { bytesOf, leave, signature, talk } from './wire.suite.js';

const BROKEN = new Error('the disk is on fire');
const reported: (readonly [unknown, string | undefined])[] = [];
const metrics = new Metrics();

function fail(): never {
  throw BROKEN;
}

/** Everything a face needs, but nothing behind it works. */
function brokenFace() {
  const clock = systemClock();
  const catalog = { databases: fail, database: fail, createDatabase: async () => fail() };
  const purger = new Purger(clock, { active: 0, begun: 0 }, () => undefined);
  purger.runNow = async () => fail();
  return {
    clock,
    catalog: catalog as unknown as Catalog,
    faults: new Faults([]),
    budgets: new Budgets('measure', clock),
    documents: { entropy: systemEntropy() } as unknown as Documents,
    keys: { primary: WELL_KNOWN_KEY },
    metrics,
    scripts: new Scripts(1000),
    corsOrigins: [],
    entra: 'off' as const,
    version: 'test',
    purger,
    allowedHosts: [],
    certificate: () => undefined,
    report: (error: unknown, activityId?: string) => {
      reported.push([error, activityId]);
    },
  };
}

async function serve(handler: (...args: Parameters<RequestListener>) => Promise<void>) {
  const server = createServer((request, response) => void handler(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  after(() => server.close());
  return (server.address() as AddressInfo).port;
}

const broken = cosmosHandler(brokenFace());
const cosmos = await serve((request, response) => broken(nodeExchange(request, response)));
const admin = await serve(adminHandler(brokenFace()));

function creation(more = 0): Buffer {
  const body = Buffer.from('{"id":"new"}');
  const date = new Date().toUTCString();
  const authorization = signature('POST', '/dbs', date, WELL_KNOWN_KEY);
  const length = { 'content-length': String(body.length + more) };
  const headers = { host: 'localhost', 'x-ms-date': date, authorization, ...length };
  return bytesOf({ method: 'POST', path: '/dbs', headers, body });
}

function reading(): Buffer {
  const date = new Date().toUTCString();
  const authorization = signature('GET', '/dbs', date, WELL_KNOWN_KEY);
  const headers = { host: 'localhost', 'x-ms-date': date, authorization };
  return bytesOf({ method: 'GET', path: '/dbs', headers, body: undefined });
}

for (const [name, bytes] of Object.entries({ 'with a body': creation(), without: reading() })) {
  test(`a defect is answered with 500 and reported, ${name}`, async () => {
    reported.length = 0;
    const [answer] = (await talk(cosmos, [bytes], { answersMax: 1 })).answers;
    assert.equal(answer?.status, 500);
    const { code, message } = JSON.parse(answer.body.toString()) as Record<string, string>;
    assert.equal(code, 'InternalServerError');
    assert.match(message ?? '', /it was logged under this activity id/);
    assert.doesNotMatch(message ?? '', /disk/, 'insides are for the log');
    assert.deepEqual(reported, [[BROKEN, answer.headers.get('x-ms-activity-id')]]);
  });
}

test('the control API reports its defects too', async () => {
  reported.length = 0;
  const headers = { host: 'localhost', authorization: `Bearer ${WELL_KNOWN_KEY}` };
  const body = Buffer.from('{}');
  const bytes = bytesOf({ method: 'POST', path: '/_mayfly/purge', headers, body });
  const [answer] = (await talk(admin, [bytes], { answersMax: 1 })).answers;
  assert.equal(answer?.status, 500);
  assert.match(answer.body.toString(), /"code":"InternalServerError"/);
  assert.deepEqual(reported, [[BROKEN, undefined]]);
});

test('a client that goes away in the middle of its body is no defect and no failure', async () => {
  reported.length = 0;
  const before = metrics.render([]);
  for (const isReset of [true, false]) await leave(cosmos, creation(1), isReset);
  // Once another request is answered, the server has seen that the others are gone.
  await talk(cosmos, [Buffer.from('GET / HTTP/1.1\r\nhost: x\r\n\r\n')], { answersMax: 1 });
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(reported, []);
  const errors = (text: string) => /operation="CreateDatabase",status="500"} (\d+)/.exec(text)?.[1];
  assert.equal(errors(metrics.render([])), errors(before));
});
