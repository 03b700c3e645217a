// Effective partition keys against those that the clients compute, and dividing the hash space.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effectivePartitionKey, evenBoundaries, splitSpan } from './partition-hash.js';
import type { PartitionHash, Scalar } from './partition-key.js';
import { randomJson, randomText, seededRandom, seedFromEnvironment } from './random.suite.js';

const longText = 'a'.repeat(1024);

/** Value, version 2, version 1; from the tests of the public clients. */
const vectors: readonly (readonly [Scalar | undefined, string, string])[] = [
  ['', '32E9366E637A71B4E710384B2F4970A0', '05C1CF33970FF80800'],
  ['a', '3A5381E1114EB8D3FCC90795045B49B7', '05C1D78593652C086200'],
  ['redmond', '22E342F38A486A088463DFF7838A5963', '05C1EFE313830C087366656E706F6500'],
  [
    'partitionKey',
    '013AEFCF77FA271571CF665A58C933F1',
    '05C1E1B3D9CD2608716273756A756A706F4C667A00',
  ],
  [longText, '332BDF5512AE49615F32C7D98C2DB86C', `05C1EB5921F70608${'62'.repeat(100)}00`],
  ['é', '007199F104E04116EE25AF912CA4889B', '05C1B3CD91912008C4AA00'],
  [0, '155B95BEDAC4B1E9EC1CDC9BB0DDDE58', '05C1BF6DA115600580'],
  [-0, '155B95BEDAC4B1E9EC1CDC9BB0DDDE58', '05C1BF6DA115600580'],
  [1, '20CD98B339BA78A5D0CF6953B87070B0', '05C1ED172B6B2605BFF0'],
  [-1, '19938E7A936C1C5B9E3AE842BBC16839', '05C1D1A5BDDF9C054010'],
  [1.5, '35C5DDEB6C795D16A9963C73C54E97BC', '05C1E9694167A805BFF8'],
  [-128, '01DAEDABF913540367FE219B2AD06148', '05C1D73349F54C053FA0'],
  [127, '0C507ACAC853ECA7977BF4CEFB562A25', '05C1DD539DDFCC05C05FE0'],
  [-(2 ** 63), '23D5C6395512BDFEAFADAD15328AD2BB', '05C1DB35F33D1C053C20'],
  [2 ** 63, '2EDB959178DFCCA18983F89384D1629B', '05C1B799AB2DD005C3E0'],
  [-(2 ** 31), '0B1660D5233C3171725B30D4A5F4CC1F', '05C1DFBF252BCC053E20'],
  [2 ** 31 - 1, '2D9349D64712AEB5EB1406E2F0BE2725', '05C1E1F503DFB205C1DFFFFFFFFC'],
  [Number.MIN_VALUE, '0E6CBA63A280927DE485DEF865800139', '05C1E5C91F4D3005800101010101010102'],
  [Number.MAX_VALUE, '31424D996457102634591FF245DBCC4D', '05C1CBE367C53005FFEFFFFFFFFFFFFFFE'],
  [true, '0E711127C5B5A8E4726AC6DD306A3E59', '05C1D7C5A903D803'],
  [false, '2FE1BE91E90A3439635E0E9E37361EF2', '05C1DB857D857C02'],
  [null, '378867E4430E67857ACE5C908374FE16', '05C1ED45D7475601'],
  [undefined, '11622DAA78F835834610ABE56EFF5CB5', '05C1D529E345DC00'],
];

test('the known vectors of versions 1 and 2', () => {
  for (const [value, version2, version1] of vectors) {
    assert.equal(effectivePartitionKey([value], 'v2'), version2, String(value));
    assert.equal(effectivePartitionKey([value], 'multi'), version2, String(value));
    assert.equal(effectivePartitionKey([value], 'v1'), version1, String(value));
  }
});

test('version 2 hashes several components as one', () => {
  const key = [5, 'redmond', true, null];
  assert.equal(effectivePartitionKey(key, 'v2'), '3032DECBE2AB1768D8E0AEDEA35881DF');
});

test('hierarchical keys are the hashes of their components, so prefixes stay prefixes', () => {
  const whole = effectivePartitionKey(['a', 1, true], 'multi');
  assert.equal(
    whole,
    '3A5381E1114EB8D3FCC90795045B49B7' +
      '20CD98B339BA78A5D0CF6953B87070B0' +
      '0E711127C5B5A8E4726AC6DD306A3E59',
  );
  assert.equal(effectivePartitionKey(['a', 1], 'multi'), whole.slice(0, 64));
  assert.equal(effectivePartitionKey([], 'multi'), '');
});

test('version 1 shows at most 100 characters, and 101 bytes without an end', () => {
  const tail = (text: string): string => {
    const epk = effectivePartitionKey([text], 'v1');
    return epk.slice(epk.indexOf('08', 12));
  };
  assert.equal(tail('b'.repeat(99)), `08${'63'.repeat(99)}00`);
  assert.equal(tail('b'.repeat(100)), `08${'63'.repeat(100)}00`);
  assert.equal(tail('b'.repeat(101)), `08${'63'.repeat(100)}00`);
  assert.equal(tail('é'.repeat(50)), `08${'C4AA'.repeat(50)}00`);
  assert.equal(tail('é'.repeat(51)), `08${'C4AA'.repeat(50)}C4`);
});

test('every key lies inside the space', (t) => {
  const seed = seedFromEnvironment();
  t.diagnostic(`SEED=${seed}`);
  const random = seededRandom(seed);
  for (let round = 0; round < 5000; round++) {
    const value = random() < 0.5 ? randomText(random, 60) : (randomJson(random, 0) as Scalar);
    const message = `SEED=${seed} ${JSON.stringify(value)}`;
    const version2 = effectivePartitionKey([value], 'v2');
    assert.match(version2, /^[0-3][0-9A-F]{31}$/, message);
    const version1 = effectivePartitionKey([value], 'v1');
    assert.match(version1, /^05C[01]([0-9A-F]{2})+$/, message);
  }
});

test('ranges are divided as the service divides them', () => {
  const half = `1${'F'.repeat(31)}`;
  for (const hash of ['v2', 'multi'] as const) {
    assert.deepEqual(evenBoundaries(1, hash), ['', 'FF']);
    assert.deepEqual(evenBoundaries(2, hash), ['', half, 'FF']);
    assert.deepEqual(evenBoundaries(3, hash), [
      '',
      `1${'5'.repeat(31)}`,
      `2${'A'.repeat(31)}`,
      'FF',
    ]);
    assert.equal(evenBoundaries(5, hash)[1], `0${'C'.repeat(31)}`);
  }
  assert.deepEqual(evenBoundaries(2, 'v1'), ['', '05C1DFFFFFFFFC', 'FF']);
});

test('even boundaries ascend and share random keys about evenly', (t) => {
  const seed = seedFromEnvironment();
  t.diagnostic(`SEED=${seed}`);
  const keys = Array.from({ length: 4000 }, (_, index) => `${seed}-${index}`);
  for (const hash of ['v1', 'v2', 'multi'] as const) {
    for (const count of [2, 3, 7, 16]) {
      const boundaries = evenBoundaries(count, hash);
      assert.equal(boundaries.length, count + 1);
      assert.deepEqual([...new Set(boundaries)].sort(), boundaries);
      const shares = sharesOf(keys, boundaries, hash);
      const even = keys.length / count;
      // Seven standard deviations.
      for (const share of shares) {
        assert.ok(Math.abs(share - even) < 7 * Math.sqrt(even), `SEED=${seed} ${hash} ${shares}`);
      }
    }
  }
});

test('halving ranges again and again makes the even boundaries', () => {
  for (const hash of ['v1', 'v2', 'multi'] as const) {
    let boundaries: readonly string[] = ['', 'FF'];
    for (const count of [2, 4, 8, 16]) {
      boundaries = boundaries.flatMap((from, index) => {
        const to = boundaries[index + 1];
        return to === undefined ? [from] : [from, splitSpan(from, to, hash)];
      });
      assert.deepEqual(boundaries, evenBoundaries(count, hash));
    }
  }
});

test('a span can be split until its boundaries are neighbours', () => {
  for (const hash of ['v1', 'v2'] as const) {
    let to = splitSpan('', 'FF', hash);
    const steps = hash === 'v1' ? 30 : 124;
    for (let step = 0; step < steps; step++) {
      const middle = splitSpan('', to, hash);
      assert.ok('' < middle && middle < to, `${hash} ${step} ${middle} ${to}`);
      to = middle;
    }
    assert.throws(() => splitSpan('', to, hash), RangeError);
  }
});

test('spans of hierarchical keys are split by their first level', () => {
  const from = evenBoundaries(4, 'multi')[1] ?? '';
  const to = `${evenBoundaries(4, 'multi')[2]}${'0'.repeat(32)}`;
  assert.equal(splitSpan(from, to, 'multi'), evenBoundaries(8, 'multi')[3]);
});

function sharesOf(
  keys: readonly string[],
  boundaries: readonly string[],
  hash: PartitionHash,
): readonly number[] {
  const shares = boundaries.slice(1).map(() => 0);
  for (const key of keys) {
    const epk = effectivePartitionKey([key], hash);
    const range = boundaries.findLastIndex((boundary) => boundary <= epk);
    shares[range] = (shares[range] ?? 0) + 1;
  }
  return shares;
}
