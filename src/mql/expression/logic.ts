// Truth, comparison and choice. `$and`, `$or`, `$cond`, `$ifNull` and `$switch` evaluate no more
// than they need.
import { compareBson } from '../../value/bson/compare.js';
import { int32, isArray, isDocument, isNullish, type Value } from '../../value/bson/value.js';
import { mongoLocation } from '../../value/mongo-errors.js';
import { isTruthy } from '../filter/elements.js';
import { fixed, namedOperands, operandsOf, unary } from './arguments.js';
import type { Compiler, Expression, Operator, Operators } from './scope.js';

export const logicOperators: Operators = {
  $and: (operand, compiler) => {
    const operands = operandsOf(operand).map((value) => compiler.compile(value));
    return (scope) => operands.every((each) => isTruthy(each(scope)));
  },
  $or: (operand, compiler) => {
    const operands = operandsOf(operand).map((value) => compiler.compile(value));
    return (scope) => operands.some((each) => isTruthy(each(scope)));
  },
  $not: unary((value) => !isTruthy(value)),
  $cmp: fixed(2, ([a, b], _, { collation }) =>
    int32(Math.sign(compareBson(a, b, collation?.compare))),
  ),
  $eq: compared((order) => order === 0),
  $ne: compared((order) => order !== 0),
  $lt: compared((order) => order < 0),
  $lte: compared((order) => order <= 0),
  $gt: compared((order) => order > 0),
  $gte: compared((order) => order >= 0),
  $cond: condition,
  $ifNull: (operand, compiler) => {
    const operands = operandsOf(operand).map((value) => compiler.compile(value));
    const last = operands.pop();
    if (!last || operands.length === 0) {
      throw mongoLocation(1257300, '$ifNull needs at least two arguments, had: 1');
    }
    return (scope) => {
      for (const each of operands) {
        const value = each(scope);
        if (!isNullish(value)) return value;
      }
      return last(scope);
    };
  },
  $switch: choice,
};

function compared(accepts: (order: number) => boolean): Operator {
  return fixed(2, ([a, b], _, { collation }) => accepts(compareBson(a, b, collation?.compare)));
}

function condition(operand: Value, compiler: Compiler): Expression {
  const [test, yes, no] = partsOfCondition(operand).map((value) => compiler.compile(value));
  return (scope) => (isTruthy(test?.(scope)) ? yes?.(scope) : no?.(scope));
}

function partsOfCondition(operand: Value): readonly Value[] {
  if (isArray(operand)) {
    if (operand.length === 3) return operand;
    throw mongoLocation(
      16020,
      `Expression $cond takes exactly 3 arguments. ${operand.length} were passed in.`,
    );
  }
  if (!isDocument(operand)) {
    throw mongoLocation(16020, 'Expression $cond takes exactly 3 arguments. 1 were passed in.');
  }
  const missing = new Map([
    ['if', 17080],
    ['then', 17081],
    ['else', 17082],
  ]);
  for (const name of operand.keys()) {
    if (!missing.has(name)) throw mongoLocation(17083, `Unrecognized parameter to $cond: ${name}`);
  }
  return [...missing].map(([name, code]) => {
    const value = operand.get(name);
    if (value !== undefined) return value;
    throw mongoLocation(code, `Missing '${name}' parameter to $cond`);
  });
}

function choice(operand: Value, compiler: Compiler): Expression {
  if (!isDocument(operand)) {
    throw mongoLocation(40060, '$switch requires an object as an argument, found: a value');
  }
  const branches = operand.get('branches');
  if (!isArray(branches) || branches.length === 0) {
    throw mongoLocation(40068, '$switch requires at least one branch.');
  }
  const cases = branches.map((branch) => {
    const given = namedOperands(branch, ['case', 'then'], [], '$switch');
    return {
      test: compiler.compile(given.get('case') as Value),
      result: compiler.compile(given.get('then') as Value),
    };
  });
  const otherwise = operand.get('default');
  const last = otherwise === undefined ? undefined : compiler.compile(otherwise);
  return (scope) => {
    for (const { test, result } of cases) if (isTruthy(test(scope))) return result(scope);
    if (last) return last(scope);
    throw mongoLocation(
      40066,
      '$switch could not find a matching branch for an input, and no default was specified.',
    );
  };
}
