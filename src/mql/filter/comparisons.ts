// `$eq`, `$ne`, `$lt`, `$lte`, `$gt`, `$gte`, `$in`, `$nin`.
import { isArray, Regex, UNDEFINED, type Value } from '../../value/bson/value.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import { type ComparisonOperator, comparison, oneOf } from './comparison.js';
import { regexTest } from './evaluations.js';
import { fieldPath, type Test } from './path.js';
import { type Asked, type FieldOperators, isOperators, type Node } from './tree.js';

export const comparisonOperators: FieldOperators = {
  $eq: (asked) => compared(asked, '$eq'),
  $ne: (asked) => ({ kind: 'not', of: compared(asked, '$eq') }),
  $lt: (asked) => compared(asked, '$lt'),
  $lte: (asked) => compared(asked, '$lte'),
  $gt: (asked) => compared(asked, '$gt'),
  $gte: (asked) => compared(asked, '$gte'),
  $in: (asked) => listed(asked, '$in'),
  $nin: (asked) => ({ kind: 'not', of: listed(asked, '$nin') }),
};

function compared({ path, operand, operator, language }: Asked, as: ComparisonOperator): Node {
  if (operand === UNDEFINED) throw mongoFailure('BadValue', 'cannot compare to undefined');
  if (operand instanceof Regex && operator !== '$eq') {
    throw mongoFailure(
      'BadValue',
      operator === '$ne'
        ? "Can't have regex as arg to $ne."
        : `Can't have RegEx as arg to predicate over field '${path}'.`,
    );
  }
  const test = comparison(as, operand, language.collation);
  return { kind: 'field', path: fieldPath(path), operator: as, operand, elements: true, test };
}

function listed({ path, operand, language }: Asked, operator: string): Node {
  if (!isArray(operand)) throw mongoFailure('BadValue', `${operator} needs an array`);
  const refused = operand.find((value) => isOperators(value) || value === UNDEFINED);
  if (refused !== undefined) {
    const why = refused === UNDEFINED ? 'undefined' : '$';
    throw mongoFailure('BadValue', `cannot nest ${why} under ${operator}`);
  }
  const test = oneOfOrMatching(operand, language.collation);
  return {
    kind: 'field',
    path: fieldPath(path),
    operator: '$in',
    operand,
    elements: true,
    test,
  };
}

/** A list may hold regular expressions: these are equal to themselves, and match texts. */
function oneOfOrMatching(operands: readonly Value[], collation: Parameters<typeof oneOf>[1]): Test {
  const equal = oneOf(operands, collation);
  const patterns = operands.filter((operand) => operand instanceof Regex);
  if (patterns.length === 0) return equal;
  const tests = [equal, ...patterns.map(({ pattern, options }) => regexTest(pattern, options))];
  return (bytes, type, at) => tests.some((test) => test(bytes, type, at));
}
