// What operators on numbers share: the checks of their arguments and the errors about them.
import { Decimal128 } from '../../value/bson/decimal.js';
import { toDouble, toSafeInteger } from '../../value/bson/numbers.js';
import { typeName } from '../../value/bson/types.js';
import { isNullish, isNumber, type NumberValue, typeOf } from '../../value/bson/value.js';
import { mongoLocation } from '../../value/mongo-errors.js';
import { type Argument, unary } from './arguments.js';
import type { Operator } from './scope.js';

export function nameOfType(value: Argument): string {
  return typeName(typeOf(value));
}

/** Null for what is null or missing, an error for what is no number. */
export function numeric(
  evaluate: (value: NumberValue, name: string) => NumberValue | null,
): Operator {
  return unary((value, name) => {
    if (isNullish(value)) return null;
    if (isNumber(value)) return evaluate(value, name);
    throw mongoLocation(28765, `${name} only supports numeric types, not ${nameOfType(value)}`);
  });
}

/** By doubles, and for decimals by a function of their own. */
export function real(
  ofDouble: (value: number, name: string) => number,
  ofDecimal: (value: Decimal128, name: string) => Decimal128,
): Operator {
  return numeric((value, name) =>
    value instanceof Decimal128 ? ofDecimal(value, name) : ofDouble(toDouble(value), name),
  );
}

/** An argument that has to be a whole number, as a number. */
export function integerArgument(value: Argument, code: number, text: string): number {
  const integer = isNumber(value) ? toSafeInteger(value) : undefined;
  if (integer === undefined) throw mongoLocation(code, text);
  return integer;
}
