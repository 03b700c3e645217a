// Aggregates: what each makes of nothing, of numbers, and of values it cannot fold; over one range
// and over three, with and without the client's own plan.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Container } from '@azure/cosmos';
import { ok, serve } from './support.suite.js';

const server = await serve();
const client = server.client();

/** Undefined stands for an item without the property. */
const sets: Readonly<Record<string, readonly unknown[]>> = {
  nothing: [],
  undefined: [undefined, undefined],
  numbers: [4, undefined, 1, 2.5],
  strings: ['b', 'a', 1],
  nulls: [null, 1],
  booleans: [true, false, 3, true],
  arrays: [[1], 2, 'x'],
  objects: [{ a: 1, b: 2 }, { b: 2, a: 1 }, 7],
};

type Expected = Readonly<Record<string, unknown>>;

// biome-ignore format: a table is read in columns
const expected: Readonly<Record<string, Expected>> = {
  nothing:   { COUNT: 0, COUNTIF: 0, SUM: 0, MAKELIST: [], MAKESET: [] },
  undefined: { COUNT: 0, COUNTIF: 0, SUM: 0, MAKELIST: [], MAKESET: [] },
  numbers:   { COUNT: 3, COUNTIF: 0, SUM: 7.5, AVG: 2.5, MIN: 1, MAX: 4,
               MAKELIST: [1, 2.5, 4], MAKESET: [1, 2.5, 4] },
  strings:   { COUNT: 3, COUNTIF: 0, MIN: 1, MAX: 'b', MAKELIST: ['a', 'b', 1],
    MAKESET: ['a', 'b', 1] },
  nulls:     { COUNT: 2, COUNTIF: 0, MIN: null, MAX: 1, MAKELIST: [1, null], MAKESET: [1, null] },
  booleans:  { COUNT: 4, COUNTIF: 2, MIN: false, MAX: 3,
               MAKELIST: [3, false, true, true], MAKESET: [3, false, true] },
  arrays:    { COUNT: 3, COUNTIF: 0, MAKELIST: ['x', 2, [1]], MAKESET: ['x', 2, [1]] },
  objects:   { COUNT: 3, COUNTIF: 0, MAKELIST: [7, { a: 1, b: 2 }, { b: 2, a: 1 }],
               MAKESET: [7, { a: 1, b: 2 }] },
};
const NAMES = ['COUNT', 'COUNTIF', 'SUM', 'AVG', 'MIN', 'MAX', 'MAKELIST', 'MAKESET'];

const containers: Container[] = [];

before(async () => {
  for (const throughput of ['400', '30000']) {
    const box = await server.box({}, { 'x-ms-offer-throughput': throughput });
    for (const [set, values] of Object.entries(sets)) {
      for (const [index, x] of values.entries()) {
        ok(await box.create({ id: `${set} ${index}`, pk: `${index}`, set, x }), 201);
      }
    }
    containers.push(client.database(box.database).container('c'));
  }
});

for (const [set, values] of Object.entries(expected)) {
  describe(`of ${set}`, () => {
    test('SELECT VALUE gives the value, or nothing for undefined', async () => {
      await Promise.all(
        NAMES.map(async (name) => {
          const wanted = name in values ? [values[name]] : [];
          const found = await ask(threeRanges(), `SELECT VALUE ${name}(c.x) FROM c`, set);
          assert.deepEqual(found.map(inOrder), wanted.map(inOrder), name);
        }),
      );
    });

    test('a list of them gives an object without those that are undefined', async () => {
      const list = NAMES.map((name) => `${name}(c.x) AS ${name}_`).join(', ');
      const wanted = Object.fromEntries(
        Object.entries(values).map(([name, value]) => [`${name}_`, inOrder(value)]),
      );
      for (const container of containers) {
        const [row] = await ask(container, `SELECT ${list} FROM c`, set);
        const found = Object.entries(row as object).map(([name, value]) => [name, inOrder(value)]);
        assert.deepEqual(Object.fromEntries(found), wanted);
      }
    });

    test('the client folds what the ranges give', async () => {
      // It takes an undefined part of the others for an empty one.
      for (const name of set === 'numbers' ? NAMES.slice(0, 6) : ['COUNT', 'COUNTIF', 'SUM']) {
        const wanted = name in values ? [values[name]] : [];
        const query = `SELECT VALUE ${name}(c.x) FROM c`;
        assert.deepEqual(await ask(threeRanges(), query, set, true), wanted, name);
      }
    });
  });
}

test('COUNT(1) counts every row, COUNT(c) every item, and COUNT of a JOIN its rows', async () => {
  const total = Object.values(sets).flat().length;
  for (const container of containers) {
    for (const [query, wanted] of [
      ['SELECT VALUE COUNT(1) FROM c', total],
      ['SELECT VALUE COUNT(c) FROM c', total],
      ['SELECT VALUE COUNT(null) FROM c', total],
      ['SELECT VALUE COUNT(undefined) FROM c', 0],
      ["SELECT VALUE COUNT(1) FROM c JOIN x IN c.x WHERE c.set = 'arrays'", 1],
      ["SELECT VALUE COUNTIF(c.set = 'nulls') FROM c", 2],
    ] as const) {
      const { resources } = await container.items.query(query).fetchAll();
      assert.deepEqual(resources, [wanted], query);
    }
  }
});

test('unnamed aggregates are $1, $2 and so on', async () => {
  for (const container of containers) {
    const [row] = await ask(
      container,
      'SELECT COUNT(1), SUM(c.x), MAX(c.x) AS most FROM c',
      'numbers',
    );
    assert.deepEqual(row, { $1: 4, $2: 7.5, most: 4 });
  }
});

test('aggregates are composed inside subqueries', async () => {
  const query = 'SELECT VALUE ABS((SELECT VALUE SUM(v) FROM v IN c.x)) + 1 FROM c';
  for (const container of containers) {
    assert.deepEqual(inOrder(await ask(container, query, 'arrays')), ['1', '1', '2']);
  }
});

function threeRanges(): Container {
  const container = containers[1];
  assert.ok(container);
  return container;
}

async function ask(
  container: Container,
  query: string,
  set: string,
  forceQueryPlan = false,
): Promise<readonly unknown[]> {
  const spec = {
    query: `${query} WHERE c.set = @set`,
    parameters: [{ name: '@set', value: set }],
  };
  return (await container.items.query(spec, { forceQueryPlan }).fetchAll()).resources;
}

/** Lists and sets come in any order. */
function inOrder(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.map((each) => JSON.stringify(each, ['a', 'b', '0', '1'])).sort();
}
