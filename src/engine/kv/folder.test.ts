// Data folders that cannot be used, and what is said of them.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder, toldOf } from './folder.js';
import { lockFolder } from './lock.js';

const place = mkdtempSync(join(tmpdir(), 'mayfly-folder-'));

test('folders are made with those above them, and left where they are', () => {
  const folder = join(place, 'a', 'b', 'c');
  makeFolder(folder);
  makeFolder(folder);
  assert.ok(existsSync(folder));
});

test('a file in the place of a folder, or of one above it, is named', () => {
  const file = join(place, 'file');
  writeFileSync(file, '');
  for (const path of [file, join(file, 'below')]) {
    const attempt = () => lockFolder(path, { startedAt: 'now' });
    assert.throws(
      attempt,
      /^Error: The data folder .*file.* cannot be used: a file is in its place/,
    );
  }
});

for (const [code, words] of [
  ['EACCES', 'this user may not write there'],
  ['EROFS', 'that file system is read-only'],
  ['ENOSPC', 'no space is left on that disk'],
] as const) {
  test(`${code} is put into words`, () => {
    const work = () => {
      throw Object.assign(new Error(code), { code });
    };
    assert.throws(() => toldOf('data', work), new RegExp(`The data folder data .*: ${words}`));
  });
}

test('a file system that takes no folders is no reason to wait for ever', {
  skip: !existsSync('/proc/self'),
}, () => {
  assert.throws(() => makeFolder('/proc/mayfly/data'), /that file system takes no folders/);
});
