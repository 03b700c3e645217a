// The strict reading of request heads: what it takes it reads as Node's own parser does, and
// whatever is doubtful it leaves alone.
import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { after, test } from 'node:test';
import {
  randomInteger,
  randomPick,
  seededRandom,
  seedFromEnvironment,
} from '../value/random.suite.js';
import { type Head, parseHead } from './head.js';

function parse(text: string): Head | undefined {
  const end = text.indexOf('\r\n\r\n');
  return end < 0 ? undefined : parseHead(text, end + 2);
}

const HOST = 'Host: a:8081\r\n';

test('a usual request', () => {
  const text = `POST /dbs/a/colls?x HTTP/1.1\r\n${HOST}X-Ms-Date:  now \t\r\nempty:\r\ncontent-length: 12\r\n\r\n`;
  assert.deepEqual(parse(text), {
    method: 'POST',
    target: '/dbs/a/colls?x',
    headers: { host: 'a:8081', 'x-ms-date': 'now', empty: '', 'content-length': '12' },
    bodyBytes: 12,
  });
});

const left: Readonly<Record<string, string>> = {
  'an unknown method': `HEAD / HTTP/1.1\r\n${HOST}\r\n`,
  'a method in lower case': `get / HTTP/1.1\r\n${HOST}\r\n`,
  'another version': `GET / HTTP/1.0\r\n${HOST}\r\n`,
  'an absolute target': `GET http://a/ HTTP/1.1\r\n${HOST}\r\n`,
  'a blank in the target': `GET /a b HTTP/1.1\r\n${HOST}\r\n`,
  'two blanks': `GET  / HTTP/1.1\r\n${HOST}\r\n`,
  'no target': `GET HTTP/1.1\r\n${HOST}\r\n`,
  'a byte above ASCII in the target': `GET /\xe9 HTTP/1.1\r\n${HOST}\r\n`,
  'a tab after the method': `GET\t/ HTTP/1.1\r\n${HOST}\r\n`,
  'no host': 'GET / HTTP/1.1\r\na: b\r\n\r\n',
  'no header at all': 'GET / HTTP/1.1\r\n\r\n',
  'an empty line first': `\r\nGET / HTTP/1.1\r\n${HOST}\r\n`,
  'two hosts': `GET / HTTP/1.1\r\n${HOST}${HOST}\r\n`,
  'a header twice': `GET / HTTP/1.1\r\n${HOST}a: b\r\nA: c\r\n\r\n`,
  'two lengths': `POST / HTTP/1.1\r\n${HOST}content-length: 1\r\nContent-Length: 1\r\n\r\n`,
  'a length with a sign': `POST / HTTP/1.1\r\n${HOST}content-length: +1\r\n\r\n`,
  'a hexadecimal length': `POST / HTTP/1.1\r\n${HOST}content-length: 0x1\r\n\r\n`,
  'a list of lengths': `POST / HTTP/1.1\r\n${HOST}content-length: 1, 1\r\n\r\n`,
  'an empty length': `POST / HTTP/1.1\r\n${HOST}content-length:\r\n\r\n`,
  'a huge length': `POST / HTTP/1.1\r\n${HOST}content-length: 9999999999\r\n\r\n`,
  chunks: `POST / HTTP/1.1\r\n${HOST}transfer-encoding: chunked\r\n\r\n`,
  'an expectation': `POST / HTTP/1.1\r\n${HOST}expect: 100-continue\r\n\r\n`,
  'an upgrade': `GET / HTTP/1.1\r\n${HOST}connection: upgrade\r\nupgrade: h2c\r\n\r\n`,
  'a connection that closes': `GET / HTTP/1.1\r\n${HOST}connection: close\r\n\r\n`,
  'a folded line': `GET / HTTP/1.1\r\n${HOST}a: b\r\n c\r\n\r\n`,
  'a blank before the colon': `GET / HTTP/1.1\r\n${HOST}a : b\r\n\r\n`,
  'a blank before the name': `GET / HTTP/1.1\r\n a: b\r\n${HOST}\r\n`,
  'no colon': `GET / HTTP/1.1\r\n${HOST}a\r\n\r\n`,
  'no name': `GET / HTTP/1.1\r\n${HOST}: b\r\n\r\n`,
  'a line feed in a value': `GET / HTTP/1.1\r\n${HOST}a: b\nc: d\r\n\r\n`,
  'a carriage return in a value': `GET / HTTP/1.1\r\n${HOST}a: b\rc: d\r\n\r\n`,
  'a zero in a value': `GET / HTTP/1.1\r\n${HOST}a: b\0\r\n\r\n`,
  'a delete in a value': `GET / HTTP/1.1\r\n${HOST}a: b\x7f\r\n\r\n`,
  'a line feed in the first line': `GET /\n HTTP/1.1\r\n${HOST}\r\n`,
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
};

for (const [name, text] of Object.entries(left)) {
  test(`left to Node's parser: ${name}`, () => assert.equal(parse(text), undefined));
}

interface Read {
  readonly method: string | undefined;
  readonly target: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

let seen: Read | undefined;
const server = createServer({ requireHostHeader: false }, ({ method, url, headers }, response) => {
  seen = { method, target: url, headers };
  response.end();
});
await new Promise<void>((resolve) => {
  server.listen(0, '127.0.0.1', resolve);
});
after(() => server.close());

/** What Node's parser makes of it; undefined when that refuses. */
async function readByNode(text: string): Promise<Read | undefined> {
  seen = undefined;
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => {
    const socket = connect({ host: '127.0.0.1', port }, () => socket.end(text, 'latin1'));
    socket.resume().on('error', () => undefined);
    socket.on('close', () => resolve());
  });
  return seen;
}

const PIECES = [
  ...['GET', 'POST', 'PUT', ' ', '/', '/dbs/a', '%41', '?', ' HTTP/1.1', ' HTTP/1.0', '\r\n', '\n'],
  ...[
    '\r',
    '\t',
    ':',
    ': ',
    'host: x\r\n',
    'a: b\r\n',
    'A-b_c: d e \r\n',
    'x',
    '\xe9',
    '\xa0',
    '\0',
  ],
  ...['content-length: 0\r\n', 'Content-Length: 3\r\n', 'transfer-encoding: chunked\r\n', ';'],
  ...['connection: keep-alive\r\n', 'connection: close\r\n', '__proto__: a\r\n', 'cookie: c\r\n'],
];

test('what is taken is read as Node reads it', async () => {
  const seed = seedFromEnvironment();
  const random = seededRandom(seed);
  let taken = 0;
  for (let round = 0; round < 3000; round++) {
    let text = `${randomPick(random, ['GET', 'POST', 'DELETE'])} /dbs/${randomInteger(random, 9)} HTTP/1.1\r\nhost: h\r\n`;
    for (let count = randomInteger(random, 4); count > 0; count--) {
      text += `${randomPick(random, ['a', 'B-c', 'x-Ms-Date', 'd'])}:${randomPick(random, [' ', '', '\t '])}${randomInteger(random, 99)}\r\n`;
    }
    for (let count = randomInteger(random, 4); count > 0; count--) {
      const at = randomInteger(random, text.length + 1);
      text = text.slice(0, at) + randomPick(random, PIECES as [string]) + text.slice(at);
    }
    text += '\r\n';
    const head = parse(text);
    if (head === undefined) continue;
    taken += 1;
    const { bodyBytes, ...own } = head;
    const body = 'x'.repeat(Math.min(bodyBytes, 100));
    const whole = text.slice(0, text.indexOf('\r\n\r\n') + 4);
    const node = await readByNode(whole + body);
    assert.deepEqual(
      node && { ...node, headers: { ...node.headers } },
      own,
      `SEED=${seed} ${JSON.stringify(text)}`,
    );
  }
  assert(taken > 300, `only ${taken} were taken`);
});
