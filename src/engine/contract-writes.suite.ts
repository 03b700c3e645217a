// The contract for writes: atomic batches, etags, keys of every kind, unique indexes.
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { cosmosRules } from '../time/expiry.js';
import type { PartitionKey } from '../value/partition-key.js';
import {
  BOOM,
  containerNamed,
  draftOf,
  type Fixture,
  insert,
  LATER,
  NOW,
  remove,
  replace,
} from './contract-fixture.suite.js';
import type { Change, Item } from './engine.js';

export function describeWrites(f: Fixture): void {
  describe('writes', () => {
    test('an inserted item reads back by key and by serial', async () => {
      const outcome = await f.put('1', ['a'], { n: 1 });
      const item = await f.read('1');
      assert.deepEqual(item?.doc.value, { id: '1', n: 1 });
      const [written] = outcome;
      assert(written && 'items' in written && item);
      assert.deepEqual(facts(written.items[0]), facts(item));
      const bySerial = (await f.engine.get(f.box, [item?.serial ?? 0], NOW)).items[0];
      assert.deepEqual(bySerial?.key, { partition: ['a'], id: '1' });
    });
    test('serials and lsns grow, a replace keeps the serial, a new life gets another', async () => {
      await f.put('1');
      await f.put('2');
      const first = await f.read('1');
      await f.engine.commit(f.box, [{ partition: ['a'], changes: [replace('1', { n: 2 })] }], NOW);
      const second = await f.read('1');
      assert.equal(second?.serial, first?.serial);
      assert.equal(second?.lsn, 3);
      await f.engine.commit(f.box, [{ partition: ['a'], changes: [remove('1')] }], NOW);
      await f.put('1');
      assert.equal((await f.read('1'))?.serial, 3);
    });
    test('insert refuses a second time and writes nothing', async () => {
      await f.put('1', ['a'], { n: 1 });
      const [outcome] = await f.put('1', ['a'], { n: 2 });
      assert.deepEqual(outcome, { refused: 'conflict', index: 0, lsn: 1 });
      assert.deepEqual((await f.read('1'))?.doc.value, { id: '1', n: 1 });
    });
    test('put and delete obey the expected etag', async () => {
      await f.put('1');
      const etag = (await f.read('1'))?.etag;
      const draft = draftOf('1', { n: 2 }, NOW);
      const commit = async (change: Change) =>
        (await f.engine.commit(f.box, [{ partition: ['a'], changes: [change] }], NOW))[0];
      const refused = (outcome: unknown) => (outcome as { refused?: unknown }).refused;
      assert.equal(
        refused(await commit({ kind: 'put', item: draft, ifEtag: 'x' })),
        'preconditionFailed',
      );
      assert.equal(
        refused(await commit({ kind: 'put', item: { ...draft, id: 'no' }, ifEtag: etag })),
        'notFound',
      );
      assert.equal(refused(await commit({ kind: 'put', item: draft, ifEtag: etag })), undefined);
      assert.equal(
        refused(await commit({ kind: 'delete', id: '1', ifEtag: etag })),
        'preconditionFailed',
      );
      assert.equal(
        refused(await commit({ kind: 'delete', id: '1', ifEtag: draft.etag })),
        undefined,
      );
      assert.equal(await f.read('1'), undefined);
    });
    test('update decides on the item as it is, also with many writers at once', async () => {
      await f.put('n', ['a'], { n: 0 });
      const bump: Change = {
        kind: 'update',
        id: 'n',
        decide: (current) => {
          const n = (current?.doc.value as { n: number } | undefined)?.n ?? -1;
          return { put: draftOf('n', { n: n + 1 }, NOW) };
        },
      };
      await Promise.all(
        Array.from({ length: 200 }, () =>
          f.engine.commit(f.box, [{ partition: ['a'], changes: [bump] }], NOW),
        ),
      );
      assert.deepEqual((await f.read('n'))?.doc.value, { id: 'n', n: 200 });
      assert.equal((await f.engine.stats(f.box)).lsn, 201);
    });
    test('keep and delete of nothing change nothing, not even the lsn', async () => {
      await f.put('1');
      const keep: Change = { kind: 'update', id: '1', decide: () => ({ keep: true }) };
      await f.engine.commit(f.box, [{ partition: ['a'], changes: [keep, remove('none')] }], NOW);
      assert.equal((await f.engine.stats(f.box)).lsn, 1);
    });
    test('a batch is all or nothing and has one lsn; batches of a call are independent', async () => {
      await f.put('taken');
      const outcomes = await f.engine.commit(
        f.box,
        [
          { partition: ['a'], changes: [insert('1'), insert('2'), insert('taken')] },
          { partition: ['a'], changes: [insert('3'), insert('4'), remove('3')] },
        ],
        NOW,
      );
      assert.deepEqual(outcomes[0], { refused: 'conflict', index: 2, lsn: 1 });
      assert.equal(await f.read('1'), undefined);
      assert.equal(await f.read('3'), undefined);
      assert.equal((await f.read('4'))?.lsn, 2);
      assert.equal((await f.engine.stats(f.box)).items, 2);
    });
    test('what decide throws undoes its call and nobody else', async () => {
      const results = await Promise.allSettled([
        f.put('before'),
        f.engine.commit(f.box, [{ partition: ['a'], changes: [insert('1'), BOOM] }], NOW),
        f.put('after'),
      ]);
      assert.deepEqual(
        results.map((result) => result.status),
        ['fulfilled', 'rejected', 'fulfilled'],
      );
      assert.equal(await f.read('1'), undefined);
      assert.equal((await f.engine.stats(f.box)).items, 2);
      const before = await f.engine.stats(f.box);
      const calls = [
        { partition: ['a'], changes: [insert('2')] },
        { partition: ['a'], changes: [BOOM] },
      ];
      await assert.rejects(f.engine.commit(f.box, calls, NOW), /boom/);
      assert.deepEqual(await f.engine.stats(f.box), before);
      await f.put('last');
      await f.engine.check();
    });
    test('partition keys of every kind are different partitions', async () => {
      const keys = [['a'], [1], [0], [true], [false], [null], [undefined], [''], ['1'], ['null']];
      for (const key of keys) await f.put('same', key);
      assert.equal((await f.engine.stats(f.box)).items, keys.length);
      for (const key of keys) assert.deepEqual((await f.read('same', key))?.key.partition, key);
    });
    test('long and strange ids and keys are kept apart', async () => {
      const long = 'k'.repeat(2047);
      const ids = [
        'x'.repeat(1022),
        `${'x'.repeat(1022)}y`,
        '\u{1F41D}'.repeat(255),
        '\uD83D',
        '\uDC1D',
        'a\0b',
        'a\0',
      ];
      const keys: PartitionKey[] = [[`${long}a`], [`${long}b`], [long]];
      for (const key of keys) for (const id of ids) await f.put(id, key, { key, id_: id });
      for (const key of keys) {
        for (const id of ids) {
          const value = (await f.read(id, key))?.doc.value;
          assert.deepEqual(value, { id, key, id_: id });
        }
      }
    });
  });

  describe('unique indexes', () => {
    const unique = { name: 'u', paths: [{ path: ['mail'], descending: false }], unique: true };
    beforeEach(async () => {
      f.box = { ...containerNamed(f.newName('u')), indexes: [unique] };
      await f.engine.createContainer(f.box);
    });
    test('hold per partition, count a missing value as null, follow replaces and deletes', async () => {
      await f.put('1', ['a'], { mail: 'x' });
      assert.deepEqual((await f.put('2', ['a'], { mail: 'x' }))[0], {
        refused: { uniqueIndex: 'u' },
        index: 0,
        lsn: 1,
      });
      assert('items' in ((await f.put('2', ['b'], { mail: 'x' }))[0] ?? {}));
      await f.put('3', ['a']);
      assert('refused' in ((await f.put('4', ['a'], { mail: null }))[0] ?? {}));
      const change = replace('1', { mail: 'y' });
      await f.engine.commit(f.box, [{ partition: ['a'], changes: [change] }], NOW);
      assert('items' in ((await f.put('5', ['a'], { mail: 'x' }))[0] ?? {}));
      await f.engine.commit(f.box, [{ partition: ['a'], changes: [remove('1')] }], NOW);
      assert('items' in ((await f.put('6', ['a'], { mail: 'y' }))[0] ?? {}));
    });
    test('T11: an expired holder does not block, and is gone for good once replaced', async () => {
      f.box = { ...f.box, expiry: cosmosRules(-1) };
      await f.engine.alterContainer(f.box);
      await f.put('1', ['a'], { mail: 'x', ttl: 10 });
      const refused = await f.put('2', ['a'], { mail: 'x' }, LATER(9_999));
      assert('refused' in (refused[0] ?? {}));
      const taken = await f.put('2', ['a'], { mail: 'x' }, LATER(10_000));
      assert('items' in (taken[0] ?? {}));
      f.box = { ...f.box, expiry: cosmosRules(undefined) };
      assert.equal(await f.read('1'), undefined);
    });
  });
}

/** What a write answers is the item as a read would find it. */
export function facts(item: Item | undefined): object {
  return { ...item, doc: item?.doc.value };
}
