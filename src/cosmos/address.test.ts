// Paths of requests: what they name, what a signature covers, and which are refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MayflyError } from '../value/errors.js';
import { parseAddress } from './address.js';

test('paths, their shapes and names, and what a signature covers', () => {
  type Row = readonly [
    url: string,
    shape: string,
    type: string,
    names: readonly string[],
    link: string,
  ];
  const rows: readonly Row[] = [
    ['/', '', '', [], ''],
    ['', '', '', [], ''],
    ['///', '', '', [], ''],
    ['/dbs', 'dbs', 'dbs', [], ''],
    ['/dbs/', 'dbs', 'dbs', [], ''],
    ['//dbs//', 'dbs', 'dbs', [], ''],
    ['/dbs/shop', 'dbs/*', 'dbs', ['shop'], 'dbs/shop'],
    ['/dbs/shop/colls', 'dbs/*/colls', 'colls', ['shop'], 'dbs/shop'],
    [
      '/dbs/shop/colls/carts/docs',
      'dbs/*/colls/*/docs',
      'docs',
      ['shop', 'carts'],
      'dbs/shop/colls/carts',
    ],
    [
      '/dbs/shop/colls/carts/docs/7',
      'dbs/*/colls/*/docs/*',
      'docs',
      ['shop', 'carts', '7'],
      'dbs/shop/colls/carts/docs/7',
    ],
    [
      '/dbs/shop/colls/carts/operations/partitionkeydelete',
      'dbs/*/colls/*/operations/partitionkeydelete',
      'colls',
      ['shop', 'carts'],
      'dbs/shop/colls/carts',
    ],
    ['/offers/AQAA', 'offers/*', 'offers', ['AQAA'], 'offers/AQAA'],
    ['/dbs/Shop%20A', 'dbs/*', 'dbs', ['Shop A'], 'dbs/Shop A'],
    ['/dbs/caf%C3%A9', 'dbs/*', 'dbs', ['café'], 'dbs/café'],
    ['/dbs/a%2Fb', 'dbs/*', 'dbs', ['a/b'], 'dbs/a/b'],
    ['/dbs/a+b?c=d&e#f', 'dbs/*', 'dbs', ['a+b?c=d&e#f'], 'dbs/a+b?c=d&e#f'],
    ['/dbs/%2520', 'dbs/*', 'dbs', ['%20'], 'dbs/%20'],
    ['/dbs/%00%0D%0A', 'dbs/*', 'dbs', ['\0\r\n'], 'dbs/\0\r\n'],
    ['/dbs/AAAAAQ==', 'dbs/*', 'dbs', ['AAAAAQ=='], 'dbs/AAAAAQ=='],
    ['/what/is/this', 'what/*/this', 'this', ['is'], 'what/is'],
    ['/dbs/a/b/c/d/e/f/g/h/i/j/k', 'dbs/*/b/*/d/*/f/*/h/*/j/*', 'j', [...'acegik'], ''],
  ];
  for (const [url, shape, type, names, link] of rows) {
    const address = parseAddress(url);
    assert.deepEqual([address.shape, address.type, address.names], [shape, type, names], url);
    if (names.length < 6) assert.equal(address.link, link, url);
  }
});

test('bad escapes and endless paths are refused by name', () => {
  const refused = ['/dbs/%', '/dbs/%zz', '/dbs/a%2', '/dbs/%ff', '/dbs/%c3', '/dbs/%ed%a0%80'];
  refused.push('/dbs//colls', '/dbs/a/colls//docs');
  refused.push('/a/b/c/d/e/f/g/h/i/j/k/l/m', `/dbs${'/x'.repeat(10_000)}`, `/a${'/'.repeat(99)}b`);
  for (const url of refused) {
    assert.throws(
      () => parseAddress(url),
      (error) => {
        assert.ok(error instanceof MayflyError);
        assert.equal(error.code, 'invalidPath');
        assert.ok(error.message.includes(url.slice(0, 100)), error.message);
        return true;
      },
    );
  }
});

test('kinds are compared as they are written: only names are decoded', () => {
  assert.equal(parseAddress('/d%62s').shape, 'd%62s');
  assert.equal(parseAddress('/DBS/a').shape, 'DBS/*');
});

test('a run of slashes takes no time', () => {
  const started = performance.now();
  assert.throws(() => parseAddress(`/dbs${'/'.repeat(200_000)}x`));
  assert.equal(parseAddress(`${'/'.repeat(200_000)}dbs${'/'.repeat(200_000)}`).shape, 'dbs');
  assert.ok(performance.now() - started < 1000);
});
