// `$exists` and `$type`.
import { toDouble } from '../../value/bson/numbers.js';
import { BsonType, isNumberType, MISSING, typeName, typeNamed } from '../../value/bson/types.js';
import { isArray, isNullish, isNumber, type Value } from '../../value/bson/value.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import { fieldPath } from './path.js';
import type { Asked, FieldOperators, Node } from './tree.js';

export const elementOperators: FieldOperators = {
  $exists: ({ path, operand }) => {
    const exists: Node = {
      kind: 'field',
      path: fieldPath(path),
      operator: '$exists',
      operand: true,
      elements: true,
      test: (_, type) => type !== MISSING,
    };
    return isTruthy(operand) ? exists : { kind: 'not', of: exists };
  },
  $type: (asked) => typed(asked),
};

/** As the language sees it: everything is true but false, zeros, null and what is not there. */
export function isTruthy(value: Value | undefined): boolean {
  if (typeof value === 'boolean') return value;
  if (isNullish(value)) return false;
  return !isNumber(value) || toDouble(value) !== 0;
}

function typed({ path, operand }: Asked): Node {
  const names = isArray(operand) ? operand : [operand];
  if (names.length === 0) {
    throw mongoFailure('FailedToParse', '$type must match at least one type');
  }
  const types = new Set(names.flatMap(typesNamed));
  return {
    kind: 'field',
    path: fieldPath(path),
    operator: '$type',
    operand,
    elements: true,
    test: (_, type) => types.has(type),
  };
}

const NUMBERS = Object.values(BsonType).filter(isNumberType);

/** The types that a name or a number stands for. */
export function typesNamed(name: Value): readonly number[] {
  if (typeof name === 'string') {
    if (name === 'number') return NUMBERS;
    const type = typeNamed(name);
    if (type === undefined) throw mongoFailure('BadValue', `Unknown type name alias: ${name}`);
    return [type];
  }
  if (!isNumber(name)) {
    throw mongoFailure('TypeMismatch', 'type must be represented as a number or a string');
  }
  const code = toDouble(name);
  const type = code === -1 ? BsonType.minKey : code;
  if (typeName(type) === 'missing' || code === BsonType.minKey) {
    throw mongoFailure('BadValue', `Invalid numerical type code: ${code}`);
  }
  return [type];
}
