// Records of sessions: what is kept of them, and for how long.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withContract } from '../engine/contract.js';
import { openKvEngine } from '../engine/kv/kv-engine.js';
import { MemoryStore } from '../engine/kv/memory.js';
import { instant } from '../time/instant.js';
import type { Purger } from '../time/purger.js';
import { documentOf } from '../value/bson/value.js';
import { encodeDocument } from '../value/bson/write.js';
import { type Done, type SessionRecord, SessionRecords } from './session-records.js';

const MINUTE = 60_000;
const NOON = Date.parse('2030-06-01T12:00:00.000Z');
const purger = { expect: () => undefined, watch: async () => undefined } as unknown as Purger;

async function open() {
  const engine = withContract(await openKvEngine(new MemoryStore()));
  const records = new SessionRecords(engine, purger);
  const put = async (session: string, record: SessionRecord, at: number) => {
    const group = await records.change(session, 'c', instant(at), () => record);
    return engine.commitTogether([group], instant(at));
  };
  return { engine, records, put };
}

const plain = (kind: Done['kind']): Done => ({ kind, upserted: undefined, image: undefined });
const document = encodeDocument(documentOf({ _id: 1 }));

test('what is kept is read again, whatever the statements did', async () => {
  const { records, put } = await open();
  const many = Array.from({ length: 1000 }, (_, n) => [n, plain('inserted')] as const);
  const rows: readonly SessionRecord[] = [
    { number: 1n, transaction: undefined, statements: new Map(many) },
    { number: 2n ** 62n, transaction: 'committed', statements: new Map() },
    { number: 3n, transaction: 'aborted', statements: new Map() },
    {
      number: 4n,
      transaction: undefined,
      statements: new Map([
        [0, plain('inserted')],
        [1, plain('changed')],
        [3, plain('changed')],
        [4, { kind: 'upserted', upserted: document, image: undefined }],
        [5, { kind: 'removed', upserted: undefined, image: document }],
        [6, plain('removed')],
      ]),
    },
  ];
  for (const [index, record] of rows.entries()) {
    await put(`s${index}`, record, NOON);
    const kept = await records.read(`s${index}`, 'c', instant(NOON));
    assert.deepEqual(kept, record);
  }
  assert.equal(await records.read('none', 'c', instant(NOON)), undefined);
});

test('T2: it is remembered for 30 minutes up to the next full one, then gone and purged', async () => {
  const { engine, records, put } = await open();
  const record = {
    number: 1n,
    transaction: undefined,
    statements: new Map([[0, plain('changed')]]),
  };
  await put('s', record, NOON + 59_999);
  const end = NOON + 31 * MINUTE;
  for (const [at, isThere] of [
    [end - 1, true],
    [end, false],
    [end + 1, false],
  ] as const) {
    const kept = await records.read('s', 'c', instant(at));
    assert.equal(kept !== undefined, isThere, String(at - end));
  }
  const [container] = await engine.containers();
  assert(container);
  assert.equal((await engine.purge(container, instant(end - 1), 10)).purged, 0);
  assert.equal((await engine.purge(container, instant(end), 10)).purged, 1);
  await engine.check();
});
