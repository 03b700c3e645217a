// Reading the fields of commands. Numbers may come as any of the four types, truth as a number.
import { BsonType, typeName } from '../value/bson/types.js';
import {
  type Document,
  isArray,
  isDocument,
  isNumber,
  typeOf,
  type Value,
} from '../value/bson/value.js';
import { type MongoError, mongoFailure, mongoLocation } from '../value/mongo-errors.js';
import type { Call } from './call.js';

/** Allowed on every command. */
const GENERIC: ReadonlySet<string> = new Set([
  ...['$db', 'lsid', 'txnNumber', 'autocommit', 'startTransaction', 'stmtId', 'stmtIds'],
  ...['$clusterTime', '$readPreference', 'readConcern', 'writeConcern', 'maxTimeMS', 'comment'],
  ...['apiVersion', 'apiStrict', 'apiDeprecationErrors', '$configTime', '$audit', '$client'],
  ...['mayBypassWriteBlocking', 'rawData', '$queryOptions', 'coordinator', 'recoveryToken'],
  '$oplogQueryData',
]);

/** Never accept a setting and ignore it: a field that no code reads is refused by name. */
export function checkFields(call: Call, known: readonly string[] | ReadonlySet<string>): void {
  for (const name of call.command.keys()) {
    if (name === call.name || GENERIC.has(name)) continue;
    if (Array.isArray(known) ? known.includes(name) : (known as ReadonlySet<string>).has(name)) {
      continue;
    }
    throw unknownField(`${call.name}.${name}`);
  }
}

export function unknownField(path: string): MongoError {
  return mongoLocation(40415, `BSON field '${path}' is an unknown field.`);
}

export function missingField(path: string): MongoError {
  return mongoLocation(40414, `BSON field '${path}' is missing but a required field`);
}

/** The value of the command's own name, which is mostly a collection. */
export function collectionOf(call: Call): string {
  const value = call.command.get(call.name);
  if (typeof value === 'string') return value;
  throw mongoFailure(
    'InvalidNamespace',
    `collection name has invalid type ${typeName(typeOf(value))}`,
  );
}

export function textOf(call: Call, name: string): string | undefined {
  return asText(call.command.get(name), `${call.name}.${name}`);
}

export function documentOfField(call: Call, name: string): Document | undefined {
  return asDocument(call.command.get(name), `${call.name}.${name}`);
}

export function arrayOf(call: Call, name: string): readonly Value[] | undefined {
  return asArray(call.command.get(name), `${call.name}.${name}`);
}

export function truthOf(call: Call, name: string, absent = false): boolean {
  return asTruth(call.command.get(name), `${call.name}.${name}`) ?? absent;
}

/** A whole number that is not negative. */
export function countOf(call: Call, name: string): number | undefined {
  const count = asInteger(call.command.get(name), `${call.name}.${name}`);
  if (count !== undefined && count < 0) {
    throw mongoLocation(51024, `BSON field '${name}' value must be >= 0, actual value '${count}'`);
  }
  return count;
}

export function integerOf(call: Call, name: string): number | undefined {
  return asInteger(call.command.get(name), `${call.name}.${name}`);
}

export function asText(value: Value | undefined, path: string): string | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value === 'string') return value;
  throw wrongType(path, value, "expected type 'string'");
}

export function asDocument(value: Value | undefined, path: string): Document | undefined {
  if (isAbsent(value)) return undefined;
  if (isDocument(value)) return value;
  throw wrongType(path, value, "expected type 'object'");
}

export function asArray(value: Value | undefined, path: string): readonly Value[] | undefined {
  if (isAbsent(value)) return undefined;
  if (isArray(value)) return value;
  throw wrongType(path, value, "expected type 'array'");
}

export function asTruth(value: Value | undefined, path: string): boolean | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value === 'boolean') return value;
  if (isNumber(value)) return asNumber(value) !== 0;
  throw wrongType(path, value, "expected types '[bool, long, int, decimal, double]'");
}

export function asInteger(value: Value | undefined, path: string): number | undefined {
  if (isAbsent(value)) return undefined;
  if (isNumber(value)) return Math.trunc(asNumber(value));
  throw wrongType(path, value, "expected types '[long, int, decimal, double]'");
}

/** Any of the four types of numbers as a double. */
export function asNumber(value: Value): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeOf(value) === BsonType.int) return (value as { readonly value: number }).value;
  return Number(String(value));
}

function isAbsent(value: Value | undefined): value is null | undefined {
  return value === undefined || value === null;
}

function wrongType(path: string, value: Value, expected: string): MongoError {
  const type = typeName(typeOf(value));
  return mongoFailure(
    'TypeMismatch',
    `BSON field '${path}' is the wrong type '${type}', ${expected}`,
  );
}
