// A naive evaluator of queries: plain recursion over the syntax tree and an array of documents,
// slow and obviously right. It shares nothing with src/query but the built-in functions, which have
// tests of their own.
import { findFunction } from '../../src/query/functions/all.js';
import { invoke } from '../../src/query/functions/call.js';
import type { FromSource, SelectQuery, SqlExpression } from '../../src/sql/ast.js';
import { instant } from '../../src/time/instant.js';
import { isIncluded, isIncludedByName, type Policy } from './policy.suite.js';
import {
  aggregated,
  bothOf,
  calculated,
  compareBy,
  eitherOf,
  isLike,
  memberOf,
  oppositeOf,
  sortOrderOf,
  textOf,
} from './values.suite.js';

/** In order of creation. */
export interface ReferenceItem {
  readonly value: unknown;
}
export interface Answer {
  /** What the query yields. With an order the rows are in it; else any order will do. */
  readonly rows: readonly Row[];
  /** The rows before OFFSET, LIMIT and TOP, out of which an unordered query may choose. */
  readonly all: readonly Row[];
  readonly ordered: boolean;
}
export interface Row {
  readonly value: unknown;
  readonly keys: readonly unknown[];
}
export class Refused extends Error {}

const AGGREGATES = ['COUNT', 'COUNTIF', 'SUM', 'AVG', 'MIN', 'MAX', 'MAKELIST', 'MAKESET'];
const CONTEXT = { now: instant(0), random: () => 0 };

export function refer(
  query: SelectQuery,
  parameters: ReadonlyMap<string, unknown>,
  policy: Policy,
  items: readonly ReferenceItem[],
): Answer {
  const reference = new Reference(parameters);
  checkOrder(query, policy);
  const dropsMissing = query.orderBy.length === 1 && !isNamed(query, policy);
  const all = reference.rows(query, undefined, items, dropsMissing);
  return { rows: reference.cut(query, all), all, ordered: query.orderBy.length > 0 };
}

/** One path must be indexed, several need a composite index of just these, or just the opposite. */
function checkOrder(query: SelectQuery, policy: Policy): void {
  const order = query.orderBy.map(({ value, descending }) => ({
    path: stepsOf(value),
    descending,
  }));
  const [first, ...more] = order;
  if (!first) return;
  if (more.length === 0) {
    if (!isIncluded(policy, first.path)) throw new Refused('orderByExcluded');
    return;
  }
  const asked = order.map(({ path }) => path.join('/')).join();
  const served = policy.composites.some((composite) => {
    if (composite.map(({ path }) => path.slice(1)).join() !== asked) return false;
    const turned = composite.map((part, at) => part.descending !== order[at]?.descending);
    return new Set(turned).size === 1;
  });
  if (!served) throw new Refused('orderByComposite');
}

function isNamed(query: SelectQuery, policy: Policy): boolean {
  const [first] = query.orderBy;
  return first !== undefined && isIncludedByName(policy, stepsOf(first.value));
}

/** Behind the name of the source. */
function stepsOf(expression: SqlExpression): readonly (string | number)[] {
  if (expression.kind !== 'member') return [];
  const { key } = expression;
  if (key.kind !== 'string' && key.kind !== 'number') throw new Error('no path to sort by');
  return [...stepsOf(expression.of), key.value];
}

/** The names bound for a row, those of the queries around it included. */
type Names = ReadonlyMap<string, unknown>;

/** Where an expression is evaluated: for a row, or for the rows of a group. */
interface Place {
  readonly names: Names;
  readonly group: readonly Names[] | undefined;
}

class Reference {
  readonly #parameters: ReadonlyMap<string, unknown>;

  constructor(parameters: ReadonlyMap<string, unknown>) {
    this.#parameters = parameters;
  }

  /** All rows of a query in their order. The items are for the outermost query only. */
  rows(
    query: SelectQuery,
    around: Names | undefined,
    items: readonly ReferenceItem[] | undefined,
    dropsMissing = false,
  ): readonly Row[] {
    const starts: readonly (ReferenceItem | undefined)[] =
      items && query.from.length > 0 ? items : [undefined];
    const kept = starts
      .flatMap((item) => this.#sources(query.from, around ?? new Map(), item))
      .filter((names) => {
        const place = { names, group: undefined };
        return query.where === undefined || this.#value(query.where, place) === true;
      });
    const found = this.#places(query, kept, around ?? new Map()).flatMap((place): Row[] => {
      const value = this.#selected(query, place);
      const keys = query.orderBy.map((item) => this.#value(item.value, place));
      const isMissing = dropsMissing && keys[0] === undefined;
      return value === undefined || isMissing ? [] : [{ value, keys }];
    });
    return distinct(query, sorted(query, found));
  }

  cut(query: SelectQuery, rows: readonly Row[]): readonly Row[] {
    const offset = this.#count(query.offset) ?? 0;
    const limit = this.#count(query.limit) ?? this.#count(query.top) ?? rows.length;
    return rows.slice(offset, offset + limit);
  }

  #count(count: SelectQuery['top']): number | undefined {
    if (count === undefined) return undefined;
    return count.kind === 'number' ? count.value : (this.#parameters.get(count.name) as number);
  }

  #places(query: SelectQuery, rows: readonly Names[], around: Names): readonly Place[] {
    const isGrouped = query.groupBy.length > 0 || selectedIn(query).some(hasAggregate);
    if (!isGrouped) return rows.map((names) => ({ names, group: undefined }));
    const groups = new Map<string, Names[]>();
    if (query.groupBy.length === 0) groups.set('', []);
    for (const names of rows) {
      const place = { names, group: undefined };
      const key = query.groupBy.map((by) => textOf(this.#value(by, place))).join(' ');
      groups.set(key, [...(groups.get(key) ?? []), names]);
    }
    return [...groups.values()].map((group) => ({ names: group[0] ?? around, group }));
  }

  #selected(query: SelectQuery, place: Place): unknown {
    const { select, from } = query;
    if (select.kind === 'value') return this.#value(select.value, place);
    if (select.kind === 'star') return from[0] && place.names.get(nameOf(from[0]));
    let unnamed = 0;
    const members = select.items.map(({ value, alias }) => {
      const name = alias ?? impliedName(value) ?? `$${++unnamed}`;
      return [name, this.#value(value, place)] as const;
    });
    return Object.fromEntries(members.filter(([, value]) => value !== undefined));
  }

  #sources(
    from: readonly FromSource[],
    names: Names,
    item: ReferenceItem | undefined,
  ): readonly Names[] {
    const [source, ...more] = from;
    if (!source) return [names];
    return this.#bound(source, names, item).flatMap((value) =>
      this.#sources(more, new Map([...names, [nameOf(source), value]]), undefined),
    );
  }

  #bound(source: FromSource, names: Names, item: ReferenceItem | undefined): readonly unknown[] {
    const { collection } = source;
    const values =
      collection.kind === 'subquery'
        ? this.#subrows(collection.query, names)
        : [collection.steps.reduce(memberOf, item ? item.value : names.get(collection.root))];
    const each = source.iterate
      ? values.flatMap((value) => (Array.isArray(value) ? value : []))
      : values;
    return each.filter((value) => value !== undefined);
  }

  #subrows(query: SelectQuery, names: Names): readonly unknown[] {
    return this.cut(query, this.rows(query, names, undefined)).map(({ value }) => value);
  }

  #value(expression: SqlExpression, place: Place): unknown {
    const value = (inner: SqlExpression) => this.#value(inner, place);
    switch (expression.kind) {
      case 'number':
      case 'string':
      case 'boolean':
        return expression.value;
      case 'null':
        return null;
      case 'undefined':
        return undefined;
      case 'parameter':
        return this.#parameters.get(expression.name);
      case 'identifier':
        if (!place.names.has(expression.name)) throw new Refused('SC2001');
        return place.names.get(expression.name);
      case 'member':
        return memberOf(value(expression.of), value(expression.key));
      case 'array':
        return expression.items.map(value).filter((item) => item !== undefined);
      case 'object': {
        const members = expression.entries.map((entry) => [entry.name, value(entry.value)]);
        return Object.fromEntries(members.filter(([, member]) => member !== undefined));
      }
      case 'call':
        return this.#called(expression, place);
      case 'subquery':
        return collected(expression.mode, this.#subrows(expression.query, place.names));
      default:
        return this.#operated(expression, value);
    }
  }

  #operated(
    expression: Extract<
      SqlExpression,
      { kind: 'unary' | 'binary' | 'conditional' | 'between' | 'in' | 'like' }
    >,
    value: (inner: SqlExpression) => unknown,
  ): unknown {
    const maybeNot = (truth: unknown) =>
      'negated' in expression && expression.negated ? oppositeOf(truth) : truth;
    switch (expression.kind) {
      case 'unary':
        return unary(expression.operator, value(expression.operand));
      case 'binary':
        return binary(expression.operator, value(expression.left), value(expression.right));
      case 'conditional': {
        const condition = value(expression.condition);
        if (typeof condition !== 'boolean') return undefined;
        return condition ? value(expression.then) : value(expression.otherwise);
      }
      case 'between': {
        const middle = value(expression.value);
        const low = compareBy('>=', middle, value(expression.low));
        return maybeNot(bothOf(low, compareBy('<=', middle, value(expression.high))));
      }
      case 'in': {
        const wanted = value(expression.value);
        const found = expression.list.map((item) => compareBy('=', wanted, value(item)));
        return maybeNot(found.reduce(eitherOf, false));
      }
      case 'like': {
        const { pattern } = expression;
        return maybeNot(isLike(value(expression.value), value(pattern), expression.escape));
      }
      default:
        throw new Error(`unknown expression ${expression satisfies never}`);
    }
  }

  #called(call: Extract<SqlExpression, { kind: 'call' }>, place: Place): unknown {
    const name = call.name.toUpperCase();
    const valueFor = (names: Names) => (arg: SqlExpression) =>
      this.#value(arg, { names, group: undefined });
    if (AGGREGATES.includes(name)) {
      const [arg] = call.args;
      if (!place.group || !arg) throw new Error(`${name} outside a group`);
      return aggregated(
        name,
        place.group.map((names) => valueFor(names)(arg)),
      );
    }
    const fn = findFunction(name);
    if (!fn) throw new Refused('SC2005');
    return invoke(
      fn,
      call.args.map((arg) => this.#value(arg, place)),
      CONTEXT,
    );
  }
}

function unary(operator: string, value: unknown): unknown {
  if (operator === 'NOT') return oppositeOf(value);
  if (typeof value !== 'number') return undefined;
  if (operator === '-') return -value;
  return operator === '~' ? ~value : value;
}

function binary(operator: string, left: unknown, right: unknown): unknown {
  switch (operator) {
    case 'AND':
      return bothOf(left, right);
    case 'OR':
      return eitherOf(left, right);
    case '??':
      return left === undefined ? right : left;
    case '||':
      return typeof left === 'string' && typeof right === 'string' ? left + right : undefined;
    case '=':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=':
      return compareBy(operator, left, right);
    default:
      return calculated(operator, left, right);
  }
}

function collected(mode: string, values: readonly unknown[]): unknown {
  switch (mode) {
    case 'exists':
      return values.length > 0;
    case 'array':
      return values;
    case 'all':
      return values.every((value) => value === true);
    case 'last':
      return values.at(-1);
    case 'first':
      return values[0];
    default:
      if (values.length > 1) throw new Refused('invalidInput');
      return values[0];
  }
}

/** Ties stay in order of creation, or with a first key that descends in the opposite order. */
function sorted(query: SelectQuery, rows: readonly Row[]): readonly Row[] {
  const { orderBy } = query;
  if (orderBy.length === 0) return rows;
  const start = orderBy[0]?.descending ? [...rows].reverse() : [...rows];
  return start.sort((a, b) => {
    const orders = orderBy.map(({ descending }, at) => {
      const order = sortOrderOf(a.keys[at], b.keys[at], orderBy.length);
      return descending ? -order : order;
    });
    return orders.find((order) => order !== 0) ?? 0;
  });
}

/** Of rows that are the same the first stays. */
function distinct(query: SelectQuery, rows: readonly Row[]): readonly Row[] {
  if (!query.distinct) return rows;
  const seen = new Set<string>();
  return rows.filter(({ value }) => {
    const text = textOf(value);
    return !seen.has(text) && Boolean(seen.add(text));
  });
}

function selectedIn({ select }: SelectQuery): readonly SqlExpression[] {
  if (select.kind === 'star') return [];
  return select.kind === 'value' ? [select.value] : select.items.map(({ value }) => value);
}

/** Looks at every part of an expression but subqueries, whose aggregates are their own. */
function hasAggregate(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false;
  const { kind, name } = part as { readonly kind?: unknown; readonly name?: unknown };
  if (kind === 'subquery') return false;
  if (kind === 'call' && AGGREGATES.includes(String(name).toUpperCase())) return true;
  return Object.values(part).some(hasAggregate);
}

function nameOf({ alias, iterate, collection }: FromSource): string {
  if (alias !== undefined) return alias;
  if (iterate || collection.kind === 'subquery') return '';
  const names = collection.steps.filter((step) => typeof step === 'string');
  return names.at(-1) ?? collection.root;
}

function impliedName(value: SqlExpression): string | undefined {
  if (value.kind === 'identifier') return value.name;
  return value.kind === 'member' && value.key.kind === 'string' ? value.key.value : undefined;
}
