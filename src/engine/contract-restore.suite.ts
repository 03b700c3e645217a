// The contract for taking over items of another engine: they are what they were there.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  ALL,
  BUDGET,
  containerNamed,
  type Fixture,
  insert,
  NOW,
  remove,
  replace,
  take,
} from './contract-fixture.suite.js';
import { type Container, type Item, type Version, VersionsForgotten } from './engine.js';

export function describeRestore(f: Fixture): void {
  const all = async (container: Container) => {
    const scan = { partition: undefined, span: undefined, after: 0 };
    return (await f.engine.changes(container, scan, NOW, BUDGET)).items.map(facts);
  };
  describe('restoring', () => {
    test('keeps serials, lsns, etags, fuses and the order of changes', async () => {
      const unique = { name: 'u', paths: [{ path: ['mail'], descending: false }], unique: true };
      const source = { ...containerNamed(f.newName('from')), indexes: [unique] };
      await f.engine.createContainer(source);
      f.box = source;
      for (const [n, id] of ['1', '2', '3', '4'].entries()) {
        await f.put(id, [`p${n % 2}`], n === 1 ? { mail: id, ttl: 50 } : { mail: id });
      }
      const change = (partition: string, ...changes: ReturnType<typeof insert>[]) =>
        f.engine.commit(source, [{ partition: [partition], changes }], NOW);
      await change('p0', replace('1', { mail: 'new' }));
      await change('p1', remove('4'));
      const target = { ...source, id: f.newName('to') };
      await f.engine.createContainer(target);
      const { lsn, nextSerial, items } = await f.engine.stats(source);
      const scan = { partition: undefined, span: undefined, after: 0 };
      const page = await f.engine.changes(source, scan, NOW, BUDGET);
      for (let time = 0; time < 2; time++) {
        await f.engine.restore(target, { items: page.items, lsn, nextSerial });
        assert.deepEqual(await all(target), await all(source));
        const stats = await f.engine.stats(target);
        assert.deepEqual([stats.lsn, stats.nextSerial, stats.items], [lsn, nextSerial, items]);
      }
      f.box = target;
      assert.deepEqual((await f.read('1', ['p0']))?.doc.value, { id: '1', mail: 'new' });
      const taken = await f.put('5', ['p0'], { mail: 'new' });
      assert.deepEqual((taken[0] as { refused?: unknown }).refused, { uniqueIndex: 'u' });
      const [made] = await f.put('5', ['p0'], { mail: 'free' });
      assert(made && 'items' in made);
      assert.equal(made.items[0]?.serial, nextSerial);
      const filter = { op: '=', path: ['mail'], value: 'new' } as const;
      const [found] = await take(f.engine.plan(target, { ...ALL, filter }).run(NOW, BUDGET), 1);
      assert.deepEqual(
        found?.items.map(({ key }) => key.id),
        ['1'],
      );
    });

    test('keeps the log of all versions, and takes a part of it twice', async (t) => {
      if (!f.engine.versions) return t.skip('this engine keeps no versions');
      const source = { ...containerNamed(f.newName('from')), retentionMs: 60_000 };
      const target = { ...source, id: f.newName('to') };
      for (const each of [source, target]) await f.engine.createContainer(each);
      const scan = { partition: undefined, span: undefined, after: 0 };
      const logOf = async (container: Container) => {
        const page = await f.engine.versions?.(container, scan, NOW, BUDGET);
        return page?.versions ?? [];
      };
      const change = (...changes: ReturnType<typeof insert>[]) =>
        f.engine.commit(source, [{ partition: ['p'], changes }], NOW);
      await change(insert('1'), insert('2'));
      await change(replace('1', { n: 2 }), remove('2'));
      const page = await f.engine.changes(source, scan, NOW, BUDGET);
      const { lsn, nextSerial, versionsFrom } = await f.engine.stats(source);
      assert.equal(versionsFrom, 0);
      await f.engine.restore(target, { items: page.items, lsn, nextSerial });
      assert.deepEqual(await logOf(target), [], 'what is taken over has not happened here');
      const versions = await logOf(source);
      assert.equal(versions.length, 4);
      for (let time = 0; time < 2; time++) {
        await f.engine.restore(target, { items: [], lsn, nextSerial, versions, versionsFrom });
        assert.deepEqual((await logOf(target)).map(told), versions.map(told));
      }
      const last = versions.slice(2);
      const rest = { items: [], lsn, nextSerial, versions: last, versionsFrom: 1 };
      await f.engine.restore(target, rest);
      assert.equal((await f.engine.stats(target)).versionsFrom, 1);
      await assert.rejects(logOf(target), VersionsForgotten);
    });
  });
}

function told({ key, serial, lsn, at, kind, doc, previous, expired }: Version): object {
  const before = previous && { lsn: previous.lsn, value: previous.doc?.value };
  return { key, serial, lsn, at, kind, value: doc?.value, before, expired };
}

function facts({ key, serial, lsn, etag, fuses, doc }: Item): object {
  return { key, serial, lsn, etag, fuses, text: Buffer.from(doc.bytes).toString() };
}
