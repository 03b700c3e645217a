// What the tests of definitions share: the smallest body, and the assertion of a refusal.
import assert from 'node:assert/strict';
import { type ErrorCode, MayflyError } from '../../value/errors.js';
import { type ContainerDefinition, defineContainer } from './container-definition.js';

export const MINIMAL = { id: 'c', partitionKey: { paths: ['/pk'] } };

export function define(parts: object): ContainerDefinition {
  return defineContainer({ ...MINIMAL, ...parts });
}

/** The error has the status 400, the code, and every one of the words in its text. */
export function refuses(run: () => unknown, words: readonly string[], code?: ErrorCode): void {
  assert.throws(run, (error) => {
    assert.ok(error instanceof MayflyError, `not an expected failure: ${String(error)}`);
    assert.equal(error.code, code ?? 'definitionInvalid', error.message);
    assert.equal(error.kind.status, 400);
    for (const word of words) {
      assert.ok(error.message.includes(word), `'${word}' is not in: ${error.message}`);
    }
    return true;
  });
}
