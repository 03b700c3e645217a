// The shapes of operators: how many arguments they take, or which by name.
import { isArray, isDocument, type Value } from '../../value/bson/value.js';
import { mongoFailure, mongoLocation } from '../../value/mongo-errors.js';
import type { Language } from '../language.js';
import { type Compiler, constant, constantOf, type Expression, type Operator } from './scope.js';

export type Argument = Value | undefined;
export type Evaluate = (values: readonly Argument[], name: string, language: Language) => Argument;

/** Exactly so many. */
export function fixed(count: number, evaluate: Evaluate): Operator {
  return (operand, compiler, name) => {
    const operands = operandsOf(operand);
    if (operands.length !== count) {
      throw mongoLocation(
        16020,
        `Expression ${name} takes exactly ${count} arguments. ${operands.length} were passed in.`,
      );
    }
    return called(operands, compiler, name, evaluate);
  };
}

export function unary(
  evaluate: (value: Argument, name: string, language: Language) => Argument,
): Operator {
  return fixed(1, ([value], name, language) => evaluate(value, name, language));
}

export function between(min: number, max: number, evaluate: Evaluate): Operator {
  return (operand, compiler, name) => {
    const operands = operandsOf(operand);
    if (operands.length < min || operands.length > max) {
      throw mongoLocation(
        28667,
        `Expression ${name} takes at least ${min} arguments, and at most ${max}, but ${operands.length} were passed in.`,
      );
    }
    return called(operands, compiler, name, evaluate);
  };
}

export function variadic(evaluate: Evaluate): Operator {
  return (operand, compiler, name) => called(operandsOf(operand), compiler, name, evaluate);
}

/** Any number, and a single argument that is an array gives its elements. */
export function spread(evaluate: Evaluate): Operator {
  return (operand, compiler, name) => {
    const isSingle = !isArray(operand) || operand.length === 1;
    return called(operandsOf(operand), compiler, name, (values, ...rest) => {
      const [only] = values;
      return evaluate(isSingle && isArray(only) ? only : values, ...rest);
    });
  };
}

/** Arguments by name; those in brackets of the documentation are optional. */
export function named<Required extends string, Optional extends string>(
  required: readonly Required[],
  optional: readonly Optional[],
  evaluate: (
    values: Readonly<Record<Required | Optional, Argument>>,
    name: string,
    language: Language,
  ) => Argument,
): Operator {
  const all: readonly string[] = [...required, ...optional];
  return (operand, compiler, name) => {
    const given = namedOperands(operand, required, optional, name);
    const operands = all.map((key) => given.get(key));
    const compiled = operands.map((value) =>
      value === undefined ? constant(undefined) : compiler.compile(value),
    );
    return folded(compiled, (values) => {
      const record: Record<string, Argument> = {};
      all.forEach((key, at) => {
        record[key] = values[at];
      });
      return evaluate(record as never, name, compiler.language);
    });
  };
}

/** The document of arguments by name, checked. */
export function namedOperands(
  operand: Value,
  required: readonly string[],
  optional: readonly string[],
  name: string,
): ReadonlyMap<string, Value> {
  if (!isDocument(operand)) {
    throw mongoFailure('FailedToParse', `${name} only supports an object as its argument`);
  }
  for (const key of operand.keys()) {
    if (required.includes(key) || optional.includes(key)) continue;
    throw mongoFailure('FailedToParse', `Unrecognized argument to ${name}: ${key}`);
  }
  for (const key of required) {
    if (operand.has(key)) continue;
    throw mongoFailure('FailedToParse', `Missing '${key}' parameter to ${name}`);
  }
  return operand;
}

export function operandsOf(operand: Value): readonly Value[] {
  return isArray(operand) ? operand : [operand];
}

function called(
  operands: readonly Value[],
  compiler: Compiler,
  name: string,
  evaluate: Evaluate,
): Expression {
  const compiled = operands.map((operand) => compiler.compile(operand));
  return folded(compiled, (values) => evaluate(values, name, compiler.language));
}

/** What depends on nothing is evaluated once; an error stays for when it is asked for. */
export function folded(
  operands: readonly Expression[],
  evaluate: (values: readonly Argument[]) => Argument,
): Expression {
  const known = operands.map(constantOf);
  if (known.every((entry) => entry !== undefined)) {
    try {
      return constant(evaluate(known.map((entry) => entry?.value)));
    } catch {
      // Thrown again when the expression is reached, if it ever is.
    }
  }
  const [first, second] = operands;
  if (operands.length === 1 && first) return (scope) => evaluate([first(scope)]);
  if (operands.length === 2 && first && second) {
    return (scope) => evaluate([first(scope), second(scope)]);
  }
  return (scope) => evaluate(operands.map((operand) => operand(scope)));
}
