// What belongs to a database goes with it, however much it is, and whenever the server stops.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openKvEngine } from '../engine/kv/kv-engine.js';
import { MemoryStore } from '../engine/kv/memory.js';
import { systemClock } from '../time/clock.js';
import { systemEntropy } from '../time/entropy.js';
import { Purger } from '../time/purger.js';
import { MayflyError } from '../value/errors.js';
import type { Belonging } from './belongings.js';
import { Catalog } from './catalog.js';
import { CatalogStore, nameOf } from './catalog-store.js';
import type { Permission } from './definition/permission.js';
import type { Database } from './resources.js';

const clock = systemClock();
const entropy = systemEntropy();
const at = clock.now();
const purger = new Purger(clock, { active: 0, begun: 0 }, () => undefined);
const PERMISSION: Permission = { permissionMode: 'Read', resource: 'x', scope: { container: 1 } };

async function world() {
  const engine = await openKvEngine(new MemoryStore(), (error) => assert.fail(String(error)));
  const open = () => Catalog.open({ engine, entropy, purger }, at);
  const catalog = await open();
  const database = await catalog.createDatabase('d', undefined, at);
  return { engine, open, catalog, database };
}

const addUser = (catalog: Catalog, { serial }: Database, id: string) =>
  catalog.belongings.create({ kind: 'user', database: serial, owner: serial, id, body: {} }, at);
const addPermission = (catalog: Catalog, user: Belonging<'user'>, id: string) => {
  const { database, serial: owner } = user;
  const draft = { kind: 'permission', database, owner, id, body: PERMISSION } as const;
  return catalog.belongings.create(draft, at);
};
const count = (catalog: Catalog, database: Database) =>
  catalog.belongings.of('user', database.serial).length;

test('hundreds go with their database, and none is there after a restart', async () => {
  const { open, catalog, database } = await world();
  for (let n = 0; n < 350; n++) await addUser(catalog, database, `u${n}`);
  const other = await catalog.createDatabase('other', undefined, at);
  await addUser(catalog, other, 'stays');
  await catalog.deleteDatabase(database, at);
  for (const each of [catalog, await open()]) {
    assert.equal(count(each, database), 0);
    assert.equal(count(each, other), 1);
  }
});

test('permissions go with their user', async () => {
  const { open, catalog, database } = await world();
  const user = await addUser(catalog, database, 'u');
  for (let n = 0; n < 150; n++) await addPermission(catalog, user, `p${n}`);
  const other = await addUser(catalog, database, 'v');
  const kept = await addPermission(catalog, other, 'p');
  await catalog.belongings.remove(user, undefined, at);
  for (const each of [catalog, await open()]) {
    assert.deepEqual(each.belongings.of('permission', user.serial), []);
    assert.equal(each.belongings.numbered('permission', kept.serial)?.id, 'p');
  }
});

test('what a stop in the middle has left is swept at the next start', async () => {
  const { engine, open, catalog, database } = await world();
  const user = await addUser(catalog, database, 'u');
  const permission = await addPermission(catalog, user, 'p');
  const store = new CatalogStore(engine, entropy);
  await store.load(at);
  await store.write([{ name: nameOf.database('d'), remove: true }], at);
  const again = await open();
  assert.equal(again.belongings.numbered('user', user.serial), undefined);
  assert.equal(again.belongings.numbered('permission', permission.serial), undefined);
  assert.deepEqual(await store.load(at), []);
});

test('a user keeps its number with another id, and a stale copy cannot be written', async () => {
  const { open, catalog, database } = await world();
  const user = await addUser(catalog, database, 'u');
  const { serial: owner } = database;
  const draft = { kind: 'user', database: owner, owner, id: 'v', body: {} } as const;
  const renamed = await catalog.belongings.replace(user, draft, user.etag, at);
  assert.equal(renamed.serial, user.serial);
  assert.equal((await open()).belongings.find('user', owner, 'v')?.serial, user.serial);
  const stale = () => catalog.belongings.replace(renamed, draft, user.etag, at);
  await assert.rejects(stale, (error) => (error as MayflyError).code === 'preconditionFailed');
  await catalog.belongings.remove(renamed, undefined, at);
  await assert.rejects(
    () => catalog.belongings.replace(renamed, draft, undefined, at),
    MayflyError,
  );
  await assert.rejects(() => addPermission(catalog, renamed, 'p'), MayflyError);
});

test('many at once: every name once', async () => {
  const { catalog, database } = await world();
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, () => addUser(catalog, database, 'same')),
  );
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
  assert.equal(count(catalog, database), 1);
});

test('two servers over one store do not give one name twice', async () => {
  const { open, catalog, database } = await world();
  const other = await open();
  const user = await addUser(catalog, database, 'same');
  const again = (id: string) => addUser(other, database, id);
  await assert.rejects(
    again('same'),
    (error) => (error as MayflyError).code === 'resourceConflict',
  );
  const { serial: owner } = database;
  const draft = { kind: 'user', database: owner, owner, id: 'renamed', body: {} } as const;
  await catalog.belongings.replace(user, draft, undefined, at);
  await other.refresh();
  const second = await again('same');
  assert.notEqual(second.serial, user.serial);
  assert.equal(other.belongings.find('user', owner, 'renamed')?.serial, user.serial);
  assert.equal(count(other, database), 2);
});
