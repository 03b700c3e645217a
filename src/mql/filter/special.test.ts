// Conditions with a world of their own: schemas, places, words.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Decimal128, Long } from 'bson';
import { bytesOf, PLAIN_LANGUAGE, type Plain } from '../language.suite.js';
import { compileFilter } from './filter.js';

type Row = readonly [condition: Plain, matching: readonly Plain[], failing: readonly Plain[]];

const schemas: readonly Row[] = [
  [{ required: ['a'] }, [{ a: null }], [{}]],
  [
    { properties: { a: { bsonType: 'int' } } },
    [{ a: 1 }, {}],
    [{ a: 1.5 }, { a: Long.fromNumber(1) }],
  ],
  [{ properties: { a: { bsonType: ['int', 'null'] } } }, [{ a: null }], [{ a: 'x' }]],
  [{ properties: { a: { type: 'number' } } }, [{ a: 1.5 }], [{ a: '1' }]],
  [{ properties: { a: { minimum: 2, maximum: 4 } } }, [{ a: 2 }, { a: 'x' }], [{ a: 1 }, { a: 5 }]],
  [{ properties: { a: { minimum: 2, exclusiveMinimum: true } } }, [{ a: 3 }], [{ a: 2 }]],
  [
    { properties: { a: { multipleOf: 0.1 } } },
    [{ a: Decimal128.fromString('0.3') }],
    [{ a: 0.25 }],
  ],
  [
    { properties: { a: { minLength: 2, maxLength: 3 } } },
    [{ a: '😀😀' }],
    [{ a: 'x' }, { a: 'xxxx' }],
  ],
  [{ properties: { a: { pattern: '^x' } } }, [{ a: 'xy' }], [{ a: 'y' }]],
  [{ properties: { a: { enum: [1, 'x'] } } }, [{ a: Long.fromNumber(1) }], [{ a: 2 }]],
  [
    { properties: { a: { items: { bsonType: 'string' } } } },
    [{ a: ['x'] }, { a: [] }],
    [{ a: [1] }],
  ],
  [
    { properties: { a: { items: [{ type: 'string' }], additionalItems: false } } },
    [{ a: ['x'] }],
    [{ a: ['x', 1] }],
  ],
  [
    { properties: { a: { minItems: 1, maxItems: 2, uniqueItems: true } } },
    [{ a: [1] }],
    [{ a: [] }, { a: [1, 1] }],
  ],
  [{ properties: { a: {} }, additionalProperties: false }, [{ a: 1 }], [{ a: 1, b: 1 }]],
  [
    { patternProperties: { '^n': { type: 'number' } }, additionalProperties: { type: 'string' } },
    [{ n1: 1, x: 'y' }],
    [{ n1: 'x' }, { x: 1 }],
  ],
  [{ minProperties: 1, maxProperties: 2 }, [{ a: 1 }], [{}, { a: 1, b: 1, c: 1 }]],
  [{ dependencies: { a: ['b'] } }, [{ a: 1, b: 1 }, {}], [{ a: 1 }]],
  [{ anyOf: [{ required: ['a'] }, { required: ['b'] }] }, [{ b: 1 }], [{}]],
  [{ oneOf: [{ required: ['a'] }, { required: ['b'] }] }, [{ b: 1 }], [{ a: 1, b: 1 }]],
  [{ allOf: [{ required: ['a'] }], not: { required: ['b'] } }, [{ a: 1 }], [{ a: 1, b: 1 }]],
  [
    { properties: { a: { properties: { b: { bsonType: 'int' } } } } },
    [{ a: { b: 1 } }],
    [{ a: { b: 'x' } }],
  ],
];
for (const [schema, matching, failing] of schemas) {
  test(`$jsonSchema ${JSON.stringify(schema)}`, () => {
    check({ $jsonSchema: schema }, matching, failing);
  });
}

const point = (x: number, y: number) => ({ type: 'Point', coordinates: [x, y] });
const square = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [2, 0],
      [2, 2],
      [0, 2],
      [0, 0],
    ],
  ],
};
const clockwise = { type: 'Polygon', coordinates: [square.coordinates[0]?.toReversed()] };

const places: readonly Row[] = [
  [
    { a: { $geoWithin: { $geometry: square } } },
    [{ a: point(1, 1) }, { a: [1, 1] }],
    [{ a: point(3, 1) }, { a: 'x' }, {}],
  ],
  [{ a: { $geoWithin: { $geometry: clockwise } } }, [{ a: point(1, 1) }], [{ a: point(3, 1) }]],
  [
    {
      a: {
        $geoIntersects: {
          $geometry: {
            type: 'LineString',
            coordinates: [
              [-1, 1],
              [1, 1],
            ],
          },
        },
      },
    },
    [{ a: square }],
    [{ a: point(3, 3) }],
  ],
  [
    {
      a: {
        $geoWithin: {
          $box: [
            [0, 0],
            [2, 2],
          ],
        },
      },
    },
    [{ a: [1, 1] }, { a: { x: 2, y: 2 } }],
    [{ a: [3, 1] }],
  ],
  [
    {
      a: {
        $geoWithin: {
          $polygon: [
            [0, 0],
            [4, 0],
            [0, 4],
          ],
        },
      },
    },
    [{ a: [1, 1] }, { a: [2, 2] }],
    [{ a: [3, 3] }],
  ],
  [{ a: { $geoWithin: { $center: [[0, 0], 2] } } }, [{ a: [0, 2] }], [{ a: [2, 2] }]],
  [
    { a: { $geoWithin: { $centerSphere: [[0, 0], 0.02] } } },
    [{ a: point(1, 0) }],
    [{ a: point(2, 0) }],
  ],
  [
    { a: { $near: { $geometry: point(0, 0), $maxDistance: 150_000 } } },
    [{ a: point(1, 0) }],
    [{ a: point(2, 0) }, {}],
  ],
  [
    { a: { $near: [0, 0], $maxDistance: 1 } },
    [
      { a: [1, 0] },
      {
        a: [
          [5, 5],
          [0, 1],
        ],
      },
    ],
    [{ a: [1, 1] }],
  ],
  [{ a: { $nearSphere: [0, 0], $minDistance: 0.02 } }, [{ a: [2, 0] }], [{ a: [1, 0] }]],
];
for (const [filter, matching, failing] of places) {
  test(`places ${JSON.stringify(filter)}`, () => check(filter, matching, failing));
}

test('$near tells how far documents are away', () => {
  const { distance } = compileFilter(
    bytesOf({ x: 1, a: { $near: { $geometry: point(0, 0) } } }),
    PLAIN_LANGUAGE,
  );
  const metres = distance?.(bytesOf({ a: point(0, 1) })) ?? 0;
  assert.ok(Math.abs(metres - 111_319) < 10, String(metres));
  assert.equal(distance?.(bytesOf({})), undefined);
});

const WITH_TEXT = {
  ...PLAIN_LANGUAGE,
  text: {
    weights: new Map([
      ['title', 10],
      ['body', 1],
    ]),
    defaultLanguage: 'english',
  },
};

const words: readonly Row[] = [
  [
    { $search: 'run' },
    [{ title: 'Running shoes' }, { body: ['x', 'he runs'] }],
    [{ title: 'walk' }],
  ],
  [{ $search: 'run walk' }, [{ title: 'walks' }], [{ title: 'sit' }]],
  [{ $search: 'run -walk' }, [{ title: 'run' }], [{ title: 'run and walk' }]],
  [{ $search: '"red shoes"' }, [{ title: 'my Red Shoes' }], [{ title: 'red big shoes' }]],
  [{ $search: 'CAFÉ' }, [{ title: 'cafe' }], [{ title: 'tea' }]],
  [{ $search: 'Run', $caseSensitive: true }, [{ title: 'Run' }], [{ title: 'run' }]],
  [{ $search: 'laufen', $language: 'none' }, [{ title: 'laufen' }], [{ title: 'lauf' }]],
];
for (const [search, matching, failing] of words) {
  test(`$text ${JSON.stringify(search)}`, () => {
    check({ $text: search }, matching, failing, WITH_TEXT);
  });
}

test('a word in a heavier field scores more', () => {
  const { textScore } = compileFilter(bytesOf({ $text: { $search: 'run' } }), WITH_TEXT);
  const score = (document: Plain) => textScore?.(bytesOf(document)) ?? 0;
  assert.ok(score({ title: 'run' }) > score({ body: 'run' }));
  assert.ok(score({ body: 'run run' }) > score({ body: 'run away' }));
});

const refused: readonly (readonly [filter: Plain, code: number])[] = [
  [{ $text: { $search: 'x' } }, 27],
  [{ $jsonSchema: { nope: 1 } }, 9],
  [{ $jsonSchema: { type: 'integer' } }, 9],
  [{ $jsonSchema: { bsonType: 'nope' } }, 2],
  [{ a: { $geoWithin: { $geometry: point(1, 1) } } }, 2],
  [{ a: { $geoWithin: { $nope: 1 } } }, 2],
  [{ a: { $geoIntersects: { $geometry: { type: 'Point', coordinates: [999, 0] } } } }, 2],
  [{ a: { $near: { $geometry: square } } }, 2],
  [{ a: { $maxDistance: 1 } }, 2],
];
for (const [filter, code] of refused) {
  test(`${JSON.stringify(filter)} is refused`, () => {
    assert.throws(() => compileFilter(bytesOf(filter), PLAIN_LANGUAGE), { code });
  });
}

function check(
  filter: Plain,
  matching: readonly Plain[],
  failing: readonly Plain[],
  language = PLAIN_LANGUAGE,
): void {
  const { matches } = compileFilter(bytesOf(filter), language);
  for (const document of matching) assert.ok(matches(bytesOf(document)), JSON.stringify(document));
  for (const document of failing) assert.ok(!matches(bytesOf(document)), JSON.stringify(document));
}
