// Thousands of random queries against a server process, good ones and broken ones, with the headers
// that queries take. Each has an answer in time: rows, or a 400 that says why; never a 5xx.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, test } from 'node:test';
import { WELL_KNOWN_KEY } from '../../src/main.js';
import { randomMutant, randomSoup } from '../../src/sql/mutants.suite.js';
import { printSql } from '../../src/sql/print.js';
import { randomQuery as randomTree } from '../../src/sql/random-query.suite.js';
import {
  fuzzed,
  type Random,
  randomInteger,
  randomJson,
  randomPick,
  seededRandom,
  seedFromEnvironment,
} from '../../src/value/random.suite.js';
import { PARTITIONS, randomDocument, randomQuery } from '../differential/generator.suite.js';
import { ServerProcess } from './child.suite.js';
import { signature } from './wire.suite.js';

const QUERIES = fuzzed(1500);
const AT_ONCE = 16;
const DOCUMENTS = 60;
const ANSWER_MS_MAX = 30_000;
const DATABASE = '/dbs/fuzz';
/** An index over everything, over little, one that lags behind, and three ranges. */
const CONTAINERS: Readonly<Record<string, readonly [object, Headers]>> = {
  all: [{}, {}],
  few: [{ excludedPaths: [{ path: '/*' }], includedPaths: [{ path: '/n/?' }] }, {}],
  lazy: [{ indexingMode: 'lazy' }, {}],
  wide: [{}, { 'x-ms-offer-throughput': '30000' }],
};

type Headers = Readonly<Record<string, string>>;
interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

const seed = seedFromEnvironment();
const server = new ServerProcess();
const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE });
after(async () => {
  agent.destroy();
  await server.stop();
});
const port = await server.port;

test('random queries', async (t) => {
  t.diagnostic(`SEED=${seed}`);
  const random = seededRandom(seed);
  await fill(random);
  const before = await server.inside();
  const statuses = new Map<number, number>();
  const tokens: string[] = [];
  let left = QUERIES;
  const worker = async () => {
    while (left-- > 0) {
      const { path, headers, body } = randomRequest(random, tokens);
      const answer = await send('POST', path, body, headers);
      checkAnswer(answer, body, headers);
      const token = answer.headers['x-ms-continuation'];
      if (token) tokens[randomInteger(random, 50)] = String(token);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  t.diagnostic(JSON.stringify([...statuses].sort()));
  assert.ok((statuses.get(200) ?? 0) > QUERIES / 10, 'enough of them have rows');
  assert.ok((statuses.get(400) ?? 0) > QUERIES / 10, 'enough of them are refused');
  assert.deepEqual(server.complaints, []);
  const inside = await server.inside();
  assert.equal(inside.pid, before.pid);
  assert.deepEqual(inside.pollution, []);
});

async function fill(random: Random): Promise<void> {
  await made(send('POST', '/dbs', { id: 'fuzz' }));
  for (const [id, [indexingPolicy, headers]] of Object.entries(CONTAINERS)) {
    const body = { id, partitionKey: { paths: ['/p'] }, indexingPolicy, defaultTtl: -1 };
    await made(send('POST', `${DATABASE}/colls`, body, headers));
    for (let n = 0; n < DOCUMENTS; n++) {
      const item = { id: `${n}`, ...randomDocument(random) } as { readonly p?: unknown };
      const key = JSON.stringify('p' in item ? [item.p] : [{}]);
      const pk = { 'x-ms-documentdb-partitionkey': key };
      await made(send('POST', `${DATABASE}/colls/${id}/docs`, item, pk));
    }
  }
}

async function made(sent: Promise<Answer>): Promise<void> {
  const { status, text } = await sent;
  assert.equal(status, 201, text);
}

function randomRequest(random: Random, tokens: readonly string[]) {
  const maybe = (share: number, headers: () => Headers) => (random() < share ? headers() : {});
  const container = randomPick(random, ['all', 'few', 'lazy', 'wide'] as const);
  return {
    path: `${DATABASE}/colls/${container}/docs`,
    body: randomBody(random),
    headers: {
      'content-type': 'application/query+json',
      'x-ms-documentdb-isquery': 'true',
      ...maybe(0.5, () => ({ 'x-ms-max-item-count': randomPick(random, ['1', '3', '100', '-1']) })),
      ...maybe(0.2, () => ({ 'x-ms-cosmos-is-query-plan-request': 'True' })),
      ...maybe(0.3, () => ({
        'x-ms-documentdb-partitionkey': JSON.stringify([randomPick(random, PARTITIONS)]),
      })),
      ...maybe(0.1, () => ({ 'x-ms-documentdb-partitionkeyrangeid': '0' })),
      ...maybe(0.2, () => ({ 'x-ms-continuation': randomToken(random, tokens) })),
      ...maybe(0.2, () => ({ 'x-ms-documentdb-populatequerymetrics': 'true' })),
      ...maybe(0.2, () => ({ 'x-ms-cosmos-populateindexmetrics-V2': 'true' })),
      ...maybe(0.2, () => ({ 'x-ms-documentdb-responsecontinuationtokenlimitinkb': '1' })),
    },
  };
}

function randomToken(random: Random, tokens: readonly string[]): string {
  const token = tokens[randomInteger(random, tokens.length || 1)] ?? 'AQID';
  const at = randomInteger(random, token.length);
  return random() < 0.5 ? token : `${token.slice(0, at)}x${token.slice(at + 1)}`;
}

function randomBody(random: Random): object {
  const { text, parameters } = randomQuery(random);
  const given = [...parameters].map(([name, value]) => ({ name, value }));
  const kind = random();
  if (kind < 0.35) return { query: text, parameters: given };
  if (kind < 0.6) return { query: randomMutant(random, text), parameters: given };
  if (kind < 0.75) return { query: randomMutant(random), parameters: given };
  if (kind < 0.85) return { query: randomSoup(random), parameters: given };
  if (kind < 0.95) return { query: printSql(randomTree(random)), parameters: given };
  return { query: text, parameters: randomJson(random) };
}

function checkAnswer(answer: Answer, body: object, headers: Headers): void {
  const label = `SEED=${seed} ${JSON.stringify(body)} ${JSON.stringify(headers)}: ${answer.text}`;
  const json = JSON.parse(answer.text) as Record<string, unknown>;
  if (answer.status === 200) {
    const isPlan = 'x-ms-cosmos-is-query-plan-request' in headers;
    assert.ok(isPlan ? json.queryRanges : Array.isArray(json.Documents), label.slice(0, 2000));
    return;
  }
  assert.equal(answer.status, 400, label.slice(0, 2000));
  assert.equal(json.code, 'BadRequest', label.slice(0, 2000));
  assert.ok(typeof json.message === 'string' && json.message.length > 10, label.slice(0, 2000));
}

function send(method: string, path: string, body: object, headers: Headers = {}): Promise<Answer> {
  const date = new Date().toUTCString();
  const authorization = signature(method, path, date, WELL_KNOWN_KEY);
  const all = { 'x-ms-date': date, 'x-ms-version': '2020-07-15', authorization, ...headers };
  return new Promise((resolve, reject) => {
    const request = http.request({ port, method, path, agent, headers: all }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    request.setTimeout(ANSWER_MS_MAX, () => {
      request.destroy(new Error(`SEED=${seed} no answer to ${JSON.stringify(body)}`));
    });
    request.on('error', reject);
    request.end(JSON.stringify(body));
  });
}
