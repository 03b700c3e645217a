// Hostile scripts, each stopped by the right limit; and nothing of them is left for the next one.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { MayflyError } from '../value/errors.js';
import type { Program } from './messages.js';
import { Scripts } from './scripts.js';

const TIME_MS = 400;
const scripts = new Scripts(TIME_MS);
/** For those that run into something else than time, however slow the machine is. */
const patient = new Scripts(20_000);
after(() => Promise.all([scripts.close(), patient.close()]));

function program(body: string, more: Partial<Program> = {}): Program {
  const links = { selfLink: 'dbs/a/colls/b/', altLink: 'dbs/d/colls/c' };
  const setting = { kind: 'procedure', args: '[]', requestValues: {}, now: 0 } as const;
  return { name: 's', body, ...setting, ...links, ...more };
}

const run = (body: string, more: Partial<Program> = {}, by = patient) =>
  by.run(program(body, more), async ({ number }) => ({ number, value: '{}' }));

async function answer(body: string, more: Partial<Program> = {}): Promise<unknown> {
  const { responseBody } = await run(body, more);
  return responseBody === undefined ? undefined : JSON.parse(responseBody);
}

async function failureOf(body: string, by = patient): Promise<MayflyError> {
  try {
    await run(body, {}, by);
  } catch (error) {
    assert.ok(error instanceof MayflyError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: `nothing stopped: ${body}` });
}

const THROWN = 'scriptThrew';
const TIME = 'scriptTimeout';
const MEMORY = 'scriptMemory';

type Hostile = readonly [what: string, body: string, code: string | RegExp, says?: RegExp];

// biome-ignore format: a table is read in columns
const HOSTILE: readonly Hostile[] = [
  ['an endless loop',          'function () { for (;;); }',                                     TIME],
  ['one that catches all',     'function () { for (;;) { try { for (;;); } catch {} } }',      TIME],
  ['one in finally',           'function () { try { for (;;); } finally { for (;;); } }',      TIME],
  ['one in a callback',        "function () { __.readDocument('x', () => { for (;;); }); }",   TIME],
  ['one in a promise',         'async function () { await 1; for (;;); }',                      TIME],
  ['endless promises',         'function () { const f = () => Promise.resolve().then(f); f(); }', TIME],
  ['endless operations',       "function () { const f = () => { if (!__.readDocument('x', f)) for (;;); }; f(); }", TIME],
  ['a getter without end',     'function () { throw { get message() { for (;;); } }; }',        TIME],
  ['a catastrophic pattern',   'function () { /(a+)+$/.test("a".repeat(40) + "b"); }',          TIME],
  ['a native loop',            'function () { new Array(2 ** 31).join("abc"); }',               TIME],
  ['endless sorting',          'function () { for (;;) [3, 1, 2].sort(() => Math.random() - 0.5); }', TIME],
  ['a body that is no JSON',   'function () { __.response.setBody({ toJSON() { for (;;); } }); }', TIME],
  ['a huge text',              'function () { "x".repeat(2 ** 29); }',                          MEMORY],
  ['many texts',               'function () { const a = []; for (let i = 0; ; i++) a.push("x".repeat(1e7) + i); }', MEMORY],
  ['a huge buffer',            'function () { new Uint8Array(2 ** 28); }',                      MEMORY],
  ['many buffers',             'function () { const a = []; for (;;) a.push(new ArrayBuffer(2 ** 23)); }', MEMORY],
  ['a text that doubles',      'function () { let s = "x"; for (;;) s += s; }',                 THROWN, /string too long/],
  ['recursion',                'function f() { return f() + 1; }',                              THROWN, /stack overflow/],
  ['recursion through native', 'function f() { return [1].map(f); }',                           THROWN, /stack overflow/],
  ['a deep text to parse',     'function () { JSON.parse("[".repeat(1e6)); }',                  /scriptThrew|scriptDepth/],
  ['a huge answer',            'function () { __.response.setBody("x".repeat(9e6)); }',            THROWN, /too large/],
  ['a huge operation',         'function () { __.readDocument("x".repeat(5e6)); }',               THROWN, /too large/],
  ['a ring as an answer',      'function () { const a = []; a.push(a); __.response.setBody(a); }', THROWN, /circular/],
  ['the host by name',         'function () { process.exit(); }',                               THROWN, /'process' is not defined/],
  ['a module',                 'function () { require("node:fs"); }',                           THROWN, /'require' is not defined/],
  ['an import',                'async function () { await import("node:fs"); }',                THROWN],
  ['by the constructor',       'function () { setBody.constructor("return process")(); }',      THROWN],
  ['by a function of ours',    'function () { getContext.constructor("return process.pid")(); }', THROWN, /'process' is not defined/],
  ['by the stack of ours',     'function () { Error.prepareStackTrace = (e, s) => s; throw new Error().stack[0].getThis(); }', THROWN],
];

describe('what scripts do to others, and what stops them', () => {
  for (const [what, body, code, says] of HOSTILE) {
    test(what, async () => {
      const by = code === TIME ? scripts : patient;
      const error = await failureOf(body, by);
      assert.match(error.code, typeof code === 'string' ? new RegExp(`^${code}$`) : code);
      if (says) assert.match(error.message, says);
      const next = await run('function () { __.response.setBody(1 + 1); }', {}, by);
      assert.equal(next.responseBody, '2');
    });
  }
});

test('nothing is left for the next script', async () => {
  await run(`function () {
    globalThis.left = 1;
    Array.prototype.left = 1;
    JSON.parse = () => 'mine';
    getContext = () => 'mine';
    Object.defineProperty(Object.prototype, 'left', { value: 1 });
  }`);
  const left =
    'function () { __.response.setBody([typeof left, typeof [].left, JSON.parse("1")]); }';
  assert.deepEqual(await answer(left), ['undefined', 'undefined', 1]);
});

test('a script that changes what it stands on harms only itself', async () => {
  const broken = await failureOf('function () { JSON.stringify = () => "no JSON"; }');
  assert.equal(broken.kind.status, 400);
  const forged = 'function () { JSON.stringify = () => \'{"responseBody":"[]"}\'; }';
  assert.equal((await run(forged)).responseBody, '[]');
});

test('its clock is the one it is given, and goes on', async () => {
  const body = `function () {
    const a = Date.now();
    __.response.setBody([new Date(a).getUTCFullYear(), new Date().getTime() >= a, typeof Date(),
      new Date(0).toISOString(), new Date() instanceof Date, Date.UTC(2000, 0)]);
  }`;
  const year = Date.UTC(2042, 1, 1);
  assert.deepEqual(await answer(body, { now: year }), [
    2042,
    true,
    'string',
    '1970-01-01T00:00:00.000Z',
    true,
    946_684_800_000,
  ]);
});

test('many at once wait for each other', async () => {
  const all = Array.from({ length: 40 }, (_, n) =>
    answer('function (n) { __.response.setBody(n); }', { args: `[${n}]` }),
  );
  assert.deepEqual(
    await Promise.all(all),
    all.map((_, n) => n),
  );
});

describe('functions', () => {
  const call = async (body: string, calls: string) =>
    JSON.parse(await patient.callFunctions([{ name: 'f', body }], calls));

  test('values, nothing and failures', async () => {
    const body = `function (x, y) {
      if (x === 'fail') throw new Error('no');
      return x === 'y' ? y : x;
    }`;
    const [value, nothing, wrapped, infinite, failed] = await call(
      body,
      '[[0,[1]],[0,[]],[0,[["y"],[]],1],[0,[1e999]],[0,["fail"]]]',
    );
    assert.deepEqual([value, nothing, wrapped, infinite], [[1], [], [], []]);
    assert.equal(failed[1], 'Error: no');
  });

  test('huge results', async () => {
    const [first, second] = await call("(n) => 'x'.repeat(n)", '[[0,[7000000]],[0,[7000000]]]');
    assert.equal(first[0].length, 7_000_000);
    assert.match(second[1], /too large/);
  });

  test('they remember nothing', async () => {
    const body = `function f() {
      globalThis.n = (globalThis.n ?? 0) + 1;
      f.n = (f.n ?? 0) + 1;
      Array.prototype.n = 1;
      Math.n = 1;
      return [globalThis.n ?? 0, f.n ?? 0, [].n ?? 0, Math.n ?? 0];
    }`;
    const zeros = [[0, 0, 0, 0]];
    assert.deepEqual(await call(body, '[[0,[]],[0,[]]]'), [zeros, zeros]);
    assert.deepEqual(await call(body, '[[0,[]]]'), [zeros]);
  });

  test('an endless one is stopped', async () => {
    const call = (body: string) => scripts.callFunctions([{ name: 'f', body }], '[[0,[]]]');
    await assert.rejects(call('function () { for (;;); }'), { code: TIME });
    assert.equal(await call('function () { return 1; }'), '[[1]]');
  });
});

test('whoever waits when the server ends is told so', async () => {
  const closing = new Scripts(20_000);
  const endless = Array.from({ length: 6 }, () =>
    closing.run(program('function () { for (;;); }'), async ({ number }) => ({ number })),
  );
  const ended = Promise.allSettled(endless);
  await closing.close();
  for (const each of await ended) {
    assert.equal(each.status === 'rejected' && each.reason.code, 'shuttingDown');
  }
  await assert.rejects(closing.check('f', 'function () {}'), { code: 'shuttingDown' });
});
