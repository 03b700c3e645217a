// Writes on top of a store: reading them back, and undoing them up to a mark.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeKey, documentKey } from './keys.js';
import { WriteSet } from './write-set.js';

const A = documentKey(1, 1);
const B = documentKey(1, 2);
const stored = Buffer.from('stored');
const below = { get: (key: Buffer) => (key.equals(A) ? stored : undefined) };
const bytes = (text: string) => Buffer.from(text);
const told = (writes: WriteSet) =>
  [...writes.entries()].map(([key, value]) => [key.readUInt8(key.length - 1), value?.toString()]);

test('what was written last is read, and what was not is read from below', () => {
  const writes = new WriteSet(below);
  assert.equal(writes.get(A), stored);
  writes.put(A, bytes('new'));
  writes.put(A, bytes('newer'));
  writes.put(B, bytes('b'));
  assert.equal(writes.get(documentKey(1, 1))?.toString(), 'newer');
  writes.remove(B);
  assert.equal(writes.get(B), undefined);
  assert.deepEqual(told(writes), [
    [1, 'new'],
    [1, 'newer'],
    [2, 'b'],
    [2, undefined],
  ]);
});

test('rolling back undoes what came after the mark, also over older writes and in turn', () => {
  const writes = new WriteSet(below);
  writes.put(B, bytes('kept'));
  const outer = writes.mark();
  writes.remove(A);
  const inner = writes.mark();
  writes.put(A, bytes('x'));
  writes.put(B, bytes('y'));
  writes.put(changeKey(1, 1, 1), bytes('z'));
  writes.rollBack(inner);
  assert.equal(writes.get(A), undefined);
  assert.equal(writes.get(B)?.toString(), 'kept');
  writes.put(A, bytes('again'));
  writes.rollBack(outer);
  assert.equal(writes.get(A), stored);
  assert.deepEqual(told(writes), [[2, 'kept']]);
  assert.equal(writes.size, 1);
});

test('entries that are only written cannot be read back by mistake', () => {
  const writes = new WriteSet(below);
  writes.put(changeKey(1, 1, 1), bytes(''));
  assert.throws(() => writes.get(changeKey(1, 1, 1)), /no write reads again/);
});
