// Lengths and areas that are known from the constants of the ellipsoid or from tables of geodesics.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { geodesicDistance, type Position, signedSteradians, squareMetresOf } from './geodesy.js';

const EQUATOR_DEGREE = (6_378_137 * Math.PI) / 180;
/** Surface of the WGS-84 ellipsoid in square metres. */
const SURFACE = 510_065_621_724_088.44;

test('geodesics', () => {
  const rows: readonly (readonly [Position, Position, metres: number])[] = [
    [[0, 0], [0, 0], 0],
    [[0, 0], [0, 1], 110_574.389],
    [[0, 0], [1, 0], EQUATOR_DEGREE],
    [[179.5, 0], [-179.5, 0], EQUATOR_DEGREE],
    [[-10, 0], [80, 0], 90 * EQUATOR_DEGREE],
    [[0, 0], [0, 90], 10_001_965.729],
    [[30, 90], [-150, -90], 20_003_931.459],
    [[0, 89], [180, 89], 2 * 111_693.865],
    // Vincenty's own example line in Australia, Flinders Peak to Buninyong.
    [[144.42486789, -37.95103342], [143.92649553, -37.65282114], 54_972.271],
  ];
  for (const [from, to, metres] of rows) {
    for (const distance of [geodesicDistance(from, to), geodesicDistance(to, from)]) {
      assert.ok(Math.abs(distance - metres) < 0.001, `${from} to ${to}: ${distance}`);
    }
  }
});

test('opposite places are measured on the sphere', () => {
  const rows: readonly (readonly [Position, Position, metres: number])[] = [
    [[0, 0], [180, 0], 20_003_931.459],
    [[0, 0], [179.5, 0.5], 19_936_288.579],
  ];
  for (const [from, to, metres] of rows) {
    const distance = geodesicDistance(from, to);
    assert.ok(Math.abs(distance / metres - 1) < 0.005, `${from} to ${to}: ${distance}`);
  }
});

test('areas of rings', () => {
  const rows: readonly (readonly [readonly Position[], squareMetres: number])[] = [
    // An eighth of the globe, a quarter around each pole, and a half across the dateline.
    [
      [
        [0, 0],
        [90, 0],
        [0, 90],
      ],
      SURFACE / 8,
    ],
    [
      [
        [90, 0],
        [0, 0],
        [0, 90],
      ],
      -SURFACE / 8,
    ],
    [
      [
        [0, 0],
        [90, 0],
        [180, 0],
        [-90, 0],
      ],
      SURFACE / 2,
    ],
    [
      [
        [170, 0],
        [-100, 0],
        [0, 90],
      ],
      SURFACE / 8,
    ],
    [
      [
        [0, 0],
        [0, -90],
        [90, 0],
      ],
      SURFACE / 8,
    ],
  ];
  for (const [ring, squareMetres] of rows) {
    const area = squareMetresOf(signedSteradians(ring));
    assert.ok(Math.abs(Math.abs(area) / Math.abs(squareMetres) - 1) < 1e-12, `${ring}: ${area}`);
    if (ring.length === 3) assert.equal(Math.sign(area), Math.sign(squareMetres), `${ring}`);
  }
  // A cap around each pole, of a degree; the sides cut off a little of the circle.
  for (const latitude of [89, -89]) {
    const ring = Array.from({ length: 360 }, (_, at): Position => {
      return [latitude > 0 ? at - 180 : 180 - at, latitude];
    });
    const area = squareMetresOf(signedSteradians(ring));
    assert.ok(Math.abs(area / (Math.PI * 111_693.9 ** 2) - 1) < 1e-3, `${latitude}: ${area}`);
  }
});
