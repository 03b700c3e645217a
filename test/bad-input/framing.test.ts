// What is wrong below the level of requests: lengths, chunks, hosts, garbage. Everything that was
// done is answered as done, and everything refused is refused in JSON.
import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';
import { COLLS, DOCS, IN_A, Target } from './support.suite.js';
import { type Answer, bytesOf, type Headers, signature, type Talk, talk } from './wire.suite.js';

const target = new Target();
await target.start();
after(() => target.close());

const GARBAGE = '\x00\x01 what is this\r\n\r\n';
const NO_REQUEST = 'The bytes received are not a valid HTTP request.';
let count = 0;
let body = Buffer.of();
beforeEach(() => {
  count += 1;
  body = Buffer.from(JSON.stringify({ id: `framed ${count}`, pk: 'a' }));
});

/** A request that creates the item of this test, unless its headers spoil it. */
function creation(headers: Headers = {}, of: Buffer | undefined = body): Buffer {
  const date = new Date().toUTCString();
  const authorization = signature('POST', DOCS, date, target.server.key);
  const all = { host: 'localhost', 'x-ms-date': date, authorization, ...IN_A, ...headers };
  return bytesOf({ method: 'POST', path: DOCS, headers: all, body: of });
}

const HEALTH = Buffer.from('GET /_mayfly/health HTTP/1.1\r\nhost: localhost\r\n\r\n');

async function said(
  bytes: readonly (Buffer | string)[],
  options?: Talk,
): Promise<readonly string[]> {
  const pieces = bytes.map((piece) =>
    typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece,
  );
  const { answers, rest, outcome } = await talk(target.server.port, pieces, options);
  assert.notEqual(outcome, 'timeout');
  assert.equal(rest.length, 0, rest.toString());
  return answers.map(shown);
}

function shown({ status, body: text }: Answer): string {
  if (status < 400) return String(status);
  const { code, message } = JSON.parse(text.toString()) as Record<string, string>;
  return `${status} ${code} ${message}`;
}

async function written(): Promise<number> {
  const metrics = await target.ask('GET', `${COLLS}/carts`, {
    headers: { 'x-ms-documentdb-populatequotainfo': 'true' },
  });
  const usage = metrics.headers.get('x-ms-resource-usage') ?? '';
  return Number(/documentsCount=(\d+)/.exec(usage)?.[1]);
}

async function writes(expected: number, work: () => Promise<void>): Promise<void> {
  const before = await written();
  await work();
  assert.equal((await written()) - before, expected);
}

describe('refused, and nothing is written', () => {
  const rows: Readonly<Record<string, () => readonly (Buffer | string)[]>> = {
    garbage: () => [GARBAGE],
    'another protocol': () => ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    'a method that is none': () => ['CREATE /dbs HTTP/1.1\r\nhost: x\r\n\r\n'],
    'line feeds alone': () => ['GET / HTTP/1.1\nhost: x\n\n'],
    'a blank in the path': () => ['GET /dbs/a b HTTP/1.1\r\nhost: x\r\n\r\n'],
    'bytes in the path that are not ASCII': () => ['GET /dbs/\xe9 HTTP/1.1\r\nhost: x\r\n\r\n'],
    'a zero byte in a header': () => ['GET / HTTP/1.1\r\nhost: x\r\na: b\0c\r\n\r\n'],
    'a blank in the name of a header': () => ['GET / HTTP/1.1\r\nhost: x\r\na b: c\r\n\r\n'],
    'a header that goes on in the next line': () => [
      'GET / HTTP/1.1\r\nhost: x\r\na: b\r\n c\r\n\r\n',
    ],
    'a length that is none': () => [creation({ 'content-length': 'many' })],
    'a negative length': () => [creation({ 'content-length': '-5' })],
    'two lengths': () => [creation({ 'content-length': ['5', String(body.length)] })],
    'a length and chunks': () => [
      creation({ 'content-length': String(body.length), 'transfer-encoding': 'chunked' }),
    ],
    'an unknown coding': () => [creation({ 'transfer-encoding': 'gzip' })],
    'a chunk without a size': () => [
      creation({ 'transfer-encoding': 'chunked' }, Buffer.from('zz\r\n')),
    ],
    'a chunk longer than its size': () => [
      creation({ 'transfer-encoding': 'chunked' }, Buffer.from('1\r\nabc\r\n0\r\n\r\n')),
    ],
    'an endless chunk extension': () => [
      creation({ 'transfer-encoding': 'chunked' }, Buffer.from(`5;${'x'.repeat(40_000)}\r\n`)),
    ],
  };
  for (const [name, bytes] of Object.entries(rows)) {
    test(name, () =>
      writes(0, async () => {
        assert.deepEqual(await said(bytes()), [`400 BadRequest ${NO_REQUEST}`]);
      }),
    );
  }

  test('a body shorter than its length, from a client that says no more', () =>
    writes(0, async () => {
      const short = creation({ 'content-length': String(body.length + 1) });
      assert.deepEqual(await said([short], { end: true }), [`400 BadRequest ${NO_REQUEST}`]);
    }));

  test('a body shorter than its length by a byte, from a client that goes away', () =>
    writes(0, async () => {
      const short = creation({ 'content-length': String(body.length + 1) });
      await talk(target.server.port, [short], { waitMs: 100 });
    }));

  test('a body cut at its length is no JSON any more, and the rest is no request', () =>
    writes(0, async () => {
      const [first = '', second, ...more] = await said([
        creation({ 'content-length': String(body.length - 1) }),
      ]);
      assert.match(first, /^400 BadRequest The request payload is invalid/);
      assert.equal(second, `400 BadRequest ${NO_REQUEST}`);
      assert.deepEqual(more, []);
    }));

  test('no host', async () => {
    const says = '400 BadRequest A request of HTTP/1.1 must have the header Host.';
    assert.deepEqual(await said(['GET /_mayfly/health HTTP/1.1\r\n\r\n']), [says]);
    const [answer = ''] = await said(['GET /_mayfly/health HTTP/1.0\r\n\r\n']);
    assert.match(answer, /^403 Forbidden The control API does not answer to the host name ''/);
  });

  test('headers beyond the limit, as many or as one', async () => {
    const many = Array.from({ length: 3000 }, (_, index) => `x-header-${index}: 1\r\n`).join('');
    for (const headers of [many, `x: ${'y'.repeat(40_000)}\r\n`]) {
      const [answer = '', ...more] = await said([`GET / HTTP/1.1\r\nhost: x\r\n${headers}\r\n`]);
      assert.match(answer, /^431 RequestHeaderFieldsTooLarge .* maximum of 32768 bytes\.$/);
      assert.deepEqual(more, []);
    }
  });
});

describe('done, and answered as done', () => {
  test('a write with garbage behind it', () =>
    writes(1, async () => {
      assert.deepEqual(await said([creation(), GARBAGE]), ['201', `400 BadRequest ${NO_REQUEST}`]);
    }));

  test('a body longer than its length: the write counts, the rest is refused', () =>
    writes(1, async () => {
      const bytes = Buffer.concat([creation(), Buffer.from('}}}')]);
      assert.deepEqual(await said([bytes]), ['201', `400 BadRequest ${NO_REQUEST}`]);
    }));

  test('several requests in one go, the last one bad: each gets its own answer, in order', () =>
    writes(1, async () => {
      const bad = creation({ 'transfer-encoding': 'chunked' }, Buffer.from('zz\r\n'));
      const bytes = Buffer.concat([HEALTH, creation(), creation(), HEALTH, bad]);
      const answers = (await said([bytes])).map((each) => each.slice(0, 3));
      assert.deepEqual(answers, ['200', '201', '409', '200', '400']);
    }));

  test('an expectation that nobody knows is ignored', () =>
    writes(1, async () => {
      const bytes = creation({ expect: 'tea', connection: 'close' });
      assert.deepEqual(await said([bytes]), ['201']);
    }));

  test('a body in chunks, with trailers and extensions', () =>
    writes(1, async () => {
      const half = body.length >> 1;
      const chunk = (part: Buffer) => [
        Buffer.from(`${part.length.toString(16)};a=b\r\n`),
        part,
        CRLF,
      ];
      const chunks = [...chunk(body.subarray(0, half)), ...chunk(body.subarray(half))];
      const end = Buffer.from('0\r\nx-trailer: x\r\n\r\n');
      const headers = { 'transfer-encoding': 'chunked', connection: 'close' };
      assert.deepEqual(await said([creation(headers, Buffer.concat([...chunks, end]))]), ['201']);
    }));

  test('the first of two hosts, authorizations or content types counts', () =>
    writes(1, async () => {
      const twice = { 'content-type': ['application/json', 'application/query+json'] };
      const bytes = creation({ ...twice, host: ['localhost', 'evil.test'], connection: 'close' });
      assert.deepEqual(await said([bytes]), ['201']);
    }));

  test('no trace of headers that name the insides of objects', () =>
    writes(1, async () => {
      const bytes = creation({ ['__proto__']: 'x', constructor: 'y', connection: 'close' });
      assert.deepEqual(await said([bytes]), ['201']);
      assert.equal(({} as Record<string, unknown>).x, undefined);
    }));
});

test('what comes behind a refusal does not change it', async () => {
  const pieces = [GARBAGE, ...Array.from({ length: 20 }, () => 'x'.repeat(1000))];
  assert.deepEqual(await said(pieces), [`400 BadRequest ${NO_REQUEST}`]);
});

test('after all of them the server is well', async () => {
  assert.deepEqual(target.defects, []);
  const metrics = await target.ask('GET', '/_mayfly/metrics', { sign: 'bearer' });
  assert.doesNotMatch(metrics.body.toString(), /status="5\d\d"/);
});

const CRLF = Buffer.from('\r\n');
