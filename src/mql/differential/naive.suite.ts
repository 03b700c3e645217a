// Filters evaluated without any haste, on decoded documents: the rules written down a second time,
// in another way, for the comparison with the compiled form.
import { compareBson } from '../../value/bson/compare.js';
import { Decimal128 } from '../../value/bson/decimal.js';
import { decimalToInteger } from '../../value/bson/decimal-math.js';
import { isNan, toDouble } from '../../value/bson/numbers.js';
import { BsonType, bracketOf, typeNamed } from '../../value/bson/types.js';
import {
  type Document,
  isArray,
  isDocument,
  isNullish,
  isNumber,
  MAX_KEY,
  MIN_KEY,
  typeOf,
  type Value,
} from '../../value/bson/value.js';

type Found = Value | undefined;

export function naiveMatch(document: Document, filter: Document): boolean {
  return [...filter].every(([name, condition]) => {
    const clauses = isArray(condition) ? condition.filter(isDocument) : [];
    if (name === '$and') return clauses.every((clause) => naiveMatch(document, clause));
    if (name === '$or') return clauses.some((clause) => naiveMatch(document, clause));
    if (name === '$nor') return !clauses.some((clause) => naiveMatch(document, clause));
    return matchPath(document, name.split('.'), condition);
  });
}

function matchPath(document: Document, path: readonly string[], condition: Value): boolean {
  const operators = operatorsOf(condition);
  return operators.every(([operator, operand]) => {
    switch (operator) {
      case '$ne':
        return !some(document, path, (value) => compares('$eq', value, operand));
      case '$nin':
        return !some(document, path, (value) => isIn(value, operand));
      case '$not':
        return !matchPath(document, path, operand);
      case '$exists':
        return some(document, path, (value) => value !== undefined) === operand;
      case '$all':
        return (
          isArray(operand) &&
          operand.length > 0 &&
          operand.every((each) => some(document, path, (value) => compares('$eq', value, each)))
        );
      case '$size':
      case '$elemMatch':
        return valuesAt(document, path).some((value) => matchArray(value, operator, operand));
      default:
        return some(document, path, (value) => matchValue(value, operator, operand));
    }
  });
}

function operatorsOf(condition: Value): readonly (readonly [string, Value])[] {
  const isOperators = isDocument(condition) && [...condition.keys()][0]?.startsWith('$');
  return isDocument(condition) && isOperators ? [...condition] : [['$eq', condition]];
}

/** The values at a path; one that was reached by position is not opened again. */
function some(
  document: Document,
  path: readonly string[],
  test: (value: Found) => boolean,
): boolean {
  return reached(document, path).some(({ value, byPosition }) => {
    if (isArray(value) && !byPosition && value.some(test)) return true;
    return test(value);
  });
}

function valuesAt(document: Document, path: readonly string[]): readonly Found[] {
  return reached(document, path).map(({ value }) => value);
}

interface Reached {
  readonly value: Found;
  readonly byPosition: boolean;
}

function reached(from: Document, path: readonly string[]): readonly Reached[] {
  const [name = '', ...rest] = path;
  const value = from.get(name);
  if (rest.length === 0) return [{ value, byPosition: false }];
  if (isDocument(value)) return reached(value, rest);
  if (!isArray(value)) return [{ value: undefined, byPosition: false }];
  return value.flatMap((element, index) => {
    const inside = isDocument(element) ? reached(element, rest) : [];
    if (String(index) !== rest[0]) return inside;
    const behind = rest.slice(1);
    if (behind.length === 0) return [...inside, { value: element, byPosition: true }];
    return [...inside, ...behindPosition(element, behind)];
  });
}

/** An array that was reached by position is looked at like a document of numbered fields. */
function behindPosition(element: Value, path: readonly string[]): readonly Reached[] {
  if (isDocument(element)) return reached(element, path);
  if (!isArray(element)) return [];
  return reached(new Map(element.map((value, at) => [String(at), value])), path);
}

function matchArray(value: Found, operator: string, operand: Value): boolean {
  if (!isArray(value)) return false;
  if (operator === '$size') return isNumber(operand) && value.length === toDouble(operand);
  if (!isDocument(operand)) return false;
  const first = [...operand.keys()][0];
  const onValues = first?.startsWith('$') && !['$and', '$or', '$nor'].includes(first);
  return value.some((element) => {
    if (onValues) return [...operand].every(([name, each]) => matchElement(element, name, each));
    if (isDocument(element)) return naiveMatch(element, operand);
    return (
      isArray(element) &&
      naiveMatch(new Map(element.map((each, at) => [String(at), each])), operand)
    );
  });
}

function matchElement(element: Value, operator: string, operand: Value): boolean {
  switch (operator) {
    case '$ne':
      return !compares('$eq', element, operand);
    case '$nin':
      return !isIn(element, operand);
    case '$exists':
      return operand === true;
    case '$not':
      return !(
        isDocument(operand) &&
        [...operand].every(([name, each]) => matchElement(element, name, each))
      );
    case '$size':
    case '$elemMatch':
      return matchArray(element, operator, operand);
    default:
      return matchValue(element, operator, operand);
  }
}

function matchValue(value: Found, operator: string, operand: Value): boolean {
  switch (operator) {
    case '$in':
      return isIn(value, operand);
    case '$type':
      return typeof operand === 'string' && typeMatches(typeOf(value), operand);
    case '$mod':
      return remainderIs(value, operand);
    default:
      return compares(operator, value, operand);
  }
}

function isIn(value: Found, operand: Value): boolean {
  return isArray(operand) && operand.some((each) => compares('$eq', value, each));
}

function typeMatches(type: number, name: string): boolean {
  if (name !== 'number') return type === typeNamed(name);
  return [BsonType.int, BsonType.long, BsonType.double, BsonType.decimal].includes(type as never);
}

function remainderIs(value: Found, operand: Value): boolean {
  if (!isArray(operand) || !isNumber(value)) return false;
  const hasDigits =
    value instanceof Decimal128 ? value.kind === 'finite' : Number.isFinite(toDouble(value));
  if (!hasDigits) return false;
  const [divisor = 1, remainder = 0] = operand.map((each) => (isNumber(each) ? toDouble(each) : 0));
  const exact =
    value instanceof Decimal128
      ? decimalToInteger(value)
      : typeof value === 'bigint'
        ? value
        : BigInt(Math.trunc(toDouble(value)));
  return exact % BigInt(divisor) === BigInt(remainder);
}

function compares(operator: string, value: Found, operand: Value): boolean {
  const [less, greater] = [operator.startsWith('$lt'), operator.startsWith('$gt')];
  const equal = operator === '$eq' || operator.endsWith('e');
  if (operand === MIN_KEY && value !== MIN_KEY) return greater;
  if (operand === MAX_KEY && value !== MAX_KEY) return less;
  if (isNullish(operand)) return isNullish(value) && equal;
  if (value === undefined || bracketOf(typeOf(value)) !== bracketOf(typeOf(operand))) return false;
  if (isNumber(value) && isNumber(operand) && (isNan(value) || isNan(operand))) {
    return isNan(value) && isNan(operand) && equal;
  }
  const order = compareBson(value, operand);
  return order === 0 ? equal : order < 0 ? less : greater;
}
