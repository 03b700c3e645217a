// The contract for commits over several containers and partitions: all of it or nothing, and in
// each container as one change.
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { cosmosRules } from '../time/expiry.js';
import type { PartitionKey } from '../value/partition-key.js';
import {
  BOOM,
  BUDGET,
  containerNamed,
  draftOf,
  type Fixture,
  insert,
  LATER,
  NOW,
  remove,
  replace,
} from './contract-fixture.suite.js';
import { facts } from './contract-writes.suite.js';
import { type Change, type Container, ContainerGone, type WriteGroup } from './engine.js';

const UNIQUE = { name: 'u', paths: [{ path: ['mail'], descending: false }], unique: true };

export function describeTogether(f: Fixture): void {
  describe('commits of several containers', () => {
    let other: Container;
    beforeEach(async () => {
      f.box = { ...f.box, expiry: cosmosRules(-1) };
      await f.engine.alterContainer(f.box);
      other = { ...containerNamed(f.newName('o')), indexes: [UNIQUE] };
      await f.engine.createContainer(other);
    });
    const group = (
      container: Container,
      ...batches: (readonly [string, ...Change[]])[]
    ): WriteGroup => ({
      container,
      batches: batches.map(([partition, ...changes]) => ({ partition: [partition], changes })),
    });
    const readFrom = async (container: Container, id: string, partition: PartitionKey = ['a']) =>
      (await f.engine.get(container, [{ partition, id }], NOW)).items[0];
    const states = () => Promise.all([f.box, other].map((each) => f.engine.stats(each)));

    test('all are written, each container by its own order, each group with one lsn', async () => {
      await f.put('0');
      const outcome = await f.engine.commitTogether(
        [
          group(f.box, ['a', insert('1'), replace('0', { n: 1 })], ['b', insert('1')]),
          group(other, ['a', insert('1', { mail: 'x' })]),
        ],
        NOW,
      );
      assert('groups' in outcome);
      assert.deepEqual(
        outcome.groups.map(({ lsn, batches }) => [lsn, batches.map((items) => items.length)]),
        [
          [2, [2, 1]],
          [1, [1]],
        ],
      );
      const written = outcome.groups[1]?.batches[0]?.[0];
      assert.deepEqual(facts(written), facts(await readFrom(other, '1')));
      for (const [id, partition] of [
        ['0', 'a'],
        ['1', 'a'],
        ['1', 'b'],
      ] as const) {
        assert.equal((await f.read(id, [partition]))?.lsn, 2);
      }
      const scan = { partition: undefined, span: undefined, after: 0 };
      const page = await f.engine.changes(f.box, scan, NOW, { ...BUDGET, rowsMax: 1 });
      assert.equal(page.items.length, 3, 'what was written together is shown together');
      await f.put('2');
      assert.equal((await f.read('2'))?.lsn, 3);
    });

    test('a refusal anywhere leaves nothing anywhere, and says where', async () => {
      await f.put('taken');
      await f.engine.commitTogether([group(other, ['a', insert('1', { mail: 'x' })])], NOW);
      const before = await states();
      const rows: readonly (readonly [WriteGroup[], object])[] = [
        [
          [
            group(other, ['a', insert('2')]),
            group(f.box, ['b', insert('1')], ['a', insert('taken')]),
          ],
          { refused: 'conflict', group: 1, batch: 1, index: 0 },
        ],
        [
          [
            group(f.box, ['a', insert('1')]),
            group(other, ['a', remove('9'), insert('2', { mail: 'x' })]),
          ],
          { refused: { uniqueIndex: 'u' }, group: 1, batch: 0, index: 1 },
        ],
        [
          [group(f.box, ['a', replace('none', {})]), group(other, ['a', insert('2')])],
          { refused: 'notFound', group: 0, batch: 0, index: 0 },
        ],
      ];
      for (const [groups, expected] of rows) {
        assert.deepEqual(await f.engine.commitTogether(groups, NOW), expected);
        assert.deepEqual(await states(), before);
      }
      assert.equal(await readFrom(other, '2'), undefined);
      await f.engine.check();
    });

    test('decisions see what those before them have written', async () => {
      const seen: unknown[] = [];
      const look = (id: string): Change => ({
        kind: 'update',
        id,
        decide: (current) => {
          seen.push(current?.doc.value);
          return { keep: true };
        },
      });
      await f.engine.commitTogether(
        [
          group(f.box, ['a', insert('1', { n: 1 })], ['a', look('1'), remove('1'), look('1')]),
          group(
            other,
            ['a', insert('1', { mail: 'x' }), remove('1')],
            ['a', insert('2', { mail: 'x' })],
          ),
        ],
        NOW,
      );
      assert.deepEqual(seen.slice(-2), [{ id: '1', n: 1 }, undefined]);
      assert.equal((await readFrom(other, '2'))?.serial, 2);
    });

    test('T11: what is expired is not seen, and blocks nothing', async () => {
      other = { ...other, expiry: cosmosRules(-1) };
      await f.engine.alterContainer(other);
      await f.put('1', ['a'], { ttl: 10 });
      await f.engine.commit(
        other,
        group(other, ['a', insert('1', { mail: 'x', ttl: 10 })]).batches,
        NOW,
      );
      const again = () => [
        group(f.box, ['a', insert('1', {}, LATER(10_000))]),
        group(other, ['a', insert('2', { mail: 'x' }, LATER(10_000))]),
      ];
      assert('refused' in (await f.engine.commitTogether(again(), LATER(9_999))));
      assert('groups' in (await f.engine.commitTogether(again(), LATER(10_000))));
      assert.equal((await f.engine.stats(other)).items, 1);
    });

    test('what decide throws undoes all of it and nobody else', async () => {
      const results = await Promise.allSettled([
        f.put('before'),
        f.engine.commitTogether([group(f.box, ['a', insert('1')]), group(other, ['a', BOOM])], NOW),
        f.put('after'),
      ]);
      assert.deepEqual(
        results.map((result) => result.status),
        ['fulfilled', 'rejected', 'fulfilled'],
      );
      assert.equal(await f.read('1'), undefined);
      assert.equal((await f.engine.stats(f.box)).items, 2);
    });

    test('nothing kept is nothing changed; a container that is gone refuses all', async () => {
      const keep: Change = { kind: 'update', id: '1', decide: () => ({ keep: true }) };
      const outcome = await f.engine.commitTogether(
        [group(f.box, ['a', keep]), group(other, ['a', insert('1')])],
        NOW,
      );
      assert('groups' in outcome);
      assert.deepEqual(
        outcome.groups.map(({ lsn }) => lsn),
        [0, 1],
      );
      await f.engine.dropContainer(other.id);
      const both = [group(f.box, ['a', insert('1')]), group(other, ['a', insert('2')])];
      await assert.rejects(f.engine.commitTogether(both, NOW), ContainerGone);
      assert.equal(await f.read('1'), undefined);
    });

    test('many at once, naming containers in either order, lose nothing', async () => {
      const money = (container: Container, amount: number): Change => ({
        kind: 'update',
        id: 'm',
        decide: (current) => {
          const before = (current?.doc.value as { n: number } | undefined)?.n ?? 100;
          return { put: draftOf('m', { n: before + amount, mail: container.id }, NOW) };
        },
      });
      await Promise.all(
        Array.from({ length: 100 }, (_, n) => {
          const pair = [f.box, other].map((container, index) =>
            group(container, ['a', money(container, index === n % 3 ? -1 : 1)]),
          );
          return f.engine.commitTogether(n % 2 === 0 ? pair : pair.reverse(), NOW);
        }),
      );
      const [one, two] = await Promise.all([f.box, other].map((each) => readFrom(each, 'm')));
      const sums = [one, two].map((item) => (item?.doc.value as { n?: number } | undefined)?.n);
      assert.deepEqual(sums, [100 + 66 - 34, 100 + 67 - 33]);
      assert.deepEqual(
        (await states()).map(({ lsn }) => lsn),
        [100, 100],
      );
    });
  });
}
