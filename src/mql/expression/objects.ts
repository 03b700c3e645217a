// Operators on documents, and what belongs to no other family.
import {
  Binary,
  int32,
  isDocument,
  isNullish,
  Timestamp,
  type Value,
} from '../../value/bson/value.js';
import { encodeDocument } from '../../value/bson/write.js';
import { mongoFailure, mongoLocation } from '../../value/mongo-errors.js';
import { namedOperands, spread, unary } from './arguments.js';
import { nameOfType } from './numbers.js';
import { type Compiler, constant, constantOf, type Expression, type Operators } from './scope.js';

export const objectOperators: Operators = {
  $literal: (operand) => constant(operand),
  // `$const` is how the server itself writes it.
  $const: (operand) => constant(operand),
  $mergeObjects: spread((values) => {
    const merged = new Map<string, Value>();
    for (const value of values) {
      if (isNullish(value)) continue;
      if (!isDocument(value)) {
        throw mongoLocation(
          40400,
          `$mergeObjects requires object inputs, but input is of type ${nameOfType(value)}`,
        );
      }
      for (const [name, member] of value) merged.set(name, member);
    }
    return merged;
  }),
  $getField: (operand, compiler) => {
    const isNamed = isDocument(operand) && operand.has('field');
    const field = compiler.compile(isNamed ? (operand.get('field') as Value) : operand);
    const name = nameConstant(field, '$getField', 5654602);
    const input = isNamed ? operand.get('input') : undefined;
    const from = compiler.compile(input ?? '$$CURRENT');
    return (scope) => {
      const document = from(scope);
      if (isDocument(document)) return document.get(name);
      return isNullish(document) && document !== undefined ? null : undefined;
    };
  },
  $setField: (operand, compiler) => {
    const given = namedOperands(operand, ['field', 'input', 'value'], [], '$setField');
    return fieldSetter(given, compiler.compile(given.get('value') as Value), compiler);
  },
  $unsetField: (operand, compiler) => {
    const given = namedOperands(operand, ['field', 'input'], [], '$unsetField');
    return fieldSetter(given, constant(undefined), compiler);
  },
  $rand: (_, compiler) => () => compiler.language.random(),
  $sampleRate: (operand, compiler) => {
    const rate = compiler.compile(operand);
    return (scope) => compiler.language.random() < Number(rate(scope) ?? 0);
  },
  $meta: (operand) => {
    if (operand === 'textScore') return ({ row }) => row.meta.textScore;
    if (operand === 'geoNearDistance') return ({ row }) => row.meta.geoDistance;
    if (operand === 'geoNearPoint') return ({ row }) => row.meta.geoPoint;
    if (operand === 'sortKey') return ({ row }) => row.meta.sortKey;
    if (operand === 'recordId') return ({ row }) => row.meta.recordId;
    if (operand === 'indexKey') return constant(undefined);
    throw mongoLocation(17308, `Unsupported argument to $meta: ${String(operand)}`);
  },
  $bsonSize: unary((value) => {
    if (isNullish(value)) return null;
    if (isDocument(value)) return int32(encodeDocument(value).length);
    throw mongoLocation(31393, `$bsonSize requires a document input, found: ${nameOfType(value)}`);
  }),
  $binarySize: unary((value) => {
    if (isNullish(value)) return null;
    if (typeof value === 'string') return int32(Buffer.byteLength(value));
    if (value instanceof Binary) return int32(value.bytes.length);
    throw mongoLocation(
      51276,
      `$binarySize requires a string or BinData argument, found: ${nameOfType(value)}`,
    );
  }),
  $tsSecond: unary((value, name) => ofTimestamp(value, name, ({ seconds }) => BigInt(seconds))),
  $tsIncrement: unary((value, name) =>
    ofTimestamp(value, name, ({ increment }) => BigInt(increment)),
  ),
  $function: noJavaScript,
  $accumulator: noJavaScript,
};

function noJavaScript(_: Value, __: Compiler, name: string): never {
  throw mongoFailure(
    'BadValue',
    `${name} is not supported: there is no server-side JavaScript here`,
  );
}

function nameConstant(field: Expression, operator: string, code: number): string {
  const name = constantOf(field)?.value;
  if (typeof name === 'string' && !name.includes('\0')) return name;
  throw mongoLocation(code, `${operator} requires 'field' to evaluate to a constant String`);
}

function fieldSetter(
  given: ReadonlyMap<string, Value>,
  value: Expression,
  compiler: Compiler,
): Expression {
  const name = nameConstant(compiler.compile(given.get('field') as Value), '$setField', 4161107);
  const input = compiler.compile(given.get('input') as Value);
  return (scope) => {
    const document = input(scope);
    if (isNullish(document)) return null;
    if (!isDocument(document)) {
      throw mongoLocation(
        4161105,
        `$setField requires 'input' to evaluate to type Object, found ${nameOfType(document)}`,
      );
    }
    const changed = new Map(document);
    const member = value(scope);
    if (member === undefined) changed.delete(name);
    else changed.set(name, member);
    return changed;
  };
}

function ofTimestamp(
  value: Value | undefined,
  name: string,
  read: (timestamp: Timestamp) => bigint,
): Value | null {
  if (isNullish(value)) return null;
  if (value instanceof Timestamp) return read(value);
  throw mongoLocation(5687301, `${name} requires a timestamp, found: ${nameOfType(value)}`);
}

/** A document made of expressions, as in `{ a: "$b", c: 1 }`. */
export function objectExpression(fields: readonly (readonly [string, Expression])[]): Expression {
  if (fields.every(([, expression]) => constantOf(expression))) {
    const values = fields.map(([name, each]) => [name, constantOf(each)?.value] as const);
    const known = values.filter((entry): entry is [string, Value] => entry[1] !== undefined);
    return constant(new Map(known));
  }
  return (scope) => {
    const document = new Map<string, Value>();
    for (const [name, expression] of fields) {
      const value = expression(scope);
      if (value !== undefined) document.set(name, value);
    }
    return document;
  };
}
