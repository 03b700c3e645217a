// Spatial indexes and geospatialConfig, which decides whether a bounding box is needed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { define, refuses } from './refusal.suite.js';

const BOX = { xmin: 0, ymin: -1.5, xmax: 10, ymax: 10 };
const ALL = ['Point', 'LineString', 'Polygon', 'MultiPolygon'];

const indexed = (index: unknown, type?: unknown) => ({
  indexingPolicy: { spatialIndexes: [index] },
  ...(type === undefined ? {} : { geospatialConfig: { type } }),
});

test('geospatialConfig', () => {
  const form = (geospatialConfig: unknown) => define({ geospatialConfig }).geospatialConfig;
  assert.deepEqual(form(undefined), { type: 'Geography' });
  assert.deepEqual(form({}), { type: 'Geography' });
  assert.deepEqual(form({ type: 'geometry' }), { type: 'Geometry' });
  refuses(() => form({ type: 'Sphere' }), ['"Sphere"', 'Geography, Geometry']);
  refuses(() => form({ type: 3 }), ["3 of 'geospatialConfig.type'"]);
  refuses(() => form('Geometry'), ["'geospatialConfig'", 'an object']);
  refuses(() => form({ unit: 'm' }), ["'unit' is not a property of 'geospatialConfig'"]);
});

test('normal forms', () => {
  const form = (index: unknown, type?: string) =>
    define(indexed(index, type)).indexingPolicy.spatialIndexes;
  assert.deepEqual(form({ path: '/a/?', types: ['point'] }), [{ path: '/a/?', types: ['Point'] }]);
  assert.deepEqual(form({ path: '/a/*' }), [{ path: '/a/*', types: ALL }]);
  assert.deepEqual(form({ path: '/a/[]/?', types: ['Polygon', 'Point'], boundingBox: null }), [
    { path: '/a/[]/?', types: ['Polygon', 'Point'] },
  ]);
  assert.deepEqual(form({ path: '/a/?', types: ALL, boundingBox: BOX }, 'Geometry'), [
    { path: '/a/?', types: ALL, boundingBox: BOX },
  ]);
});

test('refusals', () => {
  const point = { path: '/a/?', types: ['Point'] };
  const refused: readonly (readonly [object, readonly string[]])[] = [
    [indexed(point, 'Geometry'), ['boundingBox', 'Geometry', "'/a/?'"]],
    [indexed({ ...point, boundingBox: BOX }), ['boundingBox', 'Geography', "'/a/?'"]],
    [indexed({ ...point, boundingBox: BOX }, 'Geography'), ['boundingBox', 'Geography']],
    [indexed({ ...point, boundingBox: { xmin: 0 } }, 'Geometry'), ["boundingBox.ymin' is missing"]],
    [indexed({ ...point, boundingBox: { ...BOX, xmax: '9' } }, 'Geometry'), ['"9"', 'a number']],
    [indexed({ ...point, boundingBox: { ...BOX, xmax: 0 } }, 'Geometry'), ['xmin 0', 'xmax 0']],
    [indexed({ ...point, boundingBox: { ...BOX, z: 0 } }, 'Geometry'), ["'z' is not a property"]],
    [indexed({ ...point, boundingBox: [] }, 'Geometry'), ['an array', 'an object']],
    [indexed({ ...point, types: [] }), ["types' is empty"]],
    [indexed({ ...point, types: ['Circle'] }), ['"Circle"', 'Point, LineString']],
    [indexed({ ...point, types: ['Point', 'POINT'] }), ['Point appears twice']],
    [indexed({ ...point, types: 'Point' }), ['"Point"', 'an array']],
    [indexed({ types: ['Point'] }), ["spatialIndexes[0].path' is missing"]],
    [indexed({ ...point, path: '/a' }), ["The indexing path '/a'"]],
    [indexed({ ...point, path: '/*' }), ["'/*'", 'one property']],
    [indexed({ ...point, path: '/a/[]/{b}/?' }), ['one property']],
    [indexed({ ...point, precision: 7 }), ["'precision' is not a property"]],
    [{ indexingPolicy: { spatialIndexes: [point, point] } }, ["'/a/?' appears twice"]],
    [{ indexingPolicy: { indexingMode: 'none', spatialIndexes: [point] } }, ['spatialIndexes']],
  ];
  for (const [parts, words] of refused) refuses(() => define(parts), words);
});
