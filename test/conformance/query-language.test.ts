// The query language, clause by clause and operator by operator: every row is asked in one logical
// partition, over all partitions of one range, and over all partitions of three ranges, with and
// without the client's own plan; the answers are the same.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Container, FeedOptions, JSONValue } from '@azure/cosmos';
import { type Json, ok, serve } from './support.suite.js';

type Row = readonly [query: string, parameters: Json, expected: readonly unknown[]];

const server = await serve();
const client = server.client();

const plants: readonly Json[] = [
  {
    id: 'apple',
    kind: 'tree',
    n: 1,
    s: 'Apfel',
    b: true,
    z: null,
    tags: ['red', 'green'],
    size: { w: 3, h: 4 },
    parts: [
      { k: 'stem', c: 1 },
      { k: 'seed', c: 5 },
    ],
    mix: [1],
    'two words': 'x',
    order: 9,
  },
  {
    id: 'birch',
    kind: 'tree',
    n: 2,
    s: 'Birke',
    b: false,
    tags: ['white'],
    size: { w: 1, h: 20 },
    parts: [{ k: 'stem', c: 1 }],
    mix: 'b',
  },
  { id: 'cedar', kind: 'tree', n: 3.5, s: 'zeder', tags: [], size: { h: 4, w: 3 }, mix: 10 },
  { id: 'dill', kind: 'herb', n: '4', s: 'Dill', b: 'true', z: 0, mix: false },
  { id: 'elm', kind: 'tree', n: null, tags: 'none', nested: [[1, 2], [3]], mix: null },
  { id: 'fern' },
  { id: 'gorse', kind: 'bush', mix: { a: 1 } },
  { id: 'hazel', kind: 'bush', mix: true },
];

/** ORDER BY by two properties needs an index for it. */
const DEFINITION = {
  indexingPolicy: {
    compositeIndexes: [
      [
        { path: '/kind', order: 'ascending' },
        { path: '/id', order: 'descending' },
      ],
    ],
  },
};

interface Way {
  readonly name: string;
  readonly container: Container;
  readonly options: FeedOptions;
}
/** The server does it all. */
const ways: Way[] = [];
/** The client asks every range for its part, and merges the parts. */
let planned: Way;

before(async () => {
  const one = await server.box(DEFINITION);
  const decoys = plants.map((plant) => ({ ...plant, pk: 'other' }));
  for (const plant of plants) ok(await one.create({ ...plant, pk: 'p' }), 201);
  for (const decoy of decoys) ok(await one.create(decoy), 201);
  const container = client.database(one.database).container('c');
  ways.push({ name: 'one partition', container, options: { partitionKey: 'p' } });
  for (const [name, throughput] of [
    ['one range', '400'],
    ['three ranges', '30000'],
  ] as const) {
    const box = await server.box(DEFINITION, { 'x-ms-offer-throughput': throughput });
    for (const plant of plants) ok(await box.create({ ...plant, pk: plant.id }), 201);
    const spread = client.database(box.database).container('c');
    const ranges = await spread.readPartitionKeyRanges().fetchAll();
    assert.equal(ranges.resources.length, throughput === '400' ? 1 : 3);
    ways.push({ name, container: spread, options: {} });
    planned = { name: `${name}, planned`, container: spread, options: { forceQueryPlan: true } };
  }
});

const is = (id: string) => `FROM c WHERE c.id = '${id}'`;

// biome-ignore format: a table is read in columns
const clauses: Readonly<Record<string, readonly Row[]>> = {
  SELECT: [
    [`SELECT * ${is('fern')}`, {}, [{ id: 'fern' }]],
    [`SELECT c ${is('fern')}`, {}, [{ c: { id: 'fern' } }]],
    [`SELECT c.id, c.n ${is('apple')}`, {}, [{ id: 'apple', n: 1 }]],
    [`SELECT c.size.w ${is('apple')}`, {}, [{ w: 3 }]],
    [`SELECT c["two words"] ${is('apple')}`, {}, [{ 'two words': 'x' }]],
    [`SELECT c.order ${is('apple')}`, {}, [{ order: 9 }]],
    [`SELECT c.n + 1, c.n AS m, c.s t, c.b, 'x' ${is('apple')}`, {},
      [{ $1: 2, m: 1, t: 'Apfel', b: true, $2: 'x' }]],
    [`SELECT c.missing ${is('apple')}`, {}, [{}]],
    [`SELECT VALUE c.s ${is('apple')}`, {}, ['Apfel']],
    ['SELECT VALUE c.missing FROM c', {}, []],
    ['SELECT VALUE c.z FROM c', {}, [null, 0]],
    [`SELECT VALUE [c.n, c.missing, c.s] ${is('apple')}`, {}, [[1, 'Apfel']]],
    [`SELECT VALUE {a: c.n, "b b": c.missing, 'd': [c.z]} ${is('apple')}`, {},
      [{ a: 1, d: [null] }]],
    ['SELECT 1', {}, [{ $1: 1 }]],
    ["SELECT VALUE {a: 'x'}", {}, [{ a: 'x' }]],
    ["select value c.id from c where c.id in ('elm', 'fern') order by c.id desc", {},
      ['fern', 'elm']],
    [`SELECT VALUE c.id -- the rest of the line\n${is('elm')}`, {}, ['elm']],
    [`SELECT VALUE /* from here\nto there */ c.id ${is('elm')}`, {}, ['elm']],
  ],
  FROM: [
    ["SELECT VALUE root.n FROM root WHERE root.id = 'apple'", {}, [1]],
    ["SELECT VALUE x.n FROM c AS x WHERE x.id = 'apple'", {}, [1]],
    ["SELECT VALUE x.n FROM c x WHERE x.id = 'apple'", {}, [1]],
    ["SELECT VALUE Orchard.n FROM Orchard WHERE Orchard.id = 'apple'", {}, [1]],
    ['SELECT VALUE size.w FROM c.size', {}, [3, 1, 3]],
    ['SELECT * FROM c.size', {}, [{ w: 3, h: 4 }, { w: 1, h: 20 }, { w: 3, h: 4 }]],
    ['SELECT VALUE s.w FROM c.size AS s', {}, [3, 1, 3]],
    ['SELECT VALUE t FROM c.tags[0] t', {}, ['red', 'white']],
    ["SELECT VALUE x FROM c['two words'] x", {}, ['x']],
    ['SELECT VALUE t FROM t IN c.tags', {}, ['red', 'green', 'white']],
    ['SELECT VALUE p.k FROM p IN c.parts WHERE p.c = 1', {}, ['stem', 'stem']],
    ['SELECT * FROM p IN c.parts', {}, [{ k: 'stem', c: 1 }, { k: 'seed', c: 5 },
      { k: 'stem', c: 1 }]],
  ],
  JOIN: [
    ['SELECT c.id, t AS tag FROM c JOIN t IN c.tags', {},
      [{ id: 'apple', tag: 'red' }, { id: 'apple', tag: 'green' }, { id: 'birch', tag: 'white' }]],
    ['SELECT VALUE [t, p.k] FROM c JOIN t IN c.tags JOIN p IN c.parts', {},
      [['red', 'stem'], ['red', 'seed'], ['green', 'stem'], ['green', 'seed'], ['white', 'stem']]],
    ['SELECT VALUE cell FROM c JOIN line IN c.nested JOIN cell IN line', {}, [1, 2, 3]],
    ['SELECT VALUE z.h FROM c JOIN c.size AS z', {}, [4, 20, 4]],
    ['SELECT VALUE q FROM c JOIN (SELECT VALUE p.k FROM p IN c.parts WHERE p.c > 1) AS q', {},
      ['seed']],
    ['SELECT VALUE q FROM c JOIN q IN (SELECT VALUE c.tags)', {}, ['red', 'green', 'white']],
    ['SELECT VALUE c.id FROM c JOIN t IN c.tags ORDER BY c.id DESC', {},
      ['birch', 'apple', 'apple']],
  ],
  WHERE: [
    ['SELECT VALUE c.id FROM c WHERE c.b', {}, ['apple']],
    ['SELECT VALUE c.id FROM c WHERE NOT c.b', {}, ['birch']],
    ['SELECT VALUE c.id FROM c WHERE 1', {}, []],
    ["SELECT VALUE c.id FROM c WHERE 'true'", {}, []],
    ['SELECT VALUE c.id FROM c WHERE null', {}, []],
    ['SELECT VALUE c.id FROM c WHERE undefined', {}, []],
    ['SELECT VALUE c.id FROM c WHERE true', {}, plants.map(({ id }) => id)],
  ],
  'GROUP BY': [
    ['SELECT c.kind, COUNT(1) AS n FROM c GROUP BY c.kind', {},
      [{ kind: 'tree', n: 4 }, { kind: 'herb', n: 1 }, { kind: 'bush', n: 2 }, { n: 1 }]],
    ['SELECT VALUE c.kind FROM c GROUP BY c.kind', {}, ['tree', 'herb', 'bush']],
    ['SELECT VALUE COUNT(1) FROM c GROUP BY c.kind', {}, [4, 1, 2, 1]],
    ['SELECT c.size, COUNT(1) AS n FROM c WHERE IS_DEFINED(c.size) GROUP BY c.size', {},
      [{ size: { w: 3, h: 4 }, n: 2 }, { size: { w: 1, h: 20 }, n: 1 }]],
    ["SELECT c.kind, c.b, COUNT(1) AS n FROM c WHERE c.kind = 'tree' GROUP BY c.kind, c.b", {},
      [{ kind: 'tree', b: true, n: 1 }, { kind: 'tree', b: false, n: 1 }, { kind: 'tree', n: 2 }]],
    ['SELECT UPPER(c.kind) AS k, MAX(c.id) AS last FROM c GROUP BY UPPER(c.kind)', {},
      [{ k: 'TREE', last: 'elm' }, { k: 'HERB', last: 'dill' }, { k: 'BUSH', last: 'hazel' },
        { last: 'fern' }]],
    ["SELECT c.kind, 'x' AS x, MIN(c.id) AS a, COUNT(c.tags) AS t FROM c GROUP BY c.kind", {},
      [{ kind: 'tree', x: 'x', a: 'apple', t: 4 }, { kind: 'herb', x: 'x', a: 'dill', t: 0 },
        { kind: 'bush', x: 'x', a: 'gorse', t: 0 }, { x: 'x', a: 'fern', t: 0 }]],
    ['SELECT p.k, SUM(p.c) AS sum FROM c JOIN p IN c.parts GROUP BY p.k', {},
      [{ k: 'stem', sum: 2 }, { k: 'seed', sum: 5 }]],
    ['SELECT c.kind, COUNT(1) AS n FROM c WHERE false GROUP BY c.kind', {}, []],
    ['SELECT COUNT(1) AS n FROM c WHERE false', {}, [{ n: 0 }]],
  ],
  'ORDER BY': [
    ['SELECT VALUE c.id FROM c ORDER BY c.id', {}, plants.map(({ id }) => id)],
    ['SELECT VALUE c.id FROM c ORDER BY c.id ASC', {}, plants.map(({ id }) => id)],
    ['SELECT VALUE c.id FROM c ORDER BY c.id DESC', {}, plants.map(({ id }) => id).reverse()],
    ['SELECT VALUE c.s FROM c ORDER BY c.s', {}, ['Apfel', 'Birke', 'Dill', 'zeder']],
    ['SELECT VALUE c.id FROM c WHERE IS_STRING(c.kind) ORDER BY c.kind, c.id DESC', {},
      ['hazel', 'gorse', 'dill', 'elm', 'cedar', 'birch', 'apple']],
    ["SELECT VALUE c.id FROM c WHERE c.n > 0 ORDER BY c.n DESC", {}, ['cedar', 'birch', 'apple']],
    ["SELECT VALUE c.n FROM c WHERE c.n > 0 ORDER BY c['n']", {}, [1, 2, 3.5]],
    ["SELECT VALUE c.id FROM c WHERE c.id != 'cedar' ORDER BY c.size.h", {}, ['apple', 'birch']],
    ['SELECT VALUE c.id FROM c WHERE false ORDER BY c.n', {}, []],
  ],
  DISTINCT: [
    ['SELECT DISTINCT c.kind FROM c', {}, [{ kind: 'tree' }, { kind: 'herb' }, { kind: 'bush' },
      {}]],
    ['SELECT DISTINCT VALUE c.kind FROM c', {}, ['tree', 'herb', 'bush']],
    ['SELECT DISTINCT VALUE c.size FROM c', {}, [{ w: 3, h: 4 }, { w: 1, h: 20 }]],
    ['SELECT DISTINCT VALUE 1 FROM c', {}, [1]],
    ['SELECT DISTINCT VALUE c.kind FROM c ORDER BY c.kind DESC', {}, ['tree', 'herb', 'bush']],
    ['SELECT DISTINCT VALUE p.k FROM c JOIN p IN c.parts', {}, ['stem', 'seed']],
    ['SELECT DISTINCT TOP 2 VALUE c.kind FROM c ORDER BY c.kind', {}, ['bush', 'herb']],
    ['SELECT DISTINCT VALUE c.kind FROM c ORDER BY c.kind OFFSET 1 LIMIT 1', {}, ['herb']],
  ],
  'TOP, OFFSET and LIMIT': [
    ['SELECT TOP 2 VALUE c.id FROM c ORDER BY c.id', {}, ['apple', 'birch']],
    ['SELECT TOP 100 VALUE c.id FROM c ORDER BY c.id', {}, plants.map(({ id }) => id)],
    ['SELECT TOP 0 * FROM c', {}, []],
    ['SELECT TOP @n VALUE c.id FROM c ORDER BY c.id DESC', { n: 1 }, ['hazel']],
    ['SELECT TOP 3 VALUE 1 FROM c', {}, [1, 1, 1]],
    ['SELECT VALUE c.id FROM c ORDER BY c.id OFFSET 1 LIMIT 2', {}, ['birch', 'cedar']],
    ['SELECT VALUE c.id FROM c ORDER BY c.id OFFSET @o LIMIT @l', { o: 6, l: 5 },
      ['gorse', 'hazel']],
    ['SELECT VALUE c.id FROM c ORDER BY c.id OFFSET 8 LIMIT 1', {}, []],
    ['SELECT VALUE c.id FROM c OFFSET 0 LIMIT 0', {}, []],
    ['SELECT VALUE 1 FROM c OFFSET 5 LIMIT 10', {}, [1, 1, 1]],
  ],
  subqueries: [
    [`SELECT VALUE (SELECT VALUE COUNT(1) FROM t IN c.tags) ${is('apple')}`, {}, [2]],
    [`SELECT VALUE (SELECT VALUE SUM(p.c) FROM p IN c.parts) * 2 ${is('apple')}`, {}, [12]],
    [`SELECT (SELECT VALUE t FROM t IN c.tags WHERE t = 'blue') AS t ${is('apple')}`, {}, [{}]],
    [`SELECT VALUE (SELECT VALUE 5) ${is('fern')}`, {}, [5]],
    [`SELECT VALUE (SELECT c.n, c.s) ${is('apple')}`, {}, [{ n: 1, s: 'Apfel' }]],
    ["SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = 'white')", {},
      ['birch']],
    ["SELECT VALUE c.id FROM c WHERE NOT EXISTS(SELECT t FROM t IN c.tags) AND c.kind = 'tree'", {},
      ['cedar', 'elm']],
    ['SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE c.z)', {}, ['apple', 'dill']],
    [`SELECT VALUE EXISTS(SELECT VALUE c.missing) ${is('fern')}`, {}, [false]],
    [`SELECT VALUE EXISTS(SELECT c.missing) ${is('fern')}`, {}, [true]],
    [`SELECT VALUE ARRAY(SELECT VALUE p.k FROM p IN c.parts WHERE p.c > 0) ${is('apple')}`, {},
      [['stem', 'seed']]],
    [`SELECT VALUE ARRAY(SELECT VALUE t FROM t IN c.tags) ${is('fern')}`, {}, [[]]],
    [`SELECT VALUE ARRAY(SELECT TOP 1 VALUE t FROM t IN c.tags) ${is('apple')}`, {}, [['red']]],
    [`SELECT VALUE ARRAY(SELECT DISTINCT VALUE p.c > 0 FROM p IN c.parts) ${is('apple')}`, {},
      [[true]]],
    [`SELECT VALUE ARRAY(SELECT VALUE ARRAY(SELECT VALUE i + 1 FROM i IN o) FROM o IN c.nested)
      ${is('elm')}`, {},
      [[[2, 3], [4]]]],
  ],
  parameters: [
    ['SELECT VALUE c.id FROM c WHERE c.n = @n', { n: 1, unused: 2 }, ['apple']],
    ['SELECT VALUE c.id FROM c WHERE c.n = @n', { n: null }, ['elm']],
    ['SELECT VALUE c.id FROM c WHERE c.b = @b', { b: false }, ['birch']],
    ['SELECT VALUE c.id FROM c WHERE c.tags = @a', { a: ['white'] }, ['birch']],
    ['SELECT VALUE c.id FROM c WHERE c.size = @o', { o: { h: 20, w: 1 } }, ['birch']],
    ['SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(@ids, c.id)', { ids: ['elm'] }, ['elm']],
    ['SELECT VALUE c.id FROM c WHERE c.id IN (@a, @b)', { a: 'elm', b: 'dill' }, ['dill', 'elm']],
    ["SELECT VALUE c.id FROM c WHERE c.s LIKE @like", { like: '%r%' }, ['birch', 'cedar']],
    [`SELECT VALUE [@o.a, c.size[@k]] ${is('apple')}`, { o: { a: 7 }, k: 'h' }, [[7, 4]]],
  ],
};

/** All expressions in one query, by their positions. */
function whole(
  rows: readonly (readonly [expression: string, expected: unknown])[],
): readonly Row[] {
  const values = rows.map(([expression], index) => `v${index}: ${expression}`);
  const expected = rows.flatMap(([, value], index) =>
    value === undefined ? [] : [[`v${index}`, value]],
  );
  const query = `SELECT VALUE {${values.join(', ')}} ${is('apple')}`;
  return [[query, {}, [Object.fromEntries(expected)]]];
}

/** Undefined is what the expression leaves out. */
// biome-ignore format: a table is read in columns
const expressions: Readonly<Record<string, readonly Row[]>> = {
  literals: whole([
    ['[1, -1.5, .5, 1e3, 0x1F, 2E-1]', [1, -1.5, 0.5, 1000, 31, 0.2]],
    [String.raw`['it\'s', "a\"b", 'a"b', "it's"]`, ["it's", 'a"b', 'a"b', "it's"]],
    [String.raw`'\u0041\n\t\r\b\f\/\\'`, 'A\n\t\r\b\f/\\'],
    ["'Übergröße 🌳'", 'Übergröße 🌳'],
    ['[true, false, null, undefined]', [true, false, null]],
    ['{}', {}],
    ['[[], {}, [{a: []}]]', [[], {}, [{ a: [] }]]],
  ]),
  'member access': whole([
    ['[c.tags[1], c["tags"][0], c.tags[2], c.tags[-1]]', ['green', 'red']],
    ["[c.size.w, c.size['h'], c.size.d, c.s.x, c.n.x, c.z.x, c.tags.length]", [3, 4]],
    ['[[10, 20][1], {a: 5}.a, {a: {b: 6}}["a"].b]', [20, 5, 6]],
    ["c['size'][c.missing ?? 'w']", 3],
    ['[c.constructor, c.__proto__, c.size.toString, c.tags.map]', []],
  ]),
  comparison: whole([
    ['[1 = 1, 1 = 2, 1 != 2, 1 <> 1, 1 < 2, 2 <= 2, 1 > 2, 2 >= 3]',
      [true, false, true, false, true, true, false, false]],
    ["['a' = 'a', 'a' < 'b', 'B' < 'a', 'a' >= 'aa', '' < 'a']", [true, true, true, false, true]],
    ['[false < true, true <= false, true = true, true != false]', [true, false, true, true]],
    ['[null = null, null != null, null <= null, null < null]', [true, false, true, false]],
    ['[{a: 1, b: [2]} = {b: [2], a: 1}, {a: 1} = {a: 2}, [1, 2] = [2, 1], [1] != [2]]',
      [true, false, false, true]],
    ["[1 = '1', 1 != '1', null = false, 0 = false, {} = [], 1 < 'a', null < 1, 'a' > true]", []],
    ['[{} < {a: 1}, [] <= [], {} >= {}]', []],
    ['[c.missing = 1, c.missing != 1, c.missing = c.missing, undefined = undefined]', []],
  ]),
  logic: whole([
    ['[false AND c.missing, c.missing AND false, true OR c.missing, c.missing OR true]',
      [false, false, true, true]],
    ['[true AND c.missing, c.missing OR false, NOT c.missing]', []],
    ["[1 AND true, 'x' OR false, NOT 1, NOT null, NOT 'true', {} AND true]", []],
    ['[1 AND false, null OR true]', [false, true]],
    ['[true AND true, true AND false, false OR false, NOT true, NOT NOT true]',
      [true, false, false, false, true]],
  ]),
  arithmetic: whole([
    ['[c.n + 1, c.n - 3, 6 * 7, 7 / 2, 7 % 4, -7 % 4, 5.5 % 2]', [2, -2, 42, 3.5, 3, -3, 1.5]],
    ['[-c.n, +c.n, - - c.n, -(2 + 3)]', [-1, 1, 1, -5]],
    ['[1 / 0, 0 / 0, 1 % 0, 1e308 * 10]', []],
    ["['1' + 1, 'a' + 'b', null + 1, true + 1, [1] + 1, -c.s, +c.z, c.missing * 2]", []],
    ['[0.1 + 0.2, 9007199254740991 + 0]', [0.30000000000000004, 9007199254740991]],
  ]),
  bits: whole([
    ['[6 & 3, 6 | 3, 6 ^ 3, ~5, ~~5]', [2, 7, 5, -6, 5]],
    ['[1 << 4, 1 << 33, -8 >> 1, -1 >>> 28, 4294967297 & 3]', [16, 2, -4, 15, 1]],
    ["['1' & 1, true | 1, null ^ 1, ~'1', c.missing << 1]", []],
  ]),
  text: whole([
    ["['a' || 'b', 'a' || 'b' || c.s, '' || '']", ['ab', 'abApfel', '']],
    ["['a' || 1, 1 || 2, 'a' || null, 'a' || c.missing]", []],
  ]),
  'coalesce and conditional': whole([
    ["[c.missing ?? 'd', c.z ?? 'd', c.n ?? 'd', c.missing ?? c.absent ?? 7]", ['d', null, 1, 7]],
    ['c.missing ?? c.absent', undefined],
    ["[true ? 1 : 2, false ? 1 : 2, c.n = 1 ? 'one' : 'more', false ? 1 : true ? 2 : 3]",
      [1, 2, 'one', 2]],
    ["['x' ? 1 : 2, 1 ? 1 : 2, null ? 1 : 2, c.missing ? 1 : 2, true ? c.missing : 2]", []],
  ]),
  'IN, BETWEEN and LIKE': [
    ['SELECT VALUE c.id FROM c WHERE c.n IN (1, 3.5)', {}, ['apple', 'cedar']],
    ["SELECT VALUE c.id FROM c WHERE c.n IN (1, 'x', null)", {}, ['apple', 'elm']],
    ['SELECT VALUE c.id FROM c WHERE c.n NOT IN (1, 2)', {}, ['cedar']],
    ["SELECT VALUE c.id FROM c WHERE c.n NOT IN (1, 'x')", {}, []],
    ['SELECT VALUE c.id FROM c WHERE c.size IN ({h: 4, w: 3})', {}, ['apple', 'cedar']],
    ['SELECT VALUE c.id FROM c WHERE c.n BETWEEN 2 AND 3.5', {}, ['birch', 'cedar']],
    ['SELECT VALUE c.id FROM c WHERE c.n NOT BETWEEN 2 AND 3.5', {}, ['apple']],
    ["SELECT VALUE c.id FROM c WHERE c.s BETWEEN 'A' AND 'C'", {}, ['apple', 'birch']],
    ["SELECT VALUE c.id FROM c WHERE c.n BETWEEN 1 AND 'x'", {}, []],
    ["SELECT VALUE c.s FROM c WHERE c.s LIKE 'A%'", {}, ['Apfel']],
    ["SELECT VALUE c.s FROM c WHERE c.s LIKE '%e%'", {}, ['Apfel', 'Birke', 'zeder']],
    ["SELECT VALUE c.s FROM c WHERE c.s LIKE '_i%'", {}, ['Birke', 'Dill']],
    ["SELECT VALUE c.s FROM c WHERE c.s LIKE '[AB]%'", {}, ['Apfel', 'Birke']],
    ["SELECT VALUE c.s FROM c WHERE c.s LIKE '[^AB]%'", {}, ['Dill', 'zeder']],
    ["SELECT VALUE c.s FROM c WHERE c.s LIKE '[a-z]%'", {}, ['zeder']],
    ["SELECT VALUE c.s FROM c WHERE c.s LIKE 'a%'", {}, []],
    ["SELECT VALUE c.s FROM c WHERE c.s NOT LIKE '%l%'", {}, ['Birke', 'zeder']],
    ["SELECT VALUE c.id FROM c WHERE c.n LIKE '_'", {}, ['dill']],
    ...whole([
      ["['50%' LIKE '50!%' ESCAPE '!', '500' LIKE '50!%' ESCAPE '!']", [true, false]],
      ["['a' LIKE 'a', 'ab' LIKE 'a', 'a\\nb' LIKE 'a%b', '.' LIKE '_', 'a' LIKE '.']",
        [true, false, true, true, false]],
      ["[1 LIKE '1', 'a' LIKE 1, null LIKE '%', c.missing NOT LIKE '%']", []],
    ]),
  ],
  precedence: whole([
    ['[1 + 2 * 3, (1 + 2) * 3, 10 - 4 - 3, 2 * 3 % 4, -2 * 3, 2 + 3 << 1]', [7, 9, 3, 2, -6, 10]],
    ['[6 & 3 ^ 1, 1 ^ 3 | 4]', [3, 6]],
    ['[NOT 1 = 2, true OR false AND false, NOT true OR true, NOT (true OR true)]',
      [true, true, true, false]],
    ["['a' || 'b' = 'ab', 1 + 1 = 2, 1 IN (1) AND 2 BETWEEN 1 AND 3]", [true, true, true]],
    ['[c.missing ?? 1 = 1, 1 = 2 ? 3 : 4 ?? 5, true ? c.missing ?? 6 : 7]', [true, 4, 6]],
    ['1 BETWEEN 0 AND 2 AND false', false],
    ['{a: 1}.a + [2][0]', 3],
  ]),
};

for (const [title, rows] of Object.entries({ ...clauses, ...expressions })) {
  describe(title, () => {
    for (const [query, parameters, expected] of rows) {
      const shown = query.replaceAll('\n', ' ');
      const given = Object.keys(parameters).length > 0 ? ` ${JSON.stringify(parameters)}` : '';
      test(`${shown}${given}`, async () => {
        const found = await Promise.all(
          [...ways, planned].map(async (way) => [way, await all(way, query, parameters)] as const),
        );
        for (const [way, answer] of found) {
          assert.deepEqual(inOrder(query, answer), inOrder(query, expected), way.name);
        }
      });
    }
  });
}

/** Clients cannot merge values of different types,
  nor falsy ones; so these are the server's alone. */
test('ORDER BY sorts by type, then by value; items without the property are left out', async () => {
  const ascending = ['elm', 'dill', 'hazel', 'cedar', 'birch', 'apple', 'gorse'];
  for (const way of ways) {
    const query = 'SELECT VALUE c.id FROM c ORDER BY c.mix';
    assert.deepEqual(await all(way, query), ascending, way.name);
    assert.deepEqual(await all(way, `${query} DESC`), [...ascending].reverse(), way.name);
  }
});

test('DISTINCT tells values of different types apart', async () => {
  const query = "SELECT DISTINCT VALUE x FROM c JOIN x IN (SELECT VALUE [c.z, c.n, '', false])";
  for (const way of ways) {
    const found = await all(way, query);
    const expected = [null, 0, 1, 2, 3.5, '4', '', false];
    assert.deepEqual(inOrder(query, found), inOrder(query, expected), way.name);
  }
});

test('ORDER BY keeps ties in the order of creation, and turns them round with DESC', async () => {
  for (const way of ways) {
    const query = "SELECT VALUE c.id FROM c WHERE c.kind = 'tree' ORDER BY c.kind";
    assert.deepEqual(await all(way, query), ['apple', 'birch', 'cedar', 'elm'], way.name);
    const back = await all(way, `${query} DESC`);
    assert.deepEqual(back, ['elm', 'cedar', 'birch', 'apple'], way.name);
  }
});

test('FROM a subquery over the container, row by row', async () => {
  for (const way of ways) {
    const items = await all(
      way,
      "SELECT VALUE x.n FROM (SELECT c.n FROM c WHERE c.s = 'Apfel') AS x",
    );
    assert.deepEqual(items, [1], way.name);
  }
});

async function all(way: Way, query: string, given: Json = {}): Promise<readonly unknown[]> {
  const parameters = Object.entries(given).map(([name, value]) => ({
    name: `@${name}`,
    value: value as JSONValue,
  }));
  const { resources } = await way.container.items
    .query({ query, parameters }, way.options)
    .fetchAll();
  return resources.map(plain);
}

/** Without what the test and the server add to the plants. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (name, inner: unknown) =>
    name === 'pk' || /^_(?!_)/.test(name) ? undefined : inner,
  );
}

/** Without ORDER BY any order is right. */
function inOrder(query: string, rows: readonly unknown[]): readonly unknown[] {
  if (/order by/i.test(query)) return rows;
  const keyed = rows.map((row) => [sortKey(row), row] as const);
  return keyed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

function sortKey(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
