// The full-text policy and the indexes over its paths.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redefineContainer } from './container-definition.js';
import { define, MINIMAL, refuses } from './refusal.suite.js';

const TEXT = { path: '/text', language: 'en-US' };
const policy = (...fullTextPaths: unknown[]) => ({
  fullTextPolicy: { defaultLanguage: 'en-US', fullTextPaths },
});
const indexes = (...fullTextIndexes: unknown[]) => ({ indexingPolicy: { fullTextIndexes } });

test('normal forms', () => {
  const form = (parts: object) => define(parts).fullTextPolicy;
  assert.deepEqual(form(policy(TEXT)), { defaultLanguage: 'en-US', fullTextPaths: [TEXT] });
  assert.deepEqual(form({ fullTextPolicy: { defaultLanguage: 'fr-FR' } }), {
    defaultLanguage: 'fr-FR',
  });
  assert.deepEqual(form(policy({ path: '/a/b' }))?.fullTextPaths, [{ path: '/a/b' }]);
  const { indexingPolicy } = define({ ...policy(TEXT), ...indexes({ path: '/text' }) });
  assert.deepEqual(indexingPolicy.fullTextIndexes, [{ path: '/text' }]);
});

test('refusals', () => {
  const refused: readonly (readonly [object, readonly string[]])[] = [
    [{ fullTextPolicy: 'en-US' }, ["'fullTextPolicy'", 'an object']],
    [{ fullTextPolicy: {} }, ['unsupported language undefined']],
    [
      { fullTextPolicy: { defaultLanguage: 'spa-SPA' } },
      [
        'The Full Text Policy contains an unsupported language spa-SPA. Supported languages are:',
        'en-US',
      ],
    ],
    [{ fullTextPolicy: { defaultLanguage: '' } }, ['unsupported language . Supported']],
    [policy({ ...TEXT, language: 'spa-SPA' }), ['unsupported language spa-SPA']],
    [policy({ ...TEXT, language: 7 }), ['unsupported language 7']],
    [
      policy({ ...TEXT, path: 'abstract' }),
      ['The Full Text Policy contains an invalid Path: abstract'],
    ],
    [policy({ ...TEXT, path: '/a/*' }), ['an invalid Path: /a/*']],
    [policy({ ...TEXT, path: '/a/[]' }), ['an invalid Path: /a/[]']],
    [policy({ language: 'en-US' }), ['an invalid Path: undefined']],
    [policy(TEXT, { path: '/"text"' }), ['a duplicate Path: /"text"']],
    [policy({ ...TEXT, stemming: true }), ["'stemming' is not a property"]],
    [{ fullTextPolicy: { defaultLanguage: 'en-US', fullTextPaths: '/a' } }, ['an array']],
    [
      indexes({ path: '/path' }),
      ['The path of the Full Text Index /path does not match the path specified in the Full Text'],
    ],
    [
      { ...policy(TEXT), ...indexes({ path: 'abstract' }) },
      ['Full-text index specification at index (0) contains invalid path'],
    ],
    [
      { ...policy(TEXT), ...indexes({ path: '/text' }, { not_path: 'abstract' }) },
      ['Missing path in full-text index specification at index (1)'],
    ],
    [
      { ...policy(TEXT), ...indexes({ path: '/text' }, { path: '/text' }) },
      ["'/text' appears twice"],
    ],
    [{ ...policy(TEXT), ...indexes({ ...TEXT }) }, ["'language' is not a property"]],
  ];
  for (const [parts, words] of refused) refuses(() => define(parts), words);
});

test('a replacement exchanges the policy or, by silence, removes it', () => {
  const current = define({ ...policy(TEXT), ...indexes({ path: '/text' }) });
  const replace = (parts: object) => redefineContainer({ ...MINIMAL, ...parts }, current);
  assert.equal(replace({}).fullTextPolicy, undefined);
  const next = replace({ ...policy({ path: '/new' }), ...indexes({ path: '/new' }) });
  assert.deepEqual(next.indexingPolicy.fullTextIndexes, [{ path: '/new' }]);
  refuses(() => replace(indexes({ path: '/text' })), ['/text does not match']);
});
