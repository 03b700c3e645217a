// Group commit: who shares a commit with whom.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { MayflyError } from '../../value/errors.js';
import { Committer, type Origin } from './committer.js';
import { documentKey } from './keys.js';
import { MemoryStore } from './memory.js';
import type { Write } from './store.js';

/** Slow enough that the next commit waits for those who were just answered. */
const SLOW_MS = 5;

class SlowStore extends MemoryStore {
  readonly sizes: number[] = [];
  readonly holds: (boolean | undefined)[] = [];

  override async write(writes: readonly Write[], mayHold?: boolean): Promise<void> {
    const all = [...writes];
    this.sizes.push(all.length);
    this.holds.push(mayHold);
    await pause(SLOW_MS);
    await super.write(all);
  }
}

function committerOver(store: SlowStore) {
  const committer = new Committer(store, () => undefined);
  let serial = 0;
  const write = () => {
    serial += 1;
    const key = documentKey(1, serial);
    return committer.submit((writes) => writes.put(key, Buffer.of(1)));
  };
  const writer = async (count: number) => {
    for (let done = 0; done < count; done++) await write();
  };
  return { committer, write, writer };
}

test('two halves that would take turns become one group', async () => {
  const store = new SlowStore();
  const { writer } = committerOver(store);
  const first = [writer(5), writer(5), writer(5)];
  await pause(1);
  const second = [writer(5), writer(5), writer(5)];
  await Promise.all([...first, ...second]);
  assert.deepEqual(store.sizes, [3, 6, 6, 6, 6, 3]);
});

test('one who comes alone does not wait for others for long, and then not at all', async () => {
  const store = new SlowStore();
  const { write } = committerOver(store);
  const first = write();
  await pause(1);
  await Promise.all([first, write()]);
  for (let round = 0; round < 3; round++) await write();
  assert.deepEqual(store.sizes, [1, 1, 1, 1, 1]);
});

test('after a write that failed, the first is told why and all others that it is over', async () => {
  class FullStore extends SlowStore {
    override async write(): Promise<void> {
      throw new Error('no space left');
    }
  }
  const { write } = committerOver(new FullStore());
  const first = await write().catch((error: unknown) => error);
  assert.ok(first instanceof Error && !(first instanceof MayflyError), String(first));
  assert.match(String(first.cause), /no space left/);
  for (let round = 0; round < 2; round++) {
    const next = await write().catch((error: unknown) => error);
    assert.ok(next instanceof MayflyError && next.kind.status === 503, String(next));
    assert.match(next.message, /no more writes until the server is started again.*no space left/);
  }
});

test('work that throws is undone alone', async () => {
  const store = new SlowStore();
  const { committer, write } = committerOver(store);
  const broken = committer.submit((writes) => {
    writes.put(documentKey(1, 99), Buffer.of(1));
    throw new Error('no');
  });
  await Promise.all([write(), assert.rejects(broken, /no/), write()]);
  assert.deepEqual(store.sizes, [2]);
  assert.equal(store.get(documentKey(1, 99)), undefined);
});

test('a group that has much is closed, and the rest of the work has the next, in order', async () => {
  const store = new SlowStore();
  const { committer } = committerOver(store);
  const done: number[] = [];
  const submit = async (number: number, writes: number, bytes: number) => {
    await committer.submit((group) => {
      for (let index = 0; index < writes; index++) {
        group.put(documentKey(number, index), Buffer.alloc(bytes));
      }
    });
    done.push(number);
  };
  const sizes = [
    [1000, 1],
    [600, 1],
    [10, 1],
    [1, 3_000_000],
    [2, 1],
  ] as const;
  await Promise.all(sizes.map(([writes, bytes], index) => submit(index, writes, bytes)));
  assert.deepEqual(store.sizes, [1600, 11, 2]);
  assert.deepEqual(done, [0, 1, 2, 3, 4]);
});

const origins: readonly (readonly [active: number, Origin[], boolean])[] = [
  [1, ['request'], true],
  [2, ['request'], false],
  [2, ['request', 'request'], true],
  [2, ['request', 'background', 'background'], false],
  [1, ['request', 'background'], true],
  [1, ['background'], false],
  [0, ['background'], false],
];
for (const [active, submitted, expected] of origins) {
  const whom = `${active} active, ${submitted.join(' and ')}`;
  test(`the event loop may ${expected ? '' : 'not '}be held: ${whom}`, async () => {
    const store = new SlowStore();
    const committer = new Committer(
      store,
      () => undefined,
      () => active,
    );
    const put = (origin: Origin, index: number) =>
      committer.submit((group) => group.put(documentKey(1, index), Buffer.of(1)), origin);
    await Promise.all(submitted.map(put));
    assert.deepEqual(store.holds, [expected]);
  });
}
