// What an index may be told of a condition. It may say too much and never too little: whatever it
// finds is asked again.
import type { ValueFilter } from '../engine/engine.js';
import type { IndexPath } from '../engine/indexing.js';
import { typesNamed } from '../mql/filter/elements.js';
import type { FieldNode, Node } from '../mql/filter/tree.js';
import { literalPrefix } from '../mql/regex.js';
import { toDouble } from '../value/bson/numbers.js';
import { showValue } from '../value/bson/show.js';
import { BsonType, isNumberType } from '../value/bson/types.js';
import {
  CodeWithScope,
  DbPointer,
  isArray,
  isDocument,
  isNumber,
  MAX_KEY,
  MIN_KEY,
  Regex,
  SymbolText,
  UNDEFINED,
  type Value,
} from '../value/bson/value.js';
import { KeyBracket, keyText } from '../value/bson-key.js';
import type { Scalar } from '../value/partition-key.js';

/** One way that leads to values at a path: each array on it is entered, or there is none. */
export interface Form {
  readonly path: IndexPath;
  /** Through no array at all. */
  readonly isPlain: boolean;
  /** It ends in elements of an array. */
  readonly isElement: boolean;
}
export interface Told {
  /** Undefined where no document can fit in this form. */
  at(form: Form): ValueFilter | undefined;
  readonly bounds: readonly Interval[];
  /** Whether everything that is found fits. */
  readonly isExact: boolean;
  /** Whether it asks about the value as it is, of an array never about the elements. */
  readonly isWhole?: boolean;
  /**
   * Whether an array may fulfil it, by itself or by what it lacks: then other conditions on the
   * path may be fulfilled by its elements.
   */
  readonly isLoose?: boolean;
}
/** As `explain` shows it; which sides the condition itself has set. */
export interface Interval {
  readonly low: string;
  readonly high: string;
  readonly sides: 'low' | 'high' | 'both';
}
export interface Asking {
  /** Whether texts are compared in a way that the index does not know. */
  readonly hasCollation: boolean;
  /** Whether the path begins in an element of an array, of which it is not known what it lacks. */
  readonly isInside: boolean;
  /** Whether it is about an element itself: of arrays in arrays only this is known. */
  readonly isElement?: boolean;
}

/** Undefined where nothing can be told. */
export function toldOf(node: Node, asking: Asking): Told | undefined {
  if (node.kind === 'not') return toldOfNot(node.of, asking);
  if (node.kind !== 'field') return undefined;
  const { operator, operand } = node;
  switch (operator) {
    case '$eq':
      return equal(operand, asking);
    case '$in':
      return isArray(operand) ? listed(operand, asking) : undefined;
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      return compared(operator, operand, asking);
    case '$regex':
      return operand instanceof Regex ? matching(operand) : undefined;
    case '$exists':
      return DEFINED;
    case '$type':
      return typed(operand);
    case '$size':
      return ARRAY;
    case '$elemMatch(value)':
      return asking.isElement ? ARRAY : inElement(node, asking);
    default:
      return undefined;
  }
}

/** What lacks a field, and what has one that is not null. */
function toldOfNot(node: Node, { isInside }: Asking): Told | undefined {
  if (node.kind !== 'field') return undefined;
  if (node.operator === '$exists' && !isInside) {
    return {
      at: ({ path, isPlain }) => (isPlain ? { op: 'missing', path } : undefined),
      bounds: [point('null')],
      isExact: false,
      isLoose: true,
    };
  }
  // On longer paths an empty array on the way is not null, either.
  const isNotNull = node.operator === '$eq' && node.operand === null;
  return isNotNull && node.path.names.length === 1 ? DEFINED : undefined;
}

/** An array is there itself, so its elements need not be asked. */
const DEFINED: Told = {
  at: ({ path, isElement }) => (isElement ? undefined : { op: 'defined', path }),
  bounds: [{ low: '[MinKey', high: 'MaxKey]', sides: 'both' }],
  isExact: false,
  isWhole: true,
  isLoose: true,
};

const ARRAY: Told = {
  ...DEFINED,
  at: ({ path, isElement }) => (isElement ? undefined : anyArray(path)),
};

function equal(value: Value, asking: Asking): Told | undefined {
  if (value === null) return asking.isInside ? undefined : NULL;
  const bounds = [point(showValue(value))];
  if (isArray(value)) return equalArray(value, bounds, asking);
  const text = exactText(value, asking);
  if (text === undefined) return undefined;
  return { at: ({ path }) => ({ op: '=', path, value: text }), bounds, isExact: true };
}

const NULL: Told = {
  at: ({ path, isPlain }) => {
    const isNull = { op: '=', path, value: KeyBracket.null } as const;
    return isPlain ? { op: 'any', path, of: [{ op: 'missing', path }, isNull] } : isNull;
  },
  bounds: [point('null')],
  isExact: false,
  isLoose: true,
};

/** An array is found by its first element; of one that is an element it is only known that. */
function equalArray(
  value: readonly Value[],
  bounds: readonly Interval[],
  asking: Asking,
): Told | undefined {
  const [first] = value;
  if (first === undefined) {
    return { at: ({ path }) => anyArray(path), bounds, isExact: false, isLoose: true };
  }
  const text = exactText(first, asking);
  if (text === undefined) return undefined;
  return {
    at: ({ path, isElement }) =>
      isElement
        ? { op: 'any', path, of: [{ op: '=', path, value: text }, anyArray(path)] }
        : undefined,
    bounds,
    isExact: false,
  };
}

/** Of arrays the index has the type alone, so any of them stands for all. */
export function anyArray(path: IndexPath): ValueFilter {
  return { op: '=', path, value: [] as unknown as Scalar };
}

export function anyDocument(path: IndexPath): ValueFilter {
  return { op: '=', path, value: {} as unknown as Scalar };
}

function listed(values: readonly Value[], asking: Asking): Told | undefined {
  const all = values.map((value) =>
    value instanceof Regex ? matching(value) : equal(value, asking),
  );
  const known = all.filter((each) => each !== undefined);
  if (known.length < all.length || known.length === 0) return undefined;
  return {
    at: (form) => {
      const filters = known.map((each) => each.at(form)).filter((each) => each !== undefined);
      return anyOf(form.path, filters);
    },
    bounds: known.flatMap(({ bounds }) => bounds),
    isExact: known.every(({ isExact }) => isExact),
    isLoose: known.some(({ isLoose }) => isLoose),
  };
}

function anyOf(path: IndexPath, filters: readonly ValueFilter[]): ValueFilter | undefined {
  if (filters.length < 2) return filters[0];
  const values = filters.flatMap((each) => (each.op === '=' ? [each.value] : []));
  return values.length === filters.length && values.every((value) => typeof value === 'string')
    ? { op: 'in', path, values }
    : { op: 'any', path, of: filters };
}

/** All of these on one value. */
export function everyOf(path: IndexPath, filters: readonly ValueFilter[]): ValueFilter | undefined {
  return filters.length < 2 ? filters[0] : { op: 'every', path, of: filters };
}

type Comparison = '$gt' | '$gte' | '$lt' | '$lte';
const OPERATORS = { $gt: '>', $gte: '>=', $lt: '<', $lte: '<=' } as const;

/** Within the bracket of the value, where its text has the order of values. */
function compared(operator: Comparison, operand: Value, asking: Asking): Told | undefined {
  const text = exactText(operand, asking);
  if (text === undefined || (isNumber(operand) && Number.isNaN(toDouble(operand)))) {
    return undefined;
  }
  const [bracket = ''] = text;
  if (!ORDERED.includes(bracket)) return undefined;
  const isNumeric = bracket === KeyBracket.number;
  const isUp = operator === '$gt' || operator === '$gte';
  const isExact = isNumeric ? text.length === NUMBER_UNITS : text.length <= BOUND_UNITS_MAX;
  const bound = text.slice(0, isNumeric ? NUMBER_UNITS : BOUND_UNITS_MAX);
  const shown = showValue(operand);
  const at = ({ path }: Form): ValueFilter => {
    if (isUp) {
      const op = isExact ? OPERATORS[operator] : '>=';
      return everyOf(path, [
        { op, path, value: bound },
        { op: '<', path, value: following(bracket) },
      ]) as ValueFilter;
    }
    const op = isExact ? OPERATORS[operator] : '<=';
    return everyOf(path, [
      { op, path, value: isExact ? bound : `${bound}${LAST_UNIT}` },
      // NaN is the bracket alone, and below no number.
      { op: isNumeric ? '>' : '>=', path, value: bracket },
    ]) as ValueFilter;
  };
  const [lowest, highest] = endsOf(bracket);
  const bounds: readonly Interval[] = isUp
    ? [{ low: `${operator === '$gt' ? '(' : '['}${shown}`, high: highest, sides: 'low' }]
    : [{ low: lowest, high: `${shown}${operator === '$lt' ? ')' : ']'}`, sides: 'high' }];
  return { at, bounds, isExact };
}

/** The types whose texts have the order of values. */
const ORDERED: readonly string[] = [
  ...[KeyBracket.number, KeyBracket.string, KeyBracket.binData, KeyBracket.objectId],
  ...[KeyBracket.bool, KeyBracket.date, KeyBracket.timestamp],
];
/** Bracket and double; what is above the double does not count here. */
const NUMBER_UNITS = 17;
/** Longer texts are cut in the index, and come in the order of their beginnings only. */
const BOUND_UNITS_MAX = 250;
const LAST_UNIT = '\uffff';

function following(bracket: string): string {
  return String.fromCharCode(bracket.charCodeAt(0) + 1);
}

function endsOf(bracket: string): readonly [string, string] {
  switch (bracket) {
    case KeyBracket.number:
      return ['[-inf', 'inf]'];
    case KeyBracket.string:
      return ['[""', '{})'];
    case KeyBracket.bool:
      return ['[false', 'true]'];
    case KeyBracket.date:
      return ['[new Date(-9223372036854775808)', 'new Date(9223372036854775807)]'];
    default:
      return ['[the first of its type', 'the last of its type]'];
  }
}

/** Texts that begin as the pattern does, and the very same pattern. */
function matching(regex: Regex): Told | undefined {
  const prefix = literalPrefix(regex.pattern, regex.options);
  if (prefix === '') return undefined;
  const text = keyText(prefix).slice(0, BOUND_UNITS_MAX);
  const same = keyText(regex);
  return {
    at: ({ path }) => ({
      op: 'any',
      path,
      of: [
        { op: 'prefix', path, value: text },
        { op: '=', path, value: same },
      ],
    }),
    bounds: [
      {
        low: `[${JSON.stringify(prefix)}`,
        high: `${JSON.stringify(after(prefix))})`,
        sides: 'both',
      },
      point(showValue(regex)),
    ],
    isExact: false,
  };
}

function after(prefix: string): string {
  const last = prefix.codePointAt([...prefix].slice(0, -1).join('').length) ?? 0;
  return [...prefix].slice(0, -1).join('') + String.fromCodePoint(last + 1);
}

const BRACKETS: ReadonlyMap<number, string> = new Map([
  [BsonType.string, KeyBracket.string],
  [BsonType.binData, KeyBracket.binData],
  [BsonType.objectId, KeyBracket.objectId],
  [BsonType.bool, KeyBracket.bool],
  [BsonType.date, KeyBracket.date],
  [BsonType.timestamp, KeyBracket.timestamp],
  [BsonType.regex, KeyBracket.regex],
]);

function typed(operand: Value): Told | undefined {
  const types = (isArray(operand) ? operand : [operand]).flatMap(typesNamed);
  const brackets = types.map((type) => {
    return isNumberType(type) ? KeyBracket.number : BRACKETS.get(type);
  });
  const known = [...new Set(brackets)].filter((bracket) => bracket !== undefined);
  if (brackets.includes(undefined)) return undefined;
  return {
    at: ({ path }) =>
      anyOf(
        path,
        known.map((value) => ({ op: 'prefix', path, value })),
      ),
    bounds: known.map((bracket) => {
      const [low, high] = endsOf(bracket);
      return { low, high, sides: 'both' };
    }),
    isExact: false,
  };
}

/** Conditions on one and the same element. */
function inElement({ inner }: FieldNode, asking: Asking): Told | undefined {
  const nodes = inner?.kind === 'and' ? inner.of : inner ? [inner] : [];
  const known = nodes
    .map((node) => toldOf(node, { ...asking, isInside: true, isElement: true }))
    .filter((each) => each !== undefined);
  if (known.length === 0) return undefined;
  return {
    at: (form) => {
      if (!form.isElement) return undefined;
      // The element is the value itself here, whose own elements do not count.
      const filters = known.map((each) => each.at({ ...form, isElement: !each.isWhole }));
      const told = filters.filter((each) => each !== undefined);
      return told.length < filters.length ? undefined : everyOf(form.path, told);
    },
    bounds: joined(known.map(({ bounds }) => bounds)),
    isExact: false,
  };
}

/** What several conditions on one value leave, as far as it is simply said. */
export function joined(all: readonly (readonly Interval[])[]): readonly Interval[] {
  const single = all.flatMap((each) => (each.length === 1 ? each : []));
  const low = single.find(({ sides }) => sides === 'low');
  const high = single.find(({ sides }) => sides === 'high');
  const list = all.find(([first]) => first?.sides === 'both');
  if (list) return list;
  if (low && high) return [{ low: low.low, high: high.high, sides: 'both' }];
  return all[0] ?? [];
}

function point(shown: string): Interval {
  return { low: `[${shown}`, high: `${shown}]`, sides: 'both' };
}

/** Values that are equal to nothing but themselves, and have a text in the image. */
function exactText(value: Value, { hasCollation }: Asking): string | undefined {
  if (value === null || value === UNDEFINED || value === MIN_KEY || value === MAX_KEY) return;
  if (isArray(value) || isDocument(value) || value instanceof Regex) return undefined;
  // Their order is another one in the index.
  if (value instanceof DbPointer || value instanceof CodeWithScope) return undefined;
  if (hasCollation && (typeof value === 'string' || value instanceof SymbolText)) return undefined;
  return keyText(value);
}
