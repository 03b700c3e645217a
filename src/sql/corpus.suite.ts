// Queries of all shapes and their normal form. Several tests start from these.

export const corpus: readonly (readonly [text: string, printed: string])[] = [
  // Selections
  ['select * from c', 'SELECT * FROM c'],
  ['SELECT 1', 'SELECT 1'],
  ['SELECT VALUE 1;', 'SELECT VALUE 1'],
  ['SELECT DISTINCT VALUE c.x FROM c', 'SELECT DISTINCT VALUE c.x FROM c'],
  ['SELECT DISTINCT TOP 5 c.x FROM c', 'SELECT DISTINCT TOP 5 c.x FROM c'],
  ['SELECT TOP @n * FROM c', 'SELECT TOP @n * FROM c'],
  ['SELECT TOP 0x10 * FROM c', 'SELECT TOP 16 * FROM c'],
  ['SELECT c.a x, c.b AS y, c.c FROM c', 'SELECT c.a AS x, c.b AS y, c.c FROM c'],
  ['SELECT c.a AS value, c.b AS top FROM c', 'SELECT c.a AS value, c.b AS top FROM c'],
  [
    'SELECT VALUE {a: c.a, \'b c\': 1, "order": [1, {}], from: []} FROM c',
    'SELECT VALUE {"a": c.a, "b c": 1, "order": [1, {}], "from": []} FROM c',
  ],
  [
    "SELECT 'it\\'s \"x\"', true, false, null, undefined",
    'SELECT "it\'s \\"x\\"", true, false, null, undefined',
  ],
  // Paths
  [
    'SELECT c.value, c.order, c.top, c["group"], c.Select.from FROM c',
    'SELECT c.value, c.order, c.top, c["group"], c.Select.from FROM c',
  ],
  ["SELECT c.a[0]['b'][@p][c.i + 1].true FROM c", 'SELECT c.a[0]["b"][@p][(c.i + 1)].true FROM c'],
  [
    'SELECT {"a": 1}.a, [1, 2][0], "x"[0], @p.q, (1).a, f(1).b',
    'SELECT {"a": 1}.a, [1, 2][0], "x"[0], @p.q, (1).a, f(1).b',
  ],
  ['SELECT (-1)["a"], -1["a"]', 'SELECT (-1)["a"], (-(1)["a"])'],
  ['SELECT True, TRUE.x FROM c', 'SELECT True, TRUE.x FROM c'],
  // Sources
  ['SELECT * FROM c AS d', 'SELECT * FROM c AS d'],
  ['SELECT * FROM root r', 'SELECT * FROM root AS r'],
  [
    'SELECT * FROM c.children[0]["x"]["y z"].order AS d',
    'SELECT * FROM c.children[0].x["y z"].order AS d',
  ],
  ['SELECT * FROM x IN c.arr', 'SELECT * FROM x IN c.arr'],
  [
    'SELECT c.id, t FROM c JOIN t IN c.tags JOIN u IN t.list',
    'SELECT c.id, t FROM c JOIN t IN c.tags JOIN u IN t.list',
  ],
  [
    'SELECT * FROM c JOIN (SELECT VALUE t FROM t IN c.tags WHERE t > 1) t',
    'SELECT * FROM c JOIN (SELECT VALUE t FROM t IN c.tags WHERE (t > 1)) AS t',
  ],
  ['SELECT * FROM c JOIN x IN (SELECT VALUE c.a)', 'SELECT * FROM c JOIN x IN (SELECT VALUE c.a)'],
  ['SELECT * FROM (SELECT * FROM c) AS s', 'SELECT * FROM (SELECT * FROM c) AS s'],
  // Precedence, from the strongest to the weakest
  ['SELECT -a.b', 'SELECT (-a.b)'],
  ['SELECT - - a, -+~a, - -1, -(1), +1, ~1, -0', 'SELECT (-(-a)), (-(+(~a))), 1, -1, 1, (~1), -0'],
  ['SELECT -a * b', 'SELECT ((-a) * b)'],
  ['SELECT a + b * c - d / e % f', 'SELECT ((a + (b * c)) - ((d / e) % f))'],
  ['SELECT a - b - c', 'SELECT ((a - b) - c)'],
  ['SELECT a-1, a -1', 'SELECT (a - 1), (a - 1)'],
  ['SELECT a || b + c || d', 'SELECT ((a || (b + c)) || d)'],
  ['SELECT a << b || c >> d >>> e', 'SELECT (((a << (b || c)) >> d) >>> e)'],
  ['SELECT a & b << c', 'SELECT (a & (b << c))'],
  ['SELECT a ^ b & c', 'SELECT (a ^ (b & c))'],
  ['SELECT a | b ^ c', 'SELECT (a | (b ^ c))'],
  ['SELECT a = b | c', 'SELECT (a = (b | c))'],
  [
    'SELECT a <> b, a != b, a < b, a > b, a <= b, a >= b',
    'SELECT (a != b), (a != b), (a < b), (a > b), (a <= b), (a >= b)',
  ],
  ['SELECT a < b = c', 'SELECT ((a < b) = c)'],
  [
    'SELECT a + 1 BETWEEN b - 1 AND c * 2 AND d',
    'SELECT (((a + 1) BETWEEN (b - 1) AND (c * 2)) AND d)',
  ],
  ['SELECT a NOT BETWEEN 1 AND 2', 'SELECT (a NOT BETWEEN 1 AND 2)'],
  ["SELECT a IN (1, 'x', @p), a not in (b)", 'SELECT (a IN (1, "x", @p)), (a NOT IN (b))'],
  [
    "SELECT a LIKE 'x%' || b, a NOT LIKE '!%' ESCAPE '!'",
    'SELECT (a LIKE ("x%" || b)), (a NOT LIKE "!%" ESCAPE "!")',
  ],
  ['SELECT NOT c.a = 1', 'SELECT (NOT (c.a = 1))'],
  ['SELECT NOT a IN (1) AND b', 'SELECT ((NOT (a IN (1))) AND b)'],
  ['SELECT NOT NOT a AND NOT b', 'SELECT ((NOT (NOT a)) AND (NOT b))'],
  ['SELECT a = NOT b', 'SELECT (a = (NOT b))'],
  ['SELECT a OR b AND c OR d', 'SELECT ((a OR (b AND c)) OR d)'],
  ['SELECT a AND b AND c AND d AND e', 'SELECT (((a AND b) AND c) AND (d AND e))'],
  ['SELECT a ?? b OR c ?? d', 'SELECT ((a ?? (b OR c)) ?? d)'],
  ['SELECT a ? b : c ? d : e', 'SELECT (a ? b : (c ? d : e))'],
  ['SELECT a ?? b ? c ? d : e : .5', 'SELECT ((a ?? b) ? (c ? d : e) : 0.5)'],
  // Calls and subqueries
  [
    "SELECT LEFT(c.a, 1), right('x', 2), Count(1), PI()",
    'SELECT LEFT(c.a, 1), right("x", 2), Count(1), PI()',
  ],
  ['SELECT udf.tax(c.a, 1), udf.value() FROM c', 'SELECT udf.tax(c.a, 1), udf.value() FROM c'],
  ['SELECT first(c.a), all, LAST FROM c', 'SELECT first(c.a), all, LAST FROM c'],
  [
    'SELECT (SELECT 1), exists(select 1), Array(SELECT VALUE 1)',
    'SELECT (SELECT 1), EXISTS(SELECT 1), ARRAY(SELECT VALUE 1)',
  ],
  [
    'SELECT all(SELECT 1), First (SELECT 1), LAST(SELECT 1)',
    'SELECT ALL(SELECT 1), FIRST(SELECT 1), LAST(SELECT 1)',
  ],
  ['SELECT ((SELECT 1)), ABS((SELECT 1))[0]', 'SELECT (SELECT 1), ABS((SELECT 1))[0]'],
  // Later clauses
  ['SELECT * FROM c WHERE c.a = 1', 'SELECT * FROM c WHERE (c.a = 1)'],
  [
    'SELECT c.a, COUNT(1) n FROM c GROUP BY c.a, c.b',
    'SELECT c.a, COUNT(1) AS n FROM c GROUP BY c.a, c.b',
  ],
  [
    'SELECT * FROM c ORDER BY c.a DESC, c.b ASC, c.c',
    'SELECT * FROM c ORDER BY c.a DESC, c.b, c.c',
  ],
  [
    "SELECT TOP 9 * FROM c ORDER BY RANK RRF(FullTextScore(c.t, 'a'), f(c.v), [2, 1])",
    'SELECT TOP 9 * FROM c ORDER BY RANK RRF(FullTextScore(c.t, "a"), f(c.v), [2, 1])',
  ],
  [
    'SELECT * FROM c ORDER BY RANK f(c.a) DESC OFFSET 1 LIMIT 2',
    'SELECT * FROM c ORDER BY RANK f(c.a) OFFSET 1 LIMIT 2',
  ],
  ['SELECT * FROM c ORDER BY RANK f(c.a) ASC', 'SELECT * FROM c ORDER BY RANK f(c.a) ASC'],
  ['SELECT * FROM c OFFSET @o LIMIT 1e1', 'SELECT * FROM c OFFSET @o LIMIT 10'],
  [
    'SELECT c.id /* why */ FROM c -- all of it\nWHERE c.a > @a',
    'SELECT c.id FROM c WHERE (c.a > @a)',
  ],
  // What clients send back after a query plan
  [
    'SELECT c._rid, [{"item": c.a}] AS orderByItems, c AS payload\nFROM c\nWHERE (true)\nORDER BY c.a',
    'SELECT c._rid, [{"item": c.a}] AS orderByItems, c AS payload FROM c WHERE true ORDER BY c.a',
  ],
  [
    'SELECT TOP 10 c._rid, [{"item": c.a}, {"item": c.b}] AS orderByItems, {"x": c.x} AS payload FROM c WHERE ((c.k = "v") AND ((c.a > 5) OR (c.a = 5 AND c._rid > "r"))) ORDER BY c.a DESC, c.b',
    'SELECT TOP 10 c._rid, [{"item": c.a}, {"item": c.b}] AS orderByItems, {"x": c.x} AS payload FROM c WHERE ((c.k = "v") AND ((c.a > 5) OR ((c.a = 5) AND (c._rid > "r")))) ORDER BY c.a DESC, c.b',
  ],
  [
    'SELECT c._rid, [{"item": c.x}] AS orderByItems, c.x AS payload FROM c WHERE ((true) AND IS_DEFINED(c.x)) ORDER BY c.x',
    'SELECT c._rid, [{"item": c.x}] AS orderByItems, c.x AS payload FROM c WHERE (true AND IS_DEFINED(c.x)) ORDER BY c.x',
  ],
  [
    'SELECT VALUE [{"item": MIN(c.x), "item2": {"min": MIN(c.x), "count": COUNT(c.x)}}] FROM c',
    'SELECT VALUE [{"item": MIN(c.x), "item2": {"min": MIN(c.x), "count": COUNT(c.x)}}] FROM c',
  ],
  [
    'SELECT {"s": {"item": SUM(c.x)}, "$1": {"item": {"sum": SUM(c.y), "count": COUNT(c.y)}}} AS payload FROM c',
    'SELECT {"s": {"item": SUM(c.x)}, "$1": {"item": {"sum": SUM(c.y), "count": COUNT(c.y)}}} AS payload FROM c',
  ],
  [
    'SELECT [{"item": c.team}] AS groupByItems, {"team": c.team, "n": {"item": COUNT(1)}} AS payload FROM c GROUP BY c.team',
    'SELECT [{"item": c.team}] AS groupByItems, {"team": c.team, "n": {"item": COUNT(1)}} AS payload FROM c GROUP BY c.team',
  ],
  [
    'SELECT c._rid, {"payload": {"id": c.id}, "componentScores": [(_FullTextScore(c.text, ["swim"], 9, 70, [3]) ?? -1)]} AS payload FROM c WHERE (true) ORDER BY _FullTextScore(c.text, ["swim"], 9, 70, [3]) DESC OFFSET 0 LIMIT 120',
    'SELECT c._rid, {"payload": {"id": c.id}, "componentScores": [(_FullTextScore(c.text, ["swim"], 9, 70, [3]) ?? -1)]} AS payload FROM c WHERE true ORDER BY _FullTextScore(c.text, ["swim"], 9, 70, [3]) DESC OFFSET 0 LIMIT 120',
  ],
];

/** A copy without the places, for comparing trees of different texts. */
export function withoutSpans(tree: unknown): unknown {
  if (Array.isArray(tree)) return tree.map(withoutSpans);
  if (typeof tree !== 'object' || tree === null) return tree;
  const kept = Object.entries(tree).filter(([name]) => name !== 'span');
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutSpans(value)]));
}
