// Positions come back from strangers: only those of the right form are taken.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPosition, resumeIn } from './position.js';

const counts = { offset: 0, limit: 5 };
const stream = { way: 'stream', resume: 'AAEC', skip: 1, skipOf: 7, ...counts };
const sorted = { way: 'sorted', keys: ['AA=='], identity: 'AA==', ...counts };

test('positions of every way are taken', () => {
  const { resume, ...atStart } = stream;
  assert.equal(typeof resume, 'string');
  for (const position of [
    stream,
    atStart,
    { ...stream, limit: undefined },
    { ...stream, taken: 7 },
    sorted,
    { way: 'groups', identity: '', ...counts },
    { way: 'ranked', passed: 3, ...counts },
  ]) {
    assert(isPosition(position), JSON.stringify(position));
  }
});

test('anything else is refused', () => {
  for (const wrong of [
    undefined,
    null,
    'stream',
    [],
    {},
    { ...stream, way: 'other' },
    { ...stream, offset: -1 },
    { ...stream, limit: 1.5 },
    { ...stream, taken: -1 },
    { ...stream, skip: '1' },
    { ...stream, skipOf: undefined },
    { ...stream, resume: 1 },
    { ...sorted, keys: 'AA==' },
    { ...sorted, keys: [1] },
    { ...sorted, identity: null },
    { way: 'ranked', passed: -1, ...counts },
  ]) {
    assert(!isPosition(wrong), JSON.stringify(wrong));
  }
});

test('only a stream has a resume point of the engine', () => {
  const resumed = (position: unknown) => {
    assert(isPosition(position));
    return resumeIn(position);
  };
  assert.deepEqual([...(resumed(stream) ?? [])], [0, 1, 2]);
  assert.equal(resumed({ ...stream, resume: undefined }), undefined);
  assert.equal(resumed(sorted), undefined);
  assert.equal(resumeIn(undefined), undefined);
});
