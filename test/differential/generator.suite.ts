// Random documents, and random queries over them as SQL text. Both draw on one small vocabulary, so
// that filters hit and values meet their like.
import type { Scalar } from '../../src/value/partition-key.js';
import { type Random, randomInteger, randomPick } from '../../src/value/random.suite.js';

export interface RandomQuery {
  readonly text: string;
  readonly parameters: ReadonlyMap<string, unknown>;
}

/** Without an id; the partition key is `p`. */
export function randomDocument(random: Random): Record<string, unknown> {
  const document: Record<string, unknown> = {};
  const maybe = (name: string, chance: number, make: () => unknown) => {
    if (random() < chance) document[name] = make();
  };
  maybe('p', 0.9, () => randomPick(random, PARTITIONS));
  maybe('a', 0.8, () => anyScalar(random));
  maybe('b', 0.7, () => (random() < 0.2 ? anyValue(random, 2) : anyScalar(random)));
  maybe('n', 0.8, () => randomPick(random, NUMBERS));
  maybe('s', 0.8, () => randomPick(random, STRINGS));
  maybe('long', 0.2, () => randomPick(random, LONG));
  maybe('flag', 0.6, () => random() < 0.5);
  maybe('tags', 0.6, () => listOf(random, 4, () => anyScalar(random)));
  maybe('list', 0.5, () => listOf(random, 3, () => anyEntry(random)));
  maybe('o', 0.5, () => ({
    p: anyScalar(random),
    ...(random() < 0.7 ? { q: { r: anyScalar(random), t: listOf(random, 3, () => 1) } } : {}),
  }));
  maybe('x y', 0.3, () => anyScalar(random));
  maybe('é', 0.2, () => anyScalar(random));
  maybe('a\u0000b', 0.1, () => 1);
  return document;
}

export const PARTITIONS: readonly [Scalar, ...Scalar[]] = ['red', 'blue', 7, true, null];
const NUMBERS = [-10, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 5, 10, 1e6] as const;
const STRINGS = [
  '',
  'a',
  'ab',
  'abc',
  'b',
  'B',
  'é',
  '漢字',
  '😀',
  '\ue000',
  'a\u0000',
  '1',
] as const;
const BEGINNING = 'x'.repeat(1460);
/** Around the length at which index entries are cut, and beyond, with long beginnings in common. */
const LONG = [
  'x',
  BEGINNING,
  `${BEGINNING}aaaaaa`,
  `${BEGINNING}aaaaaab`,
  ...['', 'a', 'b', 'c', 'd', 'e'].map((end) => `${BEGINNING}${'y'.repeat(34)}${end}`),
  ...['a', 'b', 'c', 'd'].map((end) => `${BEGINNING}${'y'.repeat(20)}${end}${'z'.repeat(300)}`),
  `y${BEGINNING}${BEGINNING}`,
] as unknown as readonly [string, ...string[]];

function anyScalar(random: Random): unknown {
  switch (randomInteger(random, 7)) {
    case 0:
      return null;
    case 1:
      return random() < 0.5;
    case 2:
    case 3:
      return randomPick(random, STRINGS);
    default:
      return randomPick(random, NUMBERS);
  }
}

function anyValue(random: Random, depth: number): unknown {
  const kind = depth > 0 ? randomInteger(random, 3) : 0;
  if (kind === 1) return listOf(random, 3, () => anyValue(random, depth - 1));
  return kind === 2 ? anyEntry(random) : anyScalar(random);
}

function anyEntry(random: Random): object {
  const k = anyScalar(random);
  if (random() < 0.2) return { v: randomPick(random, NUMBERS), k };
  return random() < 0.2 ? { k } : { k, v: randomPick(random, NUMBERS) };
}

function listOf<T>(random: Random, max: number, make: () => T): readonly T[] {
  return Array.from({ length: randomInteger(random, max + 1) }, make);
}

export function randomQuery(random: Random): RandomQuery {
  return new QueryMaker(random).query();
}

/** A filter and an order for a query whose rows tell their document. */
export function randomScan(random: Random): RandomQuery {
  return new QueryMaker(random).scan();
}

const SCALAR_PATHS = ['c.a', 'c.b', 'c.n', 'c.s', 'c.o.p', 'c.o.q.r', 'c["x y"]', 'c.é'] as const;
const ARRAY_PATHS = ['c.tags', 'c.list', 'c.o.q.t', 'c.b'] as const;
const ELEMENT_PATHS = ['c.tags[0]', 'c.tags[1]', 'c.list[0].k', 'c.list[1].v', 'c.b[0]'] as const;
const OTHER_PATHS = ['c.flag', 'c.tags', 'c.o', 'c.o.q', 'c.missing', 'c.id', 'c._ts'] as const;
const COMPARISONS = ['=', '=', '=', '!=', '<', '<=', '>', '>='] as const;
const ARITHMETIC = ['+', '-', '*', '/', '%', '&', '|', '^', '<<', '>>', '>>>'] as const;
const TYPE_CHECKS = ['IS_DEFINED', 'IS_NULL', 'IS_NUMBER', 'IS_STRING', 'IS_ARRAY'] as const;
const AGGREGATES = ['COUNT', 'SUM', 'AVG', 'MIN', 'MAX', 'COUNTIF'] as const;
const PATTERNS = ['a%', '%b', '%a%', '_', 'a_', '', '%', 'x%', '!%%', 'é'] as const;
const SORT_PATHS = ['a', 'b', 'n', 's', 'long', 'o.p', 'o.q.r', 'id', '_ts', 'tags'] as const;
const SORTS = [
  'c.a ASC, c.n ASC',
  'c.a DESC, c.n DESC',
  'c.a DESC, c.s ASC',
  'c.a ASC, c.s DESC',
  'c.b, c.n DESC, c.s',
  'c.b DESC, c.n, c.s DESC',
  'c.n, c.long',
  'c.n DESC, c.long DESC',
  'c.n, c.a',
] as const;

class QueryMaker {
  readonly #random: Random;
  readonly #parameters = new Map<string, unknown>();

  constructor(random: Random) {
    this.#random = random;
  }

  query(): RandomQuery {
    switch (randomInteger(this.#random, 12)) {
      case 0:
      case 1:
        return this.#end(`${this.#select(this.#aggregate())} FROM c${this.#where()}`);
      case 2:
      case 3:
        return this.#end(this.#grouped());
      case 4:
        return this.#end(this.#joined());
      case 5:
      case 6: {
        const distinct = this.#chance(0.7) ? 'DISTINCT ' : '';
        const value = `${distinct}VALUE ${this.#path()}`;
        return this.#limited(value, `FROM c${this.#where()}${this.#order(0.4)}`);
      }
      case 7:
        return this.#end(this.#odd());
      default:
        return this.#limited(this.#projection(), `FROM c${this.#where()}${this.#order(0.6)}`);
    }
  }

  scan(): RandomQuery {
    if (this.#chance(0.3)) {
      return this.#end(`SELECT c.id, t AS e FROM c JOIN t IN c.tags${this.#where()}`);
    }
    const distinct = this.#chance(0.1) ? 'DISTINCT ' : '';
    return this.#end(`SELECT ${distinct}c.id FROM c${this.#where()}${this.#order(0.5)}`);
  }

  #end(text: string): RandomQuery {
    return { text, parameters: this.#parameters };
  }

  #chance(chance: number): boolean {
    return this.#random() < chance;
  }

  #pick<T>(choices: readonly [T, ...T[]]): T {
    return randomPick(this.#random, choices);
  }

  #limited(selection: string, rest: string): RandomQuery {
    const count = () => {
      const value = this.#pick([0, 1, 2, 3, 10, 1000]);
      return this.#chance(0.2) ? this.#parameter(value) : String(value);
    };
    if (this.#chance(0.15)) return this.#end(`SELECT ${topped(selection, count())} ${rest}`);
    if (!this.#chance(0.15)) return this.#end(`SELECT ${selection} ${rest}`);
    return this.#end(`SELECT ${selection} ${rest} OFFSET ${count()} LIMIT ${count()}`);
  }

  #select(expression: string): string {
    return this.#chance(0.6) ? `SELECT VALUE ${expression}` : `SELECT ${expression} AS f, 1 AS g`;
  }

  #projection(): string {
    const distinct = this.#chance(0.15) ? 'DISTINCT ' : '';
    switch (randomInteger(this.#random, 8)) {
      case 0:
      case 1:
        return `${distinct}*`;
      case 2:
        return `${distinct}c.id, c.a, ${this.#path()} AS more`;
      case 3:
        return `${distinct}VALUE {"x": ${this.#path()}, "y": [${this.#path()}, ${this.#literal()}]}`;
      case 4:
        return `VALUE ${this.#subquery()}`;
      case 5:
        return `c.id, ${this.#subquery()} AS sub, ${this.#condition(1)} AS truth`;
      case 6:
        return `${distinct}VALUE ${this.#number()}`;
      default:
        return `${distinct}c.id`;
    }
  }

  #aggregate(): string {
    const name = this.#pick(AGGREGATES);
    if (name === 'COUNT' && this.#chance(0.5)) return 'COUNT(1)';
    if (name === 'COUNTIF') return `COUNTIF(${this.#condition(1)})`;
    if (this.#chance(0.15)) return `${this.#pick(['MAKELIST', 'MAKESET'])}(${this.#path()})`;
    return `${name}(${this.#chance(0.6) ? 'c.n' : this.#path()})`;
  }

  #grouped(): string {
    const keys = this.#chance(0.6) ? [this.#path()] : ['c.p', this.#path()];
    const shown = keys.map((key, at) => `${key} AS k${at}`);
    const folded = this.#chance(0.8) ? [`${this.#aggregate()} AS f`] : [];
    const select = this.#chance(0.2)
      ? `${this.#chance(0.5) ? 'DISTINCT ' : ''}VALUE ${this.#aggregate()}`
      : [...shown, ...folded].join(', ');
    const text = `SELECT ${select} FROM c${this.#where()} GROUP BY ${keys.join(', ')}`;
    return this.#chance(0.2) ? `${text} OFFSET 1 LIMIT 3` : text;
  }

  #joined(): string {
    const where = this.#where();
    switch (randomInteger(this.#random, 7)) {
      case 0:
        return `SELECT c.id, t FROM c JOIN t IN c.tags${where}`;
      case 1:
        return `SELECT VALUE [c.id, t, l.k] FROM c JOIN t IN c.tags JOIN l IN c.list${where}`;
      case 2:
        return `SELECT VALUE l FROM l IN c.list WHERE l.v ${this.#pick(COMPARISONS)} ${this.#literal()}`;
      case 3:
        return `SELECT * FROM c.o WHERE o.p ${this.#pick(COMPARISONS)} ${this.#literal()}`;
      case 4: {
        const inner = `SELECT VALUE t FROM t IN c.tags WHERE IS_STRING(t)`;
        return `SELECT VALUE {"i": c.id, "s": s} FROM c JOIN (${inner}) AS s${where}`;
      }
      case 5:
        return `SELECT c.id, t FROM c JOIN t IN c.tags${where}${this.#order(1)}`;
      default:
        return `SELECT COUNT(1) AS n, MIN(t) AS low FROM c JOIN t IN c.tags${where}`;
    }
  }

  /** What is rare: no container at all, aggregates in subqueries, comparisons with all sorts. */
  #odd(): string {
    switch (randomInteger(this.#random, 6)) {
      case 0:
        return `SELECT VALUE ${this.#literal()}`;
      case 1:
        return 'SELECT COUNT(1) AS n, MAX(2) AS m';
      case 2:
        return `SELECT c.id, (SELECT COUNT(1) AS n, SUM(l.v) AS s FROM l IN c.list) AS f FROM c`;
      case 3:
        return `SELECT VALUE ARRAY(SELECT DISTINCT VALUE t FROM t IN c.tags) FROM c${this.#where()}`;
      case 4:
        return `SELECT DISTINCT * FROM c${this.#where()}`;
      default:
        return `SELECT VALUE c.id FROM c WHERE c.b = {"k": ${this.#literal()}, "v": 1}`;
    }
  }

  #order(chance: number): string {
    if (!this.#chance(chance)) return '';
    if (this.#chance(0.2)) return ` ORDER BY ${this.#pick(SORTS)}`;
    if (this.#chance(0.05)) return ` ORDER BY c.tags[0]${this.#direction()}`;
    return ` ORDER BY c.${this.#pick(SORT_PATHS)}${this.#direction()}`;
  }

  #direction(): string {
    return this.#pick(['', ' ASC', ' DESC', ' DESC']);
  }

  #where(): string {
    return this.#chance(0.85) ? ` WHERE ${this.#condition(3)}` : '';
  }

  #condition(depth: number): string {
    if (depth > 0 && this.#chance(0.35)) {
      const one = this.#condition(depth - 1);
      const two = this.#condition(depth - 1);
      switch (randomInteger(this.#random, 7)) {
        case 0:
          return `NOT (${one})`;
        case 1:
        case 2:
          return `(${one} OR ${two})`;
        case 3:
          return `(${one} ? ${two} : ${this.#condition(0)})`;
        default:
          return `(${one} AND ${two})`;
      }
    }
    return this.#chance(0.75) ? this.#indexable() : this.#obscure();
  }

  /** What an index may help with. */
  #indexable(): string {
    const path = this.#path();
    const not = this.#chance(0.2) ? ' NOT' : '';
    switch (randomInteger(this.#random, 13)) {
      case 0:
        return `${path}${not} IN (${this.#literal()}, ${this.#literal()}, ${this.#literal()})`;
      case 1:
        return `${path}${not} BETWEEN ${this.#literal()} AND ${this.#literal()}`;
      case 2:
        return `STARTSWITH(${this.#text()}, ${this.#constant(this.#beginning())})`;
      case 3:
        return `ARRAY_CONTAINS(${this.#pick(ARRAY_PATHS)}, ${this.#literal()})`;
      case 4:
        return `${this.#pick(TYPE_CHECKS)}(${path})`;
      case 5:
        return `${this.#literal()} ${this.#pick(COMPARISONS)} ${path}`;
      case 6:
        return `(${path} = ${this.#literal()} OR ${path} = ${this.#literal()})`;
      case 7:
        return this.#pick(['c.flag', 'c.a', 'c.o.p']);
      case 8: {
        const wanted = this.#constant(this.#pick(LONG));
        return `c.long ${this.#pick(COMPARISONS)} ${wanted}`;
      }
      case 9: {
        const more = `${path} ${this.#pick(COMPARISONS)} ${this.#literal()}`;
        return `(${path} ${this.#pick(COMPARISONS)} ${this.#literal()} AND ${more})`;
      }
      default:
        return `${path} ${this.#pick(COMPARISONS)} ${this.#literal()}`;
    }
  }

  #obscure(): string {
    const path = this.#path();
    const compare = this.#pick(COMPARISONS);
    switch (randomInteger(this.#random, 11)) {
      case 0:
        return `${this.#text()}${this.#chance(0.2) ? ' NOT' : ''} LIKE ${this.#pattern()}`;
      case 1:
        return `${path} ${compare} ${this.#path()}`;
      case 2:
        return `EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t ${compare} ${this.#literal()})`;
      case 3:
        return `ARRAY_CONTAINS(c.list, {"k": ${this.#literal()}}, true)`;
      case 4:
        return `${this.#number()} ${compare} ${this.#literal()}`;
      case 5:
        return `(${path} ?? ${this.#literal()}) ${compare} ${this.#literal()}`;
      case 6:
        return `(${this.#text()} || 'b') ${compare} ${this.#literal()}`;
      case 7:
        return `STRINGEQUALS(${this.#text()}, ${this.#literal()})`;
      case 8:
        return `${this.#subquery()} ${compare} ${this.#literal()}`;
      case 9:
        return `CONTAINS(${this.#text()}, ${this.#literal()}, true)`;
      default:
        return this.#pick(['true', 'false', 'undefined', 'null', '1 = 1', 'c.p = undefined']);
    }
  }

  /** One value at the most, so that it never depends on the plan whether there are too many. */
  #subquery(): string {
    switch (randomInteger(this.#random, 5)) {
      case 0:
        return `(SELECT VALUE ${this.#pick(AGGREGATES)}(t) FROM t IN c.tags)`;
      case 1:
        return '(SELECT VALUE COUNT(1) FROM l IN c.list WHERE l.v > c.n)';
      case 2:
        return 'ARRAY(SELECT VALUE t FROM t IN c.tags ORDER BY c.a)';
      case 3:
        return 'ARRAY(SELECT DISTINCT TOP 2 l.k FROM l IN c.list)';
      default:
        return `(SELECT TOP 1 VALUE t FROM t IN c.tags WHERE t != ${this.#literal()})`;
    }
  }

  #number(): string {
    const [one, two] = [this.#path(), this.#chance(0.5) ? 'c.n' : this.#literal()];
    if (this.#chance(0.2)) return `${this.#pick(['-', '+', '~'])}(${one})`;
    return `(${one} ${this.#pick(ARITHMETIC)} ${two})`;
  }

  #path(): string {
    if (this.#chance(0.65)) return this.#pick(SCALAR_PATHS);
    return this.#pick(this.#chance(0.5) ? ELEMENT_PATHS : OTHER_PATHS);
  }

  #text(): string {
    return this.#pick(['c.s', 'c.s', 'c.a', 'c.long', 'c.o.p', 'c.tags[0]']);
  }

  #beginning(): string {
    if (this.#chance(0.7)) return this.#pick(STRINGS);
    return this.#pick(LONG).slice(0, this.#pick([3, 1459, 1470, 1490, 1496, 1500, 1600]));
  }

  #pattern(): string {
    const pattern = this.#constant(this.#pick(PATTERNS));
    return this.#chance(0.1) ? `${pattern} ESCAPE '!'` : pattern;
  }

  #literal(): string {
    if (this.#chance(0.03)) return 'undefined';
    if (this.#chance(0.05)) return this.#constant(anyValue(this.#random, 2));
    return this.#constant(anyScalar(this.#random));
  }

  #constant(value: unknown): string {
    return this.#chance(0.2) ? this.#parameter(value) : JSON.stringify(value);
  }

  #parameter(value: unknown): string {
    const name = `@p${this.#parameters.size}`;
    this.#parameters.set(name, value);
    return name;
  }
}

function topped(selection: string, count: string): string {
  return selection.startsWith('DISTINCT ')
    ? `DISTINCT TOP ${count} ${selection.slice('DISTINCT '.length)}`
    : `TOP ${count} ${selection}`;
}
