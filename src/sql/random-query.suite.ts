// Random syntax trees: every shape the parser can make, and no other.
import {
  type Random,
  randomInteger,
  randomNumber,
  randomPick,
  randomText,
} from '../value/random.suite.js';
import type {
  BinaryOperator,
  Collection,
  Count,
  FromSource,
  Selection,
  SelectQuery,
  SqlExpression,
} from './ast.js';
import { JOINS_MAX, UDF_CALLS_MAX } from './limits.js';

export function randomQuery(random: Random): SelectQuery {
  return makeQuery({ random, joins: JOINS_MAX, udfCalls: UDF_CALLS_MAX }, 5);
}

/** Joins and calls are limited in the query as a whole, so they are handed out from here. */
interface Maker {
  readonly random: Random;
  joins: number;
  udfCalls: number;
}

const SPAN = { start: 0, end: 0 } as const;

function makeQuery(maker: Maker, depth: number): SelectQuery {
  const { random } = maker;
  const maybe = <T>(make: () => T) => (random() < 0.3 ? make() : undefined);
  const top = maybe(() => makeCount(random));
  const offset = top === undefined ? maybe(() => makeCount(random)) : undefined;
  const rank = maybe(() => ({ value: makeCall(maker, depth - 1), descending: random() < 0.5 }));
  return {
    kind: 'query',
    span: SPAN,
    distinct: random() < 0.2,
    top,
    select: makeSelection(maker, depth),
    from: random() < 0.8 ? makeFrom(maker, depth) : [],
    where: maybe(() => makeExpression(maker, depth - 1)),
    groupBy: maybe(() => makeList(maker, depth - 1, 1)) ?? [],
    orderBy:
      rank !== undefined
        ? []
        : (maybe(() => makeList(maker, depth - 1, 1)) ?? []).map((value) => ({
            value,
            descending: random() < 0.5,
          })),
    rank,
    offset,
    limit: offset === undefined ? undefined : makeCount(random),
  };
}

function makeCount(random: Random): Count {
  if (random() < 0.5) return { kind: 'parameter', span: SPAN, name: '@count' };
  return { kind: 'number', span: SPAN, value: randomInteger(random, 1000) };
}

function makeSelection(maker: Maker, depth: number): Selection {
  const { random } = maker;
  const kind = randomPick(random, ['star', 'value', 'list', 'list'] as const);
  if (kind === 'star') return { kind, span: SPAN };
  if (kind === 'value') return { kind, span: SPAN, value: makeExpression(maker, depth - 1) };
  const items = makeList(maker, depth - 1, 1).map((value) => ({
    value,
    alias: random() < 0.4 ? randomPick(random, [...NAMES, 'value', 'top', 'Left']) : undefined,
  }));
  return { kind, span: SPAN, items };
}

function makeFrom(maker: Maker, depth: number): readonly FromSource[] {
  const sources = [makeSource(maker, depth)];
  while (maker.joins > 0 && maker.random() < 0.3) {
    maker.joins--;
    sources.push(makeSource(maker, depth));
  }
  return sources;
}

function makeSource(maker: Maker, depth: number): FromSource {
  const { random } = maker;
  const iterate = random() < 0.4;
  const alias = iterate || random() < 0.5 ? randomPick(random, NAMES) : undefined;
  return { span: SPAN, iterate, alias, collection: makeCollection(maker, depth) };
}

function makeCollection(maker: Maker, depth: number): Collection {
  const { random } = maker;
  if (depth > 0 && random() < 0.2) {
    return { kind: 'subquery', span: SPAN, query: makeQuery(maker, depth - 2) };
  }
  const steps = Array.from({ length: randomInteger(random, 4) }, () => {
    if (random() < 0.3) return randomInteger(random, 5);
    return random() < 0.5 ? randomText(random) : randomPick(random, WORDS);
  });
  return { kind: 'path', span: SPAN, root: randomPick(random, NAMES), steps };
}

function makeList(maker: Maker, depth: number, least: number): readonly SqlExpression[] {
  const length = least + randomInteger(maker.random, 3);
  return Array.from({ length }, () => makeExpression(maker, depth));
}

function makeExpression(maker: Maker, depth: number): SqlExpression {
  if (depth <= 0 || maker.random() < 0.2) return makeLeaf(maker.random);
  switch (randomInteger(maker.random, 5)) {
    case 0:
      return makeOperation(maker, depth);
    case 1:
      return makeTest(maker, depth);
    case 2:
      return makeConstructor(maker, depth);
    case 3:
      return makeMember(maker, depth);
    default:
      return maker.random() < 0.5 ? makeCall(maker, depth) : makeSubquery(maker, depth);
  }
}

function makeLeaf(random: Random): SqlExpression {
  const span = SPAN;
  switch (randomInteger(random, 8)) {
    case 0:
      return { kind: 'number', span, value: random() < 0.05 ? -0 : randomNumber(random) };
    case 1:
      return { kind: 'string', span, value: randomText(random) };
    case 2:
      return { kind: 'boolean', span, value: random() < 0.5 };
    case 3:
      return { kind: randomPick(random, ['null', 'undefined']), span };
    case 4:
      return { kind: 'parameter', span, name: randomPick(random, ['@p', '@Ünder_1', '@select']) };
    default:
      return { kind: 'identifier', span, name: randomPick(random, NAMES) };
  }
}

function makeOperation(maker: Maker, depth: number): SqlExpression {
  const { random } = maker;
  const make = () => makeExpression(maker, depth - 1);
  switch (randomInteger(random, 5)) {
    case 0: {
      const operand = make();
      // The parser makes a sign part of the number.
      const operators = operand.kind === 'number' ? SIGNLESS : UNARY;
      return { kind: 'unary', span: SPAN, operator: randomPick(random, operators), operand };
    }
    case 1: {
      const [condition, then, otherwise] = [make(), make(), make()];
      return { kind: 'conditional', span: SPAN, condition, then, otherwise };
    }
    default: {
      const operator = randomPick(random, BINARY);
      return { kind: 'binary', span: SPAN, operator, left: make(), right: make() };
    }
  }
}

function makeTest(maker: Maker, depth: number): SqlExpression {
  const { random } = maker;
  const make = () => makeExpression(maker, depth - 1);
  const common = { span: SPAN, negated: random() < 0.5, value: make() };
  switch (randomInteger(random, 3)) {
    case 0:
      return { kind: 'between', ...common, low: make(), high: make() };
    case 1:
      return { kind: 'in', ...common, list: makeList(maker, depth - 1, 1) };
    default: {
      const character = random() < 0.5 ? randomPick(random, ['!', '"', '\n', '😀']) : undefined;
      return { kind: 'like', ...common, pattern: make(), escape: character };
    }
  }
}

function makeConstructor(maker: Maker, depth: number): SqlExpression {
  if (maker.random() < 0.5) {
    return { kind: 'array', span: SPAN, items: makeList(maker, depth - 1, 0) };
  }
  const entries = makeList(maker, depth - 1, 0).map((value) => ({
    name: randomText(maker.random),
    value,
  }));
  return { kind: 'object', span: SPAN, entries };
}

function makeMember(maker: Maker, depth: number): SqlExpression {
  const of = makeExpression(maker, depth - 1);
  const dotted = maker.random() < 0.6;
  const key: SqlExpression = dotted
    ? { kind: 'string', span: SPAN, value: randomPick(maker.random, WORDS) }
    : makeExpression(maker, depth - 1);
  return { kind: 'member', span: SPAN, of, key, dotted };
}

function makeCall(maker: Maker, depth: number): SqlExpression {
  const { random } = maker;
  const udf = maker.udfCalls > 0 && random() < 0.2;
  if (udf) maker.udfCalls--;
  const name = udf ? randomPick(random, WORDS) : randomPick(random, FUNCTIONS);
  return { kind: 'call', span: SPAN, name, udf, args: makeList(maker, depth - 1, 0) };
}

function makeSubquery(maker: Maker, depth: number): SqlExpression {
  const modes = ['scalar', 'exists', 'array', 'all', 'first', 'last'] as const;
  const mode = randomPick(maker.random, modes);
  return { kind: 'subquery', span: SPAN, mode, query: makeQuery(maker, depth - 2) };
}

const NAMES = ['c', 'x1', '_rid', 'é漢', 'root', 'first', 'True', 'selected'] as const;
const WORDS = [...NAMES, 'value', 'order', 'SELECT', 'udf', 'null', 'NOT'] as const;
const FUNCTIONS = ['ABS', 'is_defined', 'LEFT', 'right', 'First', 'ALL', 'all', 'COUNT'] as const;
const SIGNLESS = ['~', 'NOT'] as const;
const UNARY = [...SIGNLESS, '-', '+'] as const;
// biome-ignore format: grouped by precedence
const BINARY = [
  '*', '/', '%', '+', '-', '||', '<<', '>>', '>>>', '&', '^', '|',
  '=', '!=', '<', '>', '<=', '>=', 'AND', 'OR', '??',
] as const satisfies readonly BinaryOperator[];
