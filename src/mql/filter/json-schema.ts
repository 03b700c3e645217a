// `$jsonSchema`: draft 4 of JSON Schema as far as the server knows it, with `bsonType`. A keyword
// about another type than the value's says nothing.
import { compareBson, keyOfValue } from '../../value/bson/compare.js';
import { remainderOfDecimals } from '../../value/bson/decimal-math.js';
import { compareNumbers, toDecimal, toDouble, toSafeInteger } from '../../value/bson/numbers.js';
import { decodeDocument } from '../../value/bson/read.js';
import { BsonType, isNumberType } from '../../value/bson/types.js';
import {
  type Document,
  isArray,
  isDocument,
  isNumber,
  type NumberValue,
  typeOf,
  type Value,
} from '../../value/bson/value.js';
import { type MongoError, mongoFailure } from '../../value/mongo-errors.js';
import { textMatcher } from '../regex.js';
import { typesNamed } from './elements.js';
import type { WholeNode } from './tree.js';

export function schemaNode(operand: Value): WholeNode {
  if (!isDocument(operand)) throw mongoFailure('TypeMismatch', '$jsonSchema must be an object');
  const check = compileSchema(operand);
  return {
    kind: 'whole',
    operator: '$jsonSchema',
    operand,
    test: (bytes, document) => check(decodeDocument(bytes, document)),
  };
}

export type Check = (value: Value) => boolean;
/** Gets its own operand, and the schema it stands in. */
type Keyword = (operand: Value, schema: Document) => Check;

const ALWAYS: Check = () => true;

const KEYWORDS: Readonly<Record<string, Keyword>> = {
  title: () => ALWAYS,
  description: () => ALWAYS,
  bsonType: (operand) => typeCheck(namesOf(operand, 'bsonType').flatMap(typesNamed)),
  type: (operand) => typeCheck(namesOf(operand, 'type').flatMap(jsonTypes)),
  enum: (operand) => {
    const values = arrayOf(operand, 'enum');
    return (value) => values.some((each) => compareBson(each, value) === 0);
  },
  allOf: (operand) => {
    const checks = schemasOf(operand, 'allOf');
    return (value) => checks.every((check) => check(value));
  },
  anyOf: (operand) => {
    const checks = schemasOf(operand, 'anyOf');
    return (value) => checks.some((check) => check(value));
  },
  oneOf: (operand) => {
    const checks = schemasOf(operand, 'oneOf');
    return (value) => checks.filter((check) => check(value)).length === 1;
  },
  not: (operand) => {
    const check = compileSchema(documentOf(operand, 'not'));
    return (value) => !check(value);
  },
  // Numbers.
  minimum: (operand, schema) => {
    const least = numberOf(operand, 'minimum');
    const strict = schema.get('exclusiveMinimum') === true;
    return onNumbers((value) => compareNumbers(value, least) >= (strict ? 1 : 0));
  },
  maximum: (operand, schema) => {
    const most = numberOf(operand, 'maximum');
    const strict = schema.get('exclusiveMaximum') === true;
    return onNumbers((value) => compareNumbers(value, most) <= (strict ? -1 : 0));
  },
  exclusiveMinimum: (operand, schema) => companion(operand, schema, 'exclusiveMinimum', 'minimum'),
  exclusiveMaximum: (operand, schema) => companion(operand, schema, 'exclusiveMaximum', 'maximum'),
  multipleOf: (operand) => {
    const divisor = numberOf(operand, 'multipleOf');
    if (toDouble(divisor) <= 0) throw wrong('multipleOf', 'must have a positive value');
    const exact = toDecimal(divisor);
    return onNumbers((value) => remainderOfDecimals(toDecimal(value), exact).isZero);
  },
  // Texts.
  minLength: (operand) => {
    const least = countOf(operand, 'minLength');
    return onTexts((text) => [...text].length >= least);
  },
  maxLength: (operand) => {
    const most = countOf(operand, 'maxLength');
    return onTexts((text) => [...text].length <= most);
  },
  pattern: (operand) => {
    if (typeof operand !== 'string') throw wrong('pattern', 'must be a string');
    return onTexts(textMatcher(operand, ''));
  },
  // Arrays.
  items: (operand) => {
    if (isArray(operand)) {
      const checks = operand.map((schema) => compileSchema(documentOf(schema, 'items')));
      return onArrays((array) =>
        checks.every((check, at) => at >= array.length || check(array[at] as Value)),
      );
    }
    const check = compileSchema(documentOf(operand, 'items'));
    return onArrays((array) => array.every(check));
  },
  additionalItems: (operand, schema) => {
    const items = schema.get('items');
    if (!isArray(items)) return ALWAYS;
    const check = booleanOrSchema(operand, 'additionalItems');
    return onArrays((array) => array.slice(items.length).every(check));
  },
  minItems: (operand) => {
    const least = countOf(operand, 'minItems');
    return onArrays((array) => array.length >= least);
  },
  maxItems: (operand) => {
    const most = countOf(operand, 'maxItems');
    return onArrays((array) => array.length <= most);
  },
  uniqueItems: (operand) =>
    operand === true
      ? onArrays((array) => new Set(array.map((each) => keyOfValue(each))).size === array.length)
      : ALWAYS,
  // Documents.
  required: (operand) => {
    const names = arrayOf(operand, 'required').map(String);
    if (names.length === 0) throw wrong('required', 'cannot be an empty array');
    return onDocuments((document) => names.every((name) => document.has(name)));
  },
  properties: (operand) => {
    const checks = [...documentOf(operand, 'properties')].map(
      ([name, schema]) => [name, compileSchema(documentOf(schema, 'properties'))] as const,
    );
    return onDocuments((document) =>
      checks.every(([name, check]) => {
        const value = document.get(name);
        return value === undefined || check(value);
      }),
    );
  },
  patternProperties: (operand) => {
    const checks = patternsOf(operand);
    return onDocuments((document) =>
      [...document].every(([name, value]) =>
        checks.every(([matches, check]) => !matches(name) || check(value)),
      ),
    );
  },
  additionalProperties: (operand, schema) => {
    const check = booleanOrSchema(operand, 'additionalProperties');
    const known = new Set(documentOf(schema.get('properties') ?? new Map(), 'properties').keys());
    const patterns = patternsOf(schema.get('patternProperties') ?? new Map());
    return onDocuments((document) =>
      [...document].every(
        ([name, value]) =>
          known.has(name) || patterns.some(([matches]) => matches(name)) || check(value),
      ),
    );
  },
  minProperties: (operand) => {
    const least = countOf(operand, 'minProperties');
    return onDocuments((document) => document.size >= least);
  },
  maxProperties: (operand) => {
    const most = countOf(operand, 'maxProperties');
    return onDocuments((document) => document.size <= most);
  },
  dependencies: (operand) => {
    const checks = [...documentOf(operand, 'dependencies')].map(([name, needed]) => {
      if (isDocument(needed)) return [name, compileSchema(needed)] as const;
      const names = arrayOf(needed, 'dependencies').map(String);
      return [name, onDocuments((document) => names.every((each) => document.has(each)))] as const;
    });
    return onDocuments((document) =>
      checks.every(([name, check]) => !document.has(name) || check(document)),
    );
  },
};

/** Also of a part of a schema. */
export function compileSchema(schema: Document): Check {
  const checks = [...schema].map(([name, operand]) => {
    const keyword = Object.hasOwn(KEYWORDS, name) ? KEYWORDS[name] : undefined;
    if (!keyword) throw mongoFailure('FailedToParse', `Unknown $jsonSchema keyword: ${name}`);
    return keyword(operand, schema);
  });
  return (value) => checks.every((check) => check(value));
}

function typeCheck(types: readonly number[]): Check {
  const known = new Set(types);
  return (value) => known.has(typeOf(value));
}

const NUMBERS = Object.values(BsonType).filter(isNumberType);
const JSON_TYPES: ReadonlyMap<string, readonly number[]> = new Map<string, readonly number[]>([
  ['object', [BsonType.object]],
  ['array', [BsonType.array]],
  ['number', NUMBERS],
  ['boolean', [BsonType.bool]],
  ['string', [BsonType.string]],
  ['null', [BsonType.null]],
]);

function jsonTypes(name: Value): readonly number[] {
  const types = typeof name === 'string' ? JSON_TYPES.get(name) : undefined;
  if (types) return types;
  throw mongoFailure(
    'FailedToParse',
    `$jsonSchema type '${String(name)}' is not currently supported.`,
  );
}

function wrong(name: string, why: string): MongoError {
  return mongoFailure('FailedToParse', `$jsonSchema keyword '${name}' ${why}`);
}

function namesOf(operand: Value, name: string): readonly Value[] {
  if (typeof operand === 'string') return [operand];
  return arrayOf(operand, name);
}

function arrayOf(operand: Value, name: string): readonly Value[] {
  if (isArray(operand)) return operand;
  throw mongoFailure('TypeMismatch', `$jsonSchema keyword '${name}' must be an array`);
}

function documentOf(operand: Value, name: string): Document {
  if (isDocument(operand)) return operand;
  throw mongoFailure('TypeMismatch', `$jsonSchema keyword '${name}' must be an object`);
}

function schemasOf(operand: Value, name: string): readonly Check[] {
  const schemas = arrayOf(operand, name);
  if (schemas.length === 0) throw wrong(name, 'must be a non-empty array');
  return schemas.map((schema) => compileSchema(documentOf(schema, name)));
}

function patternsOf(operand: Value): readonly (readonly [(name: string) => boolean, Check])[] {
  return [...documentOf(operand, 'patternProperties')].map(
    ([pattern, schema]) =>
      [textMatcher(pattern, ''), compileSchema(documentOf(schema, 'patternProperties'))] as const,
  );
}

function booleanOrSchema(operand: Value, name: string): Check {
  return typeof operand === 'boolean' ? () => operand : compileSchema(documentOf(operand, name));
}

function numberOf(operand: Value, name: string): NumberValue {
  if (isNumber(operand)) return operand;
  throw mongoFailure('TypeMismatch', `$jsonSchema keyword '${name}' must be a number`);
}

function countOf(operand: Value, name: string): number {
  const count = isNumber(operand) ? toSafeInteger(operand) : undefined;
  if (count !== undefined && count >= 0) return count;
  throw wrong(name, 'must be a non-negative integer');
}

function companion(operand: Value, schema: Document, name: string, other: string): Check {
  if (typeof operand !== 'boolean')
    throw mongoFailure('TypeMismatch', `$jsonSchema keyword '${name}' must be a boolean`);
  if (!schema.has(other)) throw wrong(other, `must be a present if ${name} is present`);
  return ALWAYS;
}

function onNumbers(check: (value: NumberValue) => boolean): Check {
  return (value) => !isNumber(value) || check(value);
}

function onTexts(check: (text: string) => boolean): Check {
  return (value) => typeof value !== 'string' || check(value);
}

function onArrays(check: (array: readonly Value[]) => boolean): Check {
  return (value) => !isArray(value) || check(value);
}

function onDocuments(check: (document: Document) => boolean): Check {
  return (value) => !isDocument(value) || check(value);
}
