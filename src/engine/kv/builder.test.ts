// Building the index anew: all items get their entries, and those of older rules go.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { breathe } from '../../time/clock.js';
import { docFromValue } from '../../value/doc.js';
import { containerNamed, NOW } from '../contract-fixture.suite.js';
import { buildIndex } from './builder.js';
import { Committer } from './committer.js';
import { type Place, storeItem } from './entries.js';
import { Head } from './head.js';
import { tableRange } from './keys.js';
import { MemoryStore } from './memory.js';
import { pathEntries } from './path-index.js';

const ITEMS = 100;

async function withItems() {
  const store = new MemoryStore();
  const head = new Head(1, ['own', 'default'], []);
  const committer = new Committer(store, () => undefined);
  const old: Place = { head, container: containerNamed('c') };
  await committer.submit((writes) => {
    for (let serial = 1; serial <= ITEMS; serial++) {
      const draft = { id: `${serial}`, etag: '', fuses: [], doc: docFromValue({ a: serial % 7 }) };
      const key = { partition: [serial], id: draft.id };
      storeItem(writes, old, key, draft, { serial, lsn: serial, at: NOW }, undefined);
    }
    head.nextSerial = ITEMS + 1;
  });
  const indexing = { ...old.container.indexing, version: 2 };
  const place: Place = { head, container: { ...old.container, indexing } };
  head.follow(indexing);
  return { store, committer, head, place };
}

function entriesIn(store: MemoryStore): readonly string[] {
  const [from, to] = tableRange(1, 'path');
  return store.keys(from, to, 10_000).map((key) => key.toString('hex'));
}

function wantedFor(place: Place): readonly string[] {
  const keys = Array.from({ length: ITEMS }, (_, at) =>
    pathEntries(1, place.container.indexing, { a: (at + 1) % 7 }, at + 1),
  );
  return keys
    .flat()
    .map((key) => key.toString('hex'))
    .sort();
}

test('a build makes all entries and sweeps the old ones', async () => {
  const { store, committer, head, place } = await withItems();
  assert.equal(head.index.ready, false);
  await buildIndex(store, committer, { place: () => place, live: () => true, pause: breathe });
  assert.equal(head.index.ready, true);
  assert.deepEqual(entriesIn(store), wantedFor(place));
});

test('a build that was cut short goes on where it was', async () => {
  const { store, committer, head, place } = await withItems();
  for (let life = 0; life < 20 && !head.index.ready; life++) {
    const before = head.index.builtTo;
    let steps = 0;
    await buildIndex(store, committer, {
      place: () => place,
      live: () => steps++ < 2,
      pause: breathe,
    });
    assert(head.index.ready || head.index.builtTo > before);
  }
  await buildIndex(store, committer, { place: () => place, live: () => true, pause: breathe });
  assert.deepEqual(entriesIn(store), wantedFor(place));
});
