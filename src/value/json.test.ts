// JSON bodies: what is kept of their text, what is taken out of it, and what is refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ErrorCode, MayflyError } from './errors.js';
import { isTooDeep, NESTING_MAX, parseJson, parseObject } from './json.js';
import {
  type Random,
  randomInteger,
  randomJson,
  randomPick,
  randomText,
  seededRandom,
  seedFromEnvironment,
} from './random.suite.js';

const SYSTEM = new Set(['_rid', '_self', '_etag', '_attachments', '_ts']);
const RANDOM_OBJECTS = 4000;

const membersOf = (text: string): string => parseObject(Buffer.from(text), SYSTEM).members;

test('members keep their text but for blanks', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['{}', ''],
    [' \r\n\t{ \r\n\t} \r\n\t', ''],
    ['{"a":1}', '"a":1'],
    ['{"b":1,"a":2}', '"b":1,"a":2'],
    ['{"2":1,"1":2}', '"2":1,"1":2'],
    [
      '{"a":1.0,"b":12345678901234567890,"c":-0,"d":1E+2}',
      '"a":1.0,"b":12345678901234567890,"c":-0,"d":1E+2',
    ],
    ['{ "a" :\t[ 1 ,\n2 , { "b" : "x y" } ] , "c" : null }', '"a":[1,2,{"b":"x y"}],"c":null'],
    ['{"a b":" c\\td "}', '"a b":" c\\td "'],
    ['{"a":"{\\"b\\":1},"}', '"a":"{\\"b\\":1},"'],
    ['{"a":"\\\\","b":"\\\\\\""}', '"a":"\\\\","b":"\\\\\\""'],
    ['{"\\u0061":"\\u00e9\\/é😀"}', '"\\u0061":"\\u00e9\\/é😀"'],
    ['{"a":"\\ud800"}', '"a":"\\ud800"'],
    ['{"a":1,"a":2}', '"a":1,"a":2'],
    ['{"":{"":[]}}', '"":{"":[]}'],
    ['{"a":[[],{},"]}",[{}]],"b":true}', '"a":[[],{},"]}",[{}]],"b":true'],
  ];
  for (const [text, members] of rows) assert.equal(membersOf(text), members, text);
});

test('named members are taken out of the text, wherever they are and however written', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['{"_ts":1}', ''],
    ['{"_ts":1,"a":2}', '"a":2'],
    ['{"a":1,"_ts":2}', '"a":1'],
    ['{"a":1,"_rid":{"x":[1,"}"]},"_ts":3,"b":2,"_etag":"\\"e\\""}', '"a":1,"b":2'],
    ['{"\\u005fts":1,"_\\u0074s":2,"\\u005F\\u0074\\u0073":3,"a":4}', '"a":4'],
    ['{"_ts":1,"_ts":2,"a":3}', '"a":3'],
    ['{"a":{"_ts":1},"b":["_ts"]}', '"a":{"_ts":1},"b":["_ts"]'],
    ['{"_TS":1,"_ts ":2,"ts":3}', '"_TS":1,"_ts ":2,"ts":3'],
    ['{"_lsn":1,"\\\\u005fts":2}', '"_lsn":1,"\\\\u005fts":2'],
  ];
  for (const [text, members] of rows) assert.equal(membersOf(text), members, text);
  const { value } = parseObject(Buffer.from('{"a":1,"_ts":2}'), SYSTEM);
  assert.deepEqual(value, { a: 1, _ts: 2 }, 'the value keeps them');
});

test('names of Object.prototype are names like any other', () => {
  const text = '{"__proto__":{"polluted":true},"constructor":1,"toString":2}';
  const { value, members } = parseObject(Buffer.from(text), SYSTEM);
  assert.equal(members, text.slice(1, -1));
  assert.deepEqual(Object.keys(value), ['__proto__', 'constructor', 'toString']);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.equal((Object.prototype as { polluted?: boolean }).polluted, undefined);
});

test('the last of several values of a name counts', () => {
  const { value, members } = parseObject(Buffer.from('{"id":"a","id":"b"}'), SYSTEM);
  assert.deepEqual(value, { id: 'b' });
  assert.deepEqual(JSON.parse(`{${members}}`), value);
});

test('nesting is bounded, objects and arrays alike, and brackets in strings are none', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const inObject = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
  for (const text of [nested(NESTING_MAX), inObject(NESTING_MAX)]) {
    assert.doesNotThrow(() => parseJson(Buffer.from(text)));
    assert.equal(isTooDeep(text), false);
  }
  for (const depth of [NESTING_MAX + 1, 100_000]) {
    for (const text of [nested(depth), inObject(depth), '['.repeat(depth)]) {
      refuses(() => parseJson(Buffer.from(text)), 'nestingTooDeep', `${NESTING_MAX} levels`);
      assert.equal(isTooDeep(text), true);
    }
  }
  const quoted = JSON.stringify({ a: '[{'.repeat(500), b: '"\\'.repeat(500) });
  assert.deepEqual(parseJson(Buffer.from(quoted)), JSON.parse(quoted));
  const wide = `[${nested(100)},${nested(100)}]`;
  assert.doesNotThrow(() => parseJson(Buffer.from(wide)));
});

test('what is no JSON, no UTF-8 or no object is refused', () => {
  const rows: readonly (readonly [string | Buffer, string])[] = [
    ['', 'empty'],
    [' ', ''],
    ['{', ''],
    ['{"a":1', ''],
    ['{"a":1}}', ''],
    ['{"a":1,}', ''],
    ["{'a':1}", ''],
    ['{a:1}', ''],
    ['{"a":01}', ''],
    ['{"a":NaN}', ''],
    ['{"a":"\n"}', ''],
    ['{"a":1} // why', ''],
    ['\ufeff{"a":1}', ''],
    ['{"a":"\\ud8"}', ''],
    [Buffer.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d), 'UTF-8'],
    [Buffer.from('{"a":"é"}', 'latin1'), 'UTF-8'],
    [Buffer.from('{"a":1}', 'utf16le'), ''],
    // An overlong slash, and a surrogate written in UTF-8.
    [Buffer.of(0x22, 0xc0, 0xaf, 0x22), 'UTF-8'],
    [Buffer.of(0x22, 0xed, 0xa0, 0x80, 0x22), 'UTF-8'],
    [Buffer.from('"é"').subarray(0, 2), 'UTF-8'],
  ];
  for (const [body, word] of rows) {
    const bytes = Buffer.from(body as string);
    refuses(() => parseJson(bytes), 'invalidJson', word);
    refuses(() => parseObject(bytes, SYSTEM), 'invalidJson', word);
  }
  for (const text of ['[]', '[{"a":1}]', '1', '"{}"', 'null', 'true']) {
    assert.doesNotThrow(() => parseJson(Buffer.from(text)));
    refuses(() => parseObject(Buffer.from(text), SYSTEM), 'invalidJson', 'must be a JSON object');
  }
});

test('a megabyte of quotes, backslashes or blanks takes no longer than other text', () => {
  const count = 500_000;
  for (const text of ['\\"', '\\\\', ' ', '{', '\\u005c']) {
    const body = `{"a":"${text.repeat(count)}","b":2}`;
    assert.equal(membersOf(body), body.slice(1, -1));
  }
  assert.equal(membersOf(`{"a":[${' '.repeat(2 * count)}1]}`), '"a":[1]');
  const many = Array.from({ length: 100_000 }, (_, index) => `"${index}":${index}`).join(',');
  assert.equal(membersOf(`{${many}}`), many);
});

test('random objects: the members are the text without blanks and without the named ones', (t) => {
  const seed = seedFromEnvironment();
  t.diagnostic(`SEED=${seed}`);
  const random = seededRandom(seed);
  for (let round = 0; round < RANDOM_OBJECTS; round++) {
    const members = Array.from({ length: randomInteger(random, 6) }, () => randomMember(random));
    const tokens = ['{', ...separated(members), '}'];
    const text = tokens.map((token) => blanks(random) + token).join('') + blanks(random);
    const parsed = parseObject(Buffer.from(text), SYSTEM);
    const message = `SEED=${seed} round ${round} ${text}`;
    const kept = members.filter((tokens) => !SYSTEM.has(nameOf(tokens)));
    assert.equal(parsed.members, separated(kept).join(''), message);
    const left = Object.entries(parsed.value).filter(([name]) => !SYSTEM.has(name));
    assert.deepEqual(JSON.parse(`{${parsed.members}}`), Object.fromEntries(left), message);
  }
});

/** A member as its tokens, between which JSON allows blanks. */
function randomMember(random: Random): readonly string[] {
  const name =
    random() < 0.3
      ? randomPick(random, ['_rid', '_self', '_etag', '_attachments', '_ts', '__proto__', 'id'])
      : randomText(random, 3);
  return [textToken(random, name), ':', ...tokensOf(random, randomJson(random))];
}

function tokensOf(random: Random, value: unknown): readonly string[] {
  if (typeof value === 'string') return [textToken(random, value)];
  if (typeof value !== 'object' || value === null) return [JSON.stringify(value)];
  if (Array.isArray(value)) {
    return ['[', ...separated(value.map((each) => tokensOf(random, each))), ']'];
  }
  const members = Object.entries(value).map(([name, inner]) => [
    textToken(random, name),
    ':',
    ...tokensOf(random, inner),
  ]);
  return ['{', ...separated(members), '}'];
}

function separated(parts: readonly (readonly string[])[]): readonly string[] {
  return parts.flatMap((part, index) => (index === 0 ? part : [',', ...part]));
}

/** Now and then every character is written as an escape, as JSON allows for all of them. */
function textToken(random: Random, text: string): string {
  if (random() < 0.7) return JSON.stringify(text);
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`;
}

function nameOf(tokens: readonly string[]): string {
  return JSON.parse(tokens[0] ?? '""') as string;
}

function blanks(random: Random): string {
  if (random() < 0.6) return '';
  return randomPick(random, [' ', '\n', '\r\n', '\t', '    ', ' \t \n ']);
}

function refuses(run: () => unknown, code: ErrorCode, word: string): void {
  assert.throws(run, (error) => {
    assert.ok(error instanceof MayflyError, `not an expected failure: ${String(error)}`);
    assert.equal(error.code, code);
    assert.ok(error.message.includes(word), error.message);
    return true;
  });
}
