// Vector embeddings and the indexes over them, which must agree, also when a container is replaced.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redefineContainer } from './container-definition.js';
import { define, MINIMAL, refuses } from './refusal.suite.js';

const V = { path: '/v', dataType: 'float32', dimensions: 505, distanceFunction: 'cosine' };
const BIG = { ...V, path: '/big', dimensions: 4096, dataType: 'int8' };
const policy = (...vectorEmbeddings: unknown[]) => ({
  vectorEmbeddingPolicy: { vectorEmbeddings },
});
const indexes = (...vectorIndexes: unknown[]) => ({ indexingPolicy: { vectorIndexes } });
const flat = { path: '/v', type: 'flat' };

test('normal forms of the embedding policy', () => {
  const form = (parts: object) => define(parts).vectorEmbeddingPolicy;
  assert.deepEqual(form(policy(V, BIG)), { vectorEmbeddings: [V, BIG] });
  assert.deepEqual(form(policy({ ...V, dataType: 'Float32', distanceFunction: 'DotProduct' })), {
    vectorEmbeddings: [{ ...V, distanceFunction: 'dotproduct' }],
  });
  assert.equal(form(policy()), undefined);
  assert.equal(form({}), undefined);
});

test('refused embedding policies', () => {
  const refused: readonly (readonly [object, readonly string[]])[] = [
    [{ vectorEmbeddingPolicy: [] }, ["'vectorEmbeddingPolicy'", 'an object']],
    [{ vectorEmbeddingPolicy: {} }, ["vectorEmbeddings' is missing"]],
    [policy({ ...V, dataType: 'float33' }), ['has an invalid DataType:float33']],
    [policy({ ...V, dataType: undefined }), ['has an invalid DataType:undefined']],
    [policy({ ...V, dimensions: 0 }), ['has Dimensions:0 which is not a positive integer']],
    [policy({ ...V, dimensions: -1 }), ['The Vector Embedding Policy has Dimensions:-1']],
    [policy({ ...V, dimensions: 1.5 }), ['Dimensions:1.5']],
    [policy({ ...V, dimensions: '3' }), ['Dimensions:"3"']],
    [
      policy({ ...V, dimensions: 4097 }),
      ['Dimensions:4097 which is more than the maximum supported value 4096'],
    ],
    [
      policy({ ...V, distanceFunction: 'handMeasured' }),
      ['The Vector Embedding Policy has an invalid DistanceFunction:handMeasured'],
    ],
    [policy({ ...V, path: '/v/*' }), ["'/v/*'", 'wildcards']],
    [policy({ ...V, path: '/v/[]' }), ["'/v/[]'"]],
    [policy({ ...V, path: undefined }), ["vectorEmbeddings[0].path' is missing"]],
    [policy(V, { ...V, path: '/"v"' }), ['Duplicate Path :/"v" found in Vector Embedding Policy.']],
    [policy({ ...V, source: 'x' }), ["'source' is not a property"]],
  ];
  for (const [parts, words] of refused) refuses(() => define(parts), words);
});

test('normal forms of the indexes', () => {
  const full = {
    path: '/v',
    type: 'diskANN',
    quantizerType: 'product',
    quantizationByteSize: 505,
    indexingSearchListSize: 25,
    vectorIndexShardKey: ['/tenant'],
  };
  const quantized = { path: '/big', type: 'quantizedFlat', quantizationByteSize: 512 };
  const form = (...given: unknown[]) =>
    define({ ...policy(V, BIG), ...indexes(...given) }).indexingPolicy.vectorIndexes;
  assert.deepEqual(form(flat), [flat]);
  assert.deepEqual(form({ ...full, type: 'DiskANN' }, quantized), [full, quantized]);
  assert.deepEqual(form({ ...flat, vectorIndexShardKey: [] }), [flat]);
  assert.equal(form(), undefined);
});

test('refused indexes', () => {
  const disk = { path: '/v', type: 'diskANN' };
  const refused: readonly (readonly [unknown, readonly string[]])[] = [
    [{ path: '/v2', type: 'flat' }, ["path::/v2 not matching in Embedding's path"]],
    [{ path: '/v', type: 'notFlat' }, ['Index Type::notFlat is invalid']],
    [{ path: '/v' }, ['Index Type::undefined is invalid']],
    [{ type: 'flat' }, ["vectorIndexes[0].path' is missing"]],
    [{ path: '/big', type: 'flat' }, ["'/big'", 'at most 505 dimensions', 'has 4096']],
    [
      { ...disk, quantizationByteSize: 0 },
      ['QuantizationByteSize value :: 0 is out of range. The allowed range is between 1 and 505.'],
    ],
    [{ ...disk, quantizationByteSize: 506 }, ['between 1 and 505']],
    [{ ...disk, path: '/big', quantizationByteSize: 513 }, ['between 1 and 512']],
    [
      { ...disk, indexingSearchListSize: 5 },
      ['IndexingSearchListSize value :: 5 is out of range.', 'range is between 25 and 500.'],
    ],
    [{ ...disk, indexingSearchListSize: 501 }, ['between 25 and 500']],
    [{ ...disk, quantizerType: 'fuzzy' }, ['"fuzzy"', 'product, spherical']],
    [{ ...disk, vectorIndexShardKey: '/t' }, ['"/t"', 'an array']],
    [{ ...disk, vectorIndexShardKey: ['t'] }, ["'t'", "position '0'"]],
    [{ ...flat, quantizationByteSize: 4 }, ["quantizationByteSize' has no meaning", 'type flat']],
    [
      { path: '/v', type: 'quantizedFlat', indexingSearchListSize: 50 },
      ["indexingSearchListSize' has no meaning"],
    ],
    [{ ...flat, speed: 'high' }, ["'speed' is not a property"]],
  ];
  for (const [index, words] of refused) {
    refuses(() => define({ ...policy(V, BIG), ...indexes(index) }), words);
  }
  refuses(() => define(indexes(flat)), ["path::/v not matching in Embedding's path"]);
  refuses(
    () => define({ ...policy(V), ...indexes(flat, { ...disk, path: '/"v"' }) }),
    ['Duplicate Path :/"v" found in Vector Indexing Policy.'],
  );
});

test('a replacement adds embeddings and adds or removes indexes, and changes neither', () => {
  const current = define({ ...policy(V), ...indexes(flat) });
  const replace = (parts: object) => redefineContainer({ ...MINIMAL, ...parts }, current);

  const silent = replace({});
  assert.deepEqual(silent.vectorEmbeddingPolicy, current.vectorEmbeddingPolicy);
  assert.equal(silent.indexingPolicy.vectorIndexes, undefined);
  const added = { path: '/big', type: 'diskANN' };
  const grown = replace({ ...policy(BIG, V), ...indexes(added, flat) });
  assert.deepEqual(grown.vectorEmbeddingPolicy, { vectorEmbeddings: [BIG, V] });
  assert.deepEqual(grown.indexingPolicy.vectorIndexes, [added, flat]);

  for (const changed of [policy(), policy(BIG), policy({ ...V, dimensions: 3 })]) {
    refuses(
      () => replace(changed),
      ['Vector Embedding Policy cannot be changed in Collection Replace', "'/v'"],
    );
  }
  refuses(
    () => replace(indexes({ path: '/v', type: 'quantizedFlat' })),
    [
      'Paths in existing vector indexing policy cannot be modified in Collection Replace. ' +
        'They can only be added or removed.',
    ],
  );
});
