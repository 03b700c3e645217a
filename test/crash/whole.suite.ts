// Opens the store of a dead server and proves that it is whole.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { tableRange } from '../../src/engine/kv/keys.js';
import { openKvEngine } from '../../src/engine/kv/kv-engine.js';
import { openLmdb } from '../../src/engine/kv/lmdb.js';
import type { Store } from '../../src/engine/kv/store.js';

const SWEEP_MS = 10_000;
const KEYS_MAX = 1_000_000;

/** No item lacks an entry, no entry lacks its item, and the counts are right. */
export async function checkFolder(folder: string): Promise<void> {
  const engine = await openKvEngine(openLmdb(folder));
  await engine.check();
  await engine.close();
}

/** Containers that were dropped, or never finished, leave nothing behind once they are swept. */
export async function checkNothingLeft(folder: string): Promise<void> {
  const store = openLmdb(folder);
  const engine = await openKvEngine(store);
  const deadline = performance.now() + SWEEP_MS;
  while (true) {
    const left = slotsOf(store).filter((slot) => !containerSlots(store).includes(slot));
    if (left.length === 0) break;
    assert(performance.now() < deadline, `keys of dropped containers are left: ${left}`);
    await pause(20);
  }
  await engine.check();
  await engine.close();
}

function containerSlots(store: Store): readonly number[] {
  const keys = store.keys(...tableRange(0, 'container'), KEYS_MAX);
  return keys.map((key) => key.readUInt32BE(key.length - 4));
}

/** The container is the first part of every key; 0 is the store itself. */
function slotsOf(store: Store): readonly number[] {
  const keys = store.keys(Buffer.of(0), Buffer.of(0xff), KEYS_MAX);
  return [...new Set(keys.map((key) => key.readUInt32BE(0)))].filter((slot) => slot !== 0);
}
