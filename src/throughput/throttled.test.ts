// How long those who are refused are asked to wait.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ErrorCode, errorTable, MayflyError } from '../value/errors.js';
import { retryAfterMs, Throttled } from './throttled.js';

test('every 429 says how long to wait, and nothing else does', () => {
  assert.equal(retryAfterMs(new Throttled(7)), 7);
  for (const code of Object.keys(errorTable) as ErrorCode[]) {
    const waitMs = retryAfterMs(new MayflyError(code, ''));
    assert.equal(waitMs !== undefined, errorTable[code].status === 429, code);
  }
});
