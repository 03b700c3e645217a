// While a commit is on its way to the store, its changes cannot be read: no position may pass them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withContract } from '../contract.js';
import { BUDGET, containerNamed, insert, NOW } from '../contract-fixture.suite.js';
import { openKvEngine } from './kv-engine.js';
import { MemoryStore } from './memory.js';
import type { Write } from './store.js';

/** A store whose next write waits for a word. */
class HeldStore extends MemoryStore {
  /** Whether the last write has had to wait. */
  holds = false;
  #held: Promise<void> | undefined;

  hold(): () => void {
    let release = () => {};
    this.#held = new Promise((resolve) => {
      release = resolve;
    });
    return release;
  }

  override async write(writes: readonly Write[]): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    this.holds = held !== undefined;
    await held;
    await super.write(writes);
  }
}

for (const after of [0, 'now'] as const) {
  test(`from ${after}: a commit under way is not passed`, async () => {
    const store = new HeldStore();
    const engine = withContract(await openKvEngine(store));
    const box = containerNamed('c');
    const read = (from: number | 'now') =>
      engine.changes(box, { partition: undefined, span: undefined, after: from }, NOW, BUDGET);
    const put = (id: string) =>
      engine.commit(box, [{ partition: ['a'], changes: [insert(id)] }], NOW);
    await engine.createContainer(box);
    await put('1');
    const release = store.hold();
    const written = put('2');
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    assert(store.holds, 'a commit is under way');
    assert.equal((await engine.stats(box)).lsn, 1);
    const page = await read(after);
    assert.deepEqual([page.upTo, page.isEnd], [1, true]);
    release();
    await written;
    const next = await read(page.upTo);
    assert.deepEqual(
      next.items.map(({ key }) => key.id),
      ['2'],
    );
    await engine.close();
  });
}
