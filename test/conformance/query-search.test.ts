// Full-text and spatial indexes: searches find the same with them and without, and look at fewer
// items.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { seededRandom, seedFromEnvironment } from '../../src/value/random.suite.js';
import { type Box, documents, headerOf, type Json, ok, serve } from './support.suite.js';

const server = await serve();
const COUNT = 150;
const WORDS = ['river', 'swimming', 'mountain', 'the', 'pool', 'blue', 'night', 'running', 'Grüße'];
const seed = seedFromEnvironment();
const random = seededRandom(seed);

const SEARCHED = {
  fullTextPolicy: { defaultLanguage: 'en-US', fullTextPaths: [{ path: '/text' }] },
  indexingPolicy: {
    fullTextIndexes: [{ path: '/text' }],
    spatialIndexes: [{ path: '/at/*', types: ['Point', 'Polygon'] }],
  },
};
const LAZY = {
  ...SEARCHED,
  indexingPolicy: { ...SEARCHED.indexingPolicy, indexingMode: 'lazy' },
};

const point = (longitude: number, latitude: number) => ({
  type: 'Point',
  coordinates: [longitude, latitude],
});
const square = (west: number, south: number, size: number) => ({
  type: 'Polygon',
  coordinates: [
    [
      [west, south],
      [west + size, south],
      [west + size, south + size],
      [west, south + size],
      [west, south],
    ],
  ],
});

function randomItem(id: number): Json {
  const word = () => WORDS[Math.floor(random() * WORDS.length)] ?? '';
  const text = Array.from({ length: 1 + Math.floor(random() * 6) }, word).join(' ');
  const [west, south] = [random() * 350 - 179, random() * 170 - 89];
  const kind = random();
  const at =
    kind < 0.7 ? point(west, south) : kind < 0.9 ? square(west, south, 3) : { type: 'Point' };
  const rare = id % 50 === 0 ? { text: `${text} zebra crossing` } : {};
  return { id: `${id}`, pk: `k${id % 3}`, text: kind < 0.95 ? text : 5, at, ...rare };
}
/** A book has so many words that it is looked at in every search. */
const book = {
  id: 'book',
  pk: 'k1',
  text: `${Array.from({ length: 3000 }, (_, n) => `word${n}`).join(' ')} zebra`,
};

const boxes: Record<string, Box> = {};
before(async () => {
  for (const [name, definition] of Object.entries({ plain: {}, searched: SEARCHED, lazy: LAZY })) {
    boxes[name] = await server.box(definition);
  }
  for (let id = 0; id < COUNT; id++)
    await everywhere((box, item) => box.create(item), randomItem(id));
  await everywhere((box, item) => box.create(item), book);
  // Half of them are written again, some are removed.
  for (let id = 0; id < COUNT; id += 2)
    await everywhere((box, item) => box.replace(item), randomItem(id));
  for (let id = 0; id < COUNT; id += 10) {
    for (const box of Object.values(boxes)) ok(await box.remove(`${id}`, `k${id % 3}`), 204);
  }
});

async function everywhere(write: (box: Box, item: Json) => Promise<unknown>, item: Json) {
  for (const box of Object.values(boxes)) await write(box, item);
}

const CONDITIONS: readonly string[] = [
  "FullTextContains(c.text, 'zebra')",
  "FullTextContains(c.text, 'zebras crossing')",
  "FullTextContains(c.text, 'swim')",
  "FullTextContains(c.text, 'the')",
  "FullTextContains(c.text, '')",
  "FullTextContains(c.text, 'GRÜSSE')",
  "FullTextContainsAll(c.text, 'run', 'pools')",
  "FullTextContainsAny(c.text, 'zebra', 'night')",
  "FullTextContainsAny(c.text, 'zebra')",
  "FullTextContains(c.text, 'word77 word78') OR c.id = '7'",
  "NOT FullTextContains(c.text, 'pool')",
  "FullTextContains(c.text, 'blue') AND c.id > '5' AND c.text > 'b'",
  'ST_DISTANCE(c.at, {"type": "Point", "coordinates": [10, 50]}) < 2000000',
  '3000000 >= ST_DISTANCE({"type": "Point", "coordinates": [-100, 20]}, c.at)',
  'ST_DISTANCE(c.at, {"type": "Point", "coordinates": [179, 0]}) < 3000000',
  'ST_DISTANCE(c.at, {"type": "Point", "coordinates": [0, 89]}) < 4000000',
  'ST_DISTANCE(c.at, {"type": "Point", "coordinates": [0, 0]}) > 9000000',
  'ST_DISTANCE(c.at, {"type": "Point", "coordinates": [0, 0]}) < 30000000',
  'ST_DISTANCE(c.at, {"type": "LineString", "coordinates": [[0, 0], [40, 40]]}) <= 1000000',
  `ST_WITHIN(c.at, ${JSON.stringify(square(-30, -30, 60))})`,
  `ST_WITHIN(c.at, ${JSON.stringify(square(-179, -80, 20))})`,
  `ST_INTERSECTS(c.at, ${JSON.stringify(square(-60, 10, 50))})`,
  `ST_INTERSECTS(${JSON.stringify(square(60, 10, 50))}, c.at) AND FullTextContains(c.text, 'river')`,
  // A ring that runs clockwise is around the rest of the globe.
  'ST_WITHIN(c.at, {"type": "Polygon", "coordinates": [[[0, 0], [0, 10], [10, 10], [10, 0], [0, 0]]]})',
  'ST_WITHIN(c.at, {"type": "Point"})',
];

describe(`SEED=${seed} with indexes and without, searches find the same`, () => {
  for (const condition of CONDITIONS) {
    test(condition, async () => {
      const found = await idsOf('plain', condition);
      assert.deepEqual(await idsOf('searched', condition), found);
      assert.deepEqual(await idsOf('lazy', condition), found);
    });
  }

  test('also when the indexes are made later, or given up', async () => {
    const box = boxes.plain as Box;
    for (const definition of [SEARCHED, { indexingPolicy: {} }, SEARCHED]) {
      ok(await box.redefine(definition), 200);
      for (const condition of CONDITIONS.slice(0, 3)) {
        assert.deepEqual(await idsOf('plain', condition), await idsOf('searched', condition));
      }
      await settled(box);
      for (const condition of CONDITIONS) {
        assert.deepEqual(await idsOf('plain', condition), await idsOf('searched', condition));
      }
    }
  });
});

test('they look at the items that may be meant, and name the index', async () => {
  for (const [condition, most, path] of [
    ["FullTextContains(c.text, 'zebra')", 10, '/text/?'],
    ["FullTextContains(c.text, 'zebra crossing')", 10, '/text/?'],
    ['ST_DISTANCE(c.at, {"type": "Point", "coordinates": [10, 50]}) < 1000', 50, '/at/?'],
  ] as const) {
    const reply = await ask('searched', condition);
    const metrics = headerOf(reply, 'x-ms-documentdb-query-metrics') ?? '';
    const read = Number(/retrievedDocumentCount=(\d+)/.exec(metrics)?.[1]);
    assert.ok(read <= most, `${condition} looked at ${read}`);
    const indexes = decodeURIComponent(headerOf(reply, 'x-ms-cosmos-index-utilization') ?? '');
    assert.match(indexes, new RegExp(`"UtilizedIndexes":.*"${path.replace('?', '\\?')}"`));
  }
});

async function idsOf(name: string, condition: string): Promise<readonly unknown[]> {
  return [...documents(await ask(name, condition))].map(({ id }) => id).sort();
}

async function ask(name: string, condition: string) {
  const headers = {
    'content-type': 'application/query+json',
    'x-ms-max-item-count': '1000',
    'x-ms-documentdb-populatequerymetrics': 'true',
    'x-ms-cosmos-populateindexmetrics-V2': 'true',
  };
  const body = { query: `SELECT c.id FROM c WHERE ${condition}` };
  return ok(await server.send('POST', `${boxes[name]?.path}/docs`, { body, headers }), 200);
}

async function settled(box: Box): Promise<void> {
  const progress = 'x-ms-documentdb-collection-index-transformation-progress';
  for (let reads = 0; reads < 10_000; reads++) {
    const reply = ok(await server.send('GET', box.path), 200);
    if (headerOf(reply, progress) === '100') return;
  }
  assert.fail('the index is never ready');
}
