// Points, lines and polygons to each other: on borders, in holes, over the dateline and the poles,
// clockwise; and what is not valid.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Random,
  randomInteger,
  seededRandom,
  seedFromEnvironment,
} from '../../value/random.suite.js';
import { POSITIONS_MAX } from './geo-json.js';
import { callByName, type Row, testRows } from './rows.suite.js';
import { spatialFunctions } from './spatial.js';

type Positions = readonly (readonly number[])[];

const geometry = (type: string) => (coordinates: unknown) => ({ type, coordinates });
const point = (longitude: number, latitude: number) => geometry('Point')([longitude, latitude]);
const line = (...positions: Positions) => geometry('LineString')(positions);
const polygon = (...rings: readonly Positions[]) => geometry('Polygon')(rings);
const multiPoint = geometry('MultiPoint');
const multiLine = geometry('MultiLineString');
const multiPolygon = geometry('MultiPolygon');

/** Counter-clockwise. */
function box(west: number, south: number, east: number, north: number): Positions {
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
}
const backwards = (positions: Positions): Positions => [...positions].reverse();

const square = polygon(box(0, 0, 10, 10));
const holed = polygon(box(0, 0, 10, 10), backwards(box(4, 4, 6, 6)));
const holedAlike = polygon(box(0, 0, 10, 10), box(4, 4, 6, 6));
const inverse = polygon(backwards(box(0, 0, 10, 10)));
const overDateline = polygon(box(170, -10, -170, 10));
const northPole = polygon([
  [0, 80],
  [90, 80],
  [180, 80],
  [-90, 80],
  [0, 80],
]);
const twoSquares = multiPolygon([[box(0, 0, 1, 1)], [box(5, 5, 6, 6)]]);
const bay = polygon([
  [0, 0],
  [10, 0],
  [10, 10],
  [6, 10],
  [6, 4],
  [4, 4],
  [4, 10],
  [0, 10],
  [0, 0],
]);
const headquarters = polygon([
  [-122.13236581015025, 47.64606476313813],
  [-122.13221982500913, 47.633757091363975],
  [-122.11840598103835, 47.641749416109235],
  [-122.12061400629656, 47.64589264786028],
  [-122.13236581015025, 47.64606476313813],
]);

const within: readonly (readonly [object, object, boolean])[] = [
  [point(5, 5), square, true],
  [point(-5, 5), square, false],
  [point(5, 5), holed, false],
  [point(5, 5), holedAlike, false],
  [point(2, 5), holed, true],
  [point(2, 5), holedAlike, true],
  // Borders and corners belong to the polygon, and to its hole as well.
  [point(0, 5), square, true],
  [point(10, 10), square, true],
  [point(4, 5), holed, true],
  // A side between two places at ten degrees north bends to the north.
  [point(5, 10.02), square, true],
  [point(5, 10.05), square, false],
  [point(5, 5), inverse, false],
  [point(-5, 5), inverse, true],
  [point(-170, -80), inverse, true],
  [point(180, 0), overDateline, true],
  [point(-180, 0), overDateline, true],
  [point(175, 0), overDateline, true],
  [point(0, 0), overDateline, false],
  [point(123, 89), northPole, true],
  [point(0, 90), northPole, true],
  [point(0, 79), northPole, false],
  [point(0, -90), northPole, false],
  [point(5.5, 5.5), twoSquares, true],
  [point(3, 3), twoSquares, false],
  [point(-122.12824857332558, 47.6395516675712), headquarters, true],
  [
    multiPoint([
      [1, 1],
      [2, 2],
    ]),
    square,
    true,
  ],
  [
    multiPoint([
      [1, 1],
      [22, 2],
    ]),
    square,
    false,
  ],
  [point(1, 1), point(1, 1), true],
  [point(1, 1), point(1, 2), false],
  [point(0, 5), line([0, 0], [0, 10]), true],
  [point(0, 11), line([0, 0], [0, 10]), false],
  [
    point(1, 1),
    multiPoint([
      [0, 0],
      [1, 1],
    ]),
    true,
  ],
  [line([1, 1], [9, 9]), square, true],
  [line([1, 1], [11, 9]), square, false],
  [line([1, 5], [9, 5]), holed, false],
  [line([1, 1], [2, 2], [3, 1]), holed, true],
  // From one headland to the other, over the open sea.
  [line([4, 10], [6, 10]), bay, false],
  [line([2, 9], [8, 9]), bay, false],
  [line([2, 2], [8, 2]), bay, true],
  [line([0, 0], [10, 0]), square, true],
  [line([0, 2], [0, 3]), line([0, 0], [0, 10]), true],
  [line([0, 2], [0, 11]), line([0, 0], [0, 10]), false],
  [
    line([0, 2], [0, 8]),
    multiLine([
      [
        [0, 0],
        [0, 5],
      ],
      [
        [0, 5],
        [0, 9],
      ],
    ]),
    true,
  ],
  [line([0, 0], [0, 1]), point(0, 0), false],
  [square, square, true],
  [holed, square, true],
  [square, holed, false],
  [polygon(box(1, 1, 3, 3)), holed, true],
  [polygon(box(4, 4, 6, 6)), holed, false],
  [polygon(box(4.5, 4.5, 5.5, 5.5)), holed, false],
  [polygon(box(3, 3, 7, 7)), holed, false],
  [polygon(box(0, 0, 5, 5)), square, true],
  [polygon(box(5, 5, 15, 15)), square, false],
  [polygon(box(4.5, 5, 5.5, 9)), bay, false],
  [polygon(box(20, 20, 30, 30)), inverse, true],
  [square, inverse, false],
  [inverse, polygon(backwards(box(1, 1, 9, 9))), true],
  [inverse, square, false],
  [twoSquares, square, true],
  [twoSquares, polygon(box(0, 0, 5.5, 5.5)), false],
  [square, line([0, 0], [10, 0], [10, 10]), false],
];

const crossing: readonly (readonly [object, object, boolean])[] = [
  [point(1, 1), point(1, 1), true],
  [point(1, 1), point(1, 1.000001), false],
  [point(10, 90), point(-77, 90), true],
  [point(5, 5), square, true],
  [point(5, 5), holed, false],
  [point(5, 5), inverse, false],
  [line([-5, 5], [15, 5]), square, true],
  [line([-5, 5], [0, 5]), square, true],
  [line([-5, 5], [-1, 5]), square, false],
  [line([1, 1], [2, 2]), square, true],
  [line([4.5, 5], [5.5, 5]), holed, false],
  [line([0, 0], [0, 10]), line([-1, 5], [1, 5]), true],
  [line([0, 0], [0, 10]), line([0, 10], [0, 20]), true],
  [line([0, 0], [0, 10]), line([0, 5], [0, 20]), true],
  [line([0, 0], [0, 10]), line([0, 11], [0, 20]), false],
  [line([0, 0], [0, 10]), line([1, 0], [1, 10]), false],
  [line([170, 0], [-170, 0]), line([180, 5], [180, -5]), true],
  [line([170, 0], [-170, 0]), line([0, 5], [0, -5]), false],
  [square, polygon(box(5, 5, 15, 15)), true],
  [square, polygon(box(10, 0, 20, 10)), true],
  [square, polygon(box(10, 10, 20, 20)), true],
  [square, polygon(box(11, 0, 20, 10)), false],
  [square, polygon(box(2, 2, 3, 3)), true],
  [square, polygon(box(-20, -20, 20, 20)), true],
  [holed, polygon(box(4.5, 4.5, 5.5, 5.5)), false],
  [holed, polygon(box(4.5, 4.5, 7, 5.5)), true],
  [inverse, polygon(backwards(box(20, 20, 30, 30))), true],
  [inverse, polygon(box(4, 4, 6, 6)), false],
  [twoSquares, polygon(box(2, 2, 4, 4)), false],
  [twoSquares, polygon(box(2, 2, 5.5, 5.5)), true],
];

const invalid: readonly (readonly [object, reason: RegExp])[] = [
  [{}, /type/],
  [{ type: 'Circle', coordinates: [0, 0] }, /type/],
  [{ type: 'constructor', coordinates: [0, 0] }, /type/],
  [{ type: 'Point' }, /arrays/],
  [geometry('Point')([]), /two numbers/],
  [geometry('Point')([1]), /two numbers/],
  [geometry('Point')([1, '2']), /two numbers/],
  [geometry('Point')([1, 2, null]), /two numbers/],
  [geometry('Point')([[1, 2]]), /two numbers/],
  [point(133.7568278430635, -184.38876194345323), /^Latitude values must be between -90 and 90/],
  [point(0, 90.1), /Latitude/],
  [point(180.1, 0), /Longitude/],
  [point(-181, 0), /Longitude/],
  [multiPoint([]), /at least one/],
  [line(), /at least one/],
  [line([1, 1]), /two different/],
  [line([1, 1], [1, 1]), /two different/],
  [line([0, 0], [180, 0]), /opposite/],
  [line([0, 90], [0, -90]), /opposite/],
  [polygon([]), /at least one/],
  [
    polygon([
      [0, 0],
      [1, 0],
      [0, 0],
    ]),
    /four positions/,
  ],
  [
    polygon([
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 1],
    ]),
    /does not end/,
  ],
  [
    polygon([
      [0, 0],
      [1, 0],
      [1, 0],
      [0, 0],
    ]),
    /three different/,
  ],
  [
    polygon([
      [0, 0],
      [1, 1],
      [1, 0],
      [0, 1],
      [0, 0],
    ]),
    /Ring 1 .* itself/,
  ],
  [
    polygon([
      [0, 0],
      [2, 0],
      [1, 0],
      [0, 1],
      [0, 0],
    ]),
    /Ring 1 .* itself/,
  ],
  [
    polygon([
      [0, 0],
      [1, 0],
      [0, 0],
      [0, 1],
      [0, 0],
    ]),
    /Ring 1 .* itself/,
  ],
  [polygon(box(0, 0, 10, 10), box(5, 5, 15, 15)), /crosses another/],
  [polygon(box(0, 0, 10, 10), box(20, 20, 30, 30)), /Ring 2 .* inside/],
  [
    polygon(box(0, 0, 10, 10), [
      [0, 0],
      [1, 0],
      [1, 1],
    ]),
    /Ring 2 .* four/,
  ],
  [multiPolygon([[box(0, 0, 1, 1)], [[[0, 0]]]]), /four/],
  [multiPoint(Array.from({ length: POSITIONS_MAX + 1 }, () => [0, 0])), /more than 10000/],
];

const valid: readonly object[] = [
  point(-180, -90),
  geometry('Point')([180, 90, 8848]),
  { ...point(1, 2), crs: {}, bbox: [] },
  multiPoint(Array.from({ length: POSITIONS_MAX }, () => [0, 0])),
  line([0, 0], [0, 0], [1, 1]),
  multiLine([
    [
      [0, 0],
      [1, 1],
    ],
    [
      [0, 1],
      [1, 0],
    ],
  ]),
  square,
  holed,
  inverse,
  overDateline,
  northPole,
  bay,
  twoSquares,
  // A hole that touches the border in one place.
  polygon(box(0, 0, 10, 10), [
    [0, 5],
    [2, 4],
    [2, 6],
    [0, 5],
  ]),
];

testRows(spatialFunctions, [
  ...within.map(([a, b, expected]): Row => ['ST_WITHIN', [a, b], expected]),
  ...crossing.map(([a, b, expected]): Row => ['ST_INTERSECTS', [a, b], expected]),
  ...crossing.map(([a, b, expected]): Row => ['ST_INTERSECTS', [b, a], expected]),
  ...invalid.flatMap(([value]): readonly Row[] => [
    ['ST_ISVALID', [value], false],
    ['ST_AREA', [value], undefined],
    ['ST_DISTANCE', [value, square], undefined],
    ['ST_WITHIN', [square, value], undefined],
    ['ST_INTERSECTS', [value, value], undefined],
  ]),
  ...valid.flatMap((value): readonly Row[] => [
    ['ST_ISVALID', [value], true],
    ['ST_ISVALIDDETAILED', [value], { valid: true }],
    ['ST_DISTANCE', [value, value], 0],
    ['ST_WITHIN', [value, value], true],
  ]),
  ['ST_AREA', [point(0, 0)], 0],
  ['ST_AREA', [line([0, 0], [1, 1])], 0],
]);

test('ST_ISVALIDDETAILED says why', () => {
  for (const [value, expected] of invalid) {
    const answer = callByName(spatialFunctions, 'ST_ISVALIDDETAILED', value);
    const { valid, reason } = answer as { readonly valid: boolean; readonly reason: string };
    assert.equal(valid, false);
    assert.match(reason, expected);
  }
});

test('ST_DISTANCE between shapes', () => {
  const degree = (6_378_137 * Math.PI) / 180;
  const rows: readonly (readonly [object, object, metres: number])[] = [
    [point(0, 0), point(1, 0), degree],
    [point(0, 0), point(0, 1), 110_574.389],
    [point(5, 5), square, 0],
    [point(12, 0), square, 2 * degree],
    [point(12, 0), line([0, -5], [10, 0], [0, 5]), 2 * degree],
    [point(2, 0), line([0, -5], [0, 5]), 2 * degree],
    [point(-179, 0), line([179, -5], [179, 5]), 2 * degree],
    [point(5, 1), line([0, 0], [10, 0]), 110_574.389],
    [line([0, 0], [10, 0]), line([5, 1], [5, 9]), 110_574.389],
    [line([0, 0], [10, 0]), line([5, -1], [5, 9]), 0],
    [
      multiPoint([
        [50, 50],
        [0, 1],
      ]),
      point(0, 0),
      110_574.389,
    ],
    // Meridians converge: the corners are nearer to each other than the middles of the sides.
    [polygon(box(-1, -1, 1, 1)), polygon(box(3, -1, 5, 1)), 222_605.296],
    [twoSquares, point(-1, 0), degree],
    [point(0, 90), line([0, 70], [0, 80]), 1_116_825.857],
  ];
  for (const [a, b, metres] of rows) {
    for (const [from, to] of [
      [a, b],
      [b, a],
    ]) {
      const distance = callByName(spatialFunctions, 'ST_DISTANCE', from, to) as number;
      const text = `${JSON.stringify(from)} to ${JSON.stringify(to)}: ${distance}, not ${metres}`;
      assert.ok(Math.abs(distance - metres) <= metres * 1e-5, text);
    }
  }
  // The two nearest places are not at the same latitude: from inside the hole to its border.
  const toBorder = callByName(spatialFunctions, 'ST_DISTANCE', point(5, 5.5), holed) as number;
  assert.ok(toBorder > 54_000 && toBorder < 55_400, `${toBorder}`);
});

test('ST_AREA on the ellipsoid', () => {
  const surface = 510_065_621_724_088.44;
  const small = 735_970_283.0522614;
  const smallBox = box(31.8, -5, 32, -4.7);
  const largeBox = box(31, -6, 33, -4);
  const large = callByName(spatialFunctions, 'ST_AREA', polygon(largeBox)) as number;
  const rows: readonly (readonly [object, squareMetres: number])[] = [
    [polygon(smallBox), small],
    [polygon(backwards(smallBox)), surface - small],
    [multiPolygon([[smallBox], [smallBox.map(([x = 0, y = 0]) => [x + 90, y])]]), 2 * small],
    [polygon(largeBox, smallBox), large - small],
    [polygon(largeBox, backwards(smallBox)), large - small],
    [
      polygon([
        [0, 0],
        [90, 0],
        [0, 90],
        [0, 0],
      ]),
      surface / 8,
    ],
  ];
  for (const [value, squareMetres] of rows) {
    const area = callByName(spatialFunctions, 'ST_AREA', value) as number;
    assert.ok(Math.abs(area / squareMetres - 1) < 1e-6, `${JSON.stringify(value)}: ${area}`);
  }
});

const SHAPES = 400;

test('random shapes agree with each other', () => {
  const seed = seedFromEnvironment();
  const random = seededRandom(seed);
  const ask = (name: string, ...args: readonly unknown[]) =>
    callByName(spatialFunctions, name, ...args);
  for (let round = 0; round < SHAPES; round++) {
    const [a, b] = [randomShape(random), randomShape(random)];
    const text = `SEED=${seed} round ${round}: ${JSON.stringify([a, b])}`;
    assert.equal(ask('ST_ISVALID', a), true, text);
    const meet = ask('ST_INTERSECTS', a, b);
    assert.equal(ask('ST_INTERSECTS', b, a), meet, text);
    assert.equal(ask('ST_DISTANCE', a, b) === 0, meet, text);
    const [there, back] = [ask('ST_DISTANCE', a, b), ask('ST_DISTANCE', b, a)] as number[];
    assert.ok(Math.abs((there ?? 0) - (back ?? 0)) <= 1e-6 * (there ?? 0), text);
    if (ask('ST_WITHIN', a, b)) assert.equal(meet, true, text);
    assert.equal(ask('ST_WITHIN', a, a), true, text);
  }
});

/** Stars around a centre, which may be at the dateline or near a pole, and lines between places. */
function randomShape(random: Random): object {
  const longitude = randomInteger(random, 4) * 10 - 180;
  const latitude = randomInteger(random, 4) * 10 + 45;
  const corners = randomInteger(random, 6) + 3;
  const positions = Array.from({ length: corners }, (_, at) => {
    const angle = (at / corners) * 2 * Math.PI;
    const size = 1 + random() * 6;
    const east = longitude + (size * Math.cos(angle)) / Math.cos((latitude * Math.PI) / 180);
    return [east < -180 ? east + 360 : east, latitude + size * Math.sin(angle)];
  });
  const [first = []] = positions;
  if (random() < 0.2) return point(longitude, latitude);
  return random() < 0.3 ? line(...positions) : polygon([...positions, first]);
}
