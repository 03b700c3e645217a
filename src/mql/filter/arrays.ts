// `$all`, `$elemMatch`, `$size`.
import { toDouble, toSafeInteger } from '../../value/bson/numbers.js';
import { countElements } from '../../value/bson/read.js';
import { showValue } from '../../value/bson/show.js';
import { BsonType } from '../../value/bson/types.js';
import { type Document, isArray, isDocument, isNumber, Regex } from '../../value/bson/value.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import { compileNode, compileOnValue } from './compile.js';
import { regexField } from './evaluations.js';
import { fieldPath, someOfArray, type Test } from './path.js';
import {
  type Asked,
  allOf,
  type FieldOperators,
  isOperators,
  isValueOperators,
  NOTHING,
  type Node,
} from './tree.js';

export const arrayOperators: FieldOperators = {
  $size: ({ path, operand }) => {
    const size = isNumber(operand) ? toSafeInteger(operand) : undefined;
    if (size === undefined || size < 0) {
      const wanted = isNumber(operand)
        ? toDouble(operand) < 0
          ? 'a non-negative number'
          : 'an integer'
        : 'a number';
      throw mongoFailure(
        'BadValue',
        `Failed to parse $size. Expected ${wanted} in: $size: ${showValue(operand)}`,
      );
    }
    return {
      kind: 'field',
      path: fieldPath(path),
      operator: '$size',
      operand,
      elements: false,
      test: (bytes, type, at) => type === BsonType.array && countElements(bytes, at) === size,
    };
  },
  $elemMatch: (asked) => {
    if (!isDocument(asked.operand)) throw mongoFailure('BadValue', '$elemMatch needs an Object');
    return matchingElement(asked, asked.operand);
  },
  $all: all,
};

function matchingElement({ path, operand, parser }: Asked, condition: Document): Node {
  const onValues = isValueOperators(condition);
  const inner = onValues ? parser.operators('', condition) : parser.filter(condition);
  return {
    kind: 'field',
    path: fieldPath(path),
    operator: onValues ? '$elemMatch(value)' : '$elemMatch',
    operand,
    elements: false,
    test: onValues ? someValue(inner) : someDocument(inner),
    inner,
  };
}

function someValue(inner: Node): Test {
  const passes = compileOnValue(inner);
  return (bytes, type, at) => type === BsonType.array && someOfArray(bytes, at, passes);
}

function someDocument(inner: Node): Test {
  const passes = compileNode(inner);
  return (bytes, type, at) =>
    type === BsonType.array &&
    someOfArray(
      bytes,
      at,
      (_, elementType, element) =>
        (elementType === BsonType.object || elementType === BsonType.array) &&
        passes(bytes, element),
    );
}

function all(asked: Asked): Node {
  const { path, operand, parser } = asked;
  if (!isArray(operand)) throw mongoFailure('BadValue', '$all needs an array');
  if (operand.length === 0) return NOTHING;
  const [first] = operand;
  const withElements = isDocument(first) && first.keys().next().value === '$elemMatch';
  return allOf(
    operand.map((value) => {
      if (value instanceof Regex) return regexField(path, value);
      const isElement = isDocument(value) && value.keys().next().value === '$elemMatch';
      if (isElement !== withElements) throw mongoFailure('BadValue', 'no $ expressions in $all');
      if (isElement) return parser.operators(path, value);
      if (isOperators(value)) throw mongoFailure('BadValue', 'no $ expressions in $all');
      return parser.operators(path, new Map([['$eq', value]]));
    }),
  );
}
