// Geometries with many positions: most are compared in good time, those that cannot be are refused.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stopwatch } from '../../time/clock.js';
import { POSITIONS_MAX } from './geo-json.js';
import { callByName } from './rows.suite.js';
import { spatialFunctions } from './spatial.js';

const call = (name: string, ...args: readonly object[]) =>
  callByName(spatialFunctions, name, ...args);

describe('large geometries', () => {
  const round = (longitude: number, positions = POSITIONS_MAX - 1) => {
    const ring = Array.from({ length: positions }, (_, at) => {
      const angle = (2 * Math.PI * at) / positions;
      return [longitude + 10 * Math.cos(angle), 10 * Math.sin(angle)];
    });
    return { type: 'Polygon', coordinates: [[...ring, ring[0]]] };
  };
  /** All its sides are long and cross the same meridians. */
  const zigzag = (latitude: number) => ({
    type: 'LineString',
    coordinates: Array.from({ length: POSITIONS_MAX }, (_, at) => [
      20 * (at % 2),
      latitude + at * 1e-8,
    ]),
  });

  test('of ten thousand positions are read and compared', () => {
    assert.equal(call('ST_ISVALID', round(0)), true);
    assert.equal(call('ST_INTERSECTS', round(0), round(5)), true);
    assert.equal(call('ST_WITHIN', round(0), round(0)), true);
    const apart = call('ST_DISTANCE', round(0), round(40)) as number;
    assert.ok(Math.abs(apart - 2_226_390) < 10, `${apart}`);
  });

  test('that would take too long are refused, soon', () => {
    for (const name of ['ST_DISTANCE', 'ST_INTERSECTS']) {
      const took = stopwatch();
      assert.throws(() => call(name, zigzag(0), zigzag(1)), /too many comparisons/, name);
      assert.ok(took() < 5000, `${name} took ${took()} ms`);
    }
    assert.equal(call('ST_ISVALID', round(0, 100)), true, 'the next call begins anew');
  });
});
