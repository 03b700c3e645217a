// What does not pass a validator is told why: code 121 with details, down to the rule.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Any, failureOf, serveMongo } from './support.suite.js';

const server = await serveMongo();

const SCHEMA = {
  title: 'Student',
  bsonType: 'object',
  required: ['name', 'year'],
  additionalProperties: false,
  properties: {
    _id: {},
    name: { bsonType: 'string', description: 'must be a string' },
    year: { bsonType: 'int', minimum: 2017, exclusiveMinimum: true },
    tags: { items: { enum: ['a', 'b'] } },
  },
};
const named = (year: number) => ({ _id: 1, name: 'x', year });
const ofSchema = (...schemaRulesNotSatisfied: Any[]) => ({
  operatorName: '$jsonSchema',
  title: 'Student',
  schemaRulesNotSatisfied,
});
const ofProperty = (propertyName: string, rest: Any) =>
  ofSchema({ operatorName: 'properties', propertiesNotSatisfied: [{ propertyName, ...rest }] });
const failed = { reason: 'comparison failed' };

const ROWS: readonly (readonly [validator: Any, document: Any, details: Any])[] = [
  [
    { $jsonSchema: SCHEMA },
    { _id: 1, name: 'x' },
    ofSchema({
      operatorName: 'required',
      specifiedAs: { required: ['name', 'year'] },
      missingProperties: ['year'],
    }),
  ],
  [
    { $jsonSchema: SCHEMA },
    { ...named(2018), more: 1 },
    ofSchema({
      operatorName: 'additionalProperties',
      specifiedAs: { additionalProperties: false },
      additionalProperties: ['more'],
    }),
  ],
  [
    { $jsonSchema: SCHEMA },
    named(2017),
    ofProperty('year', {
      details: [
        {
          operatorName: 'minimum',
          specifiedAs: { minimum: 2017 },
          ...failed,
          consideredValue: 2017,
        },
      ],
    }),
  ],
  [
    { $jsonSchema: SCHEMA },
    { _id: 1, name: 5, year: 2018 },
    ofProperty('name', {
      description: 'must be a string',
      details: [
        {
          operatorName: 'bsonType',
          specifiedAs: { bsonType: 'string' },
          reason: 'type did not match',
          consideredValue: 5,
          consideredType: 'int',
        },
      ],
    }),
  ],
  [
    { $jsonSchema: SCHEMA },
    { ...named(2018), tags: ['a', 'c'] },
    ofProperty('tags', {
      details: [
        {
          operatorName: 'items',
          reason: 'At least one item did not match the sub-schema',
          itemIndex: 1,
          details: [
            {
              operatorName: 'enum',
              specifiedAs: { enum: ['a', 'b'] },
              reason: 'value was not found in enum',
              consideredValue: 'c',
            },
          ],
        },
      ],
    }),
  ],
  [
    { a: { $gt: 5, $lt: 9 } },
    { _id: 1, a: 3 },
    {
      operatorName: '$and',
      clausesNotSatisfied: [
        {
          index: 0,
          details: {
            operatorName: '$gt',
            specifiedAs: { a: { $gt: 5 } },
            ...failed,
            consideredValue: 3,
          },
        },
      ],
    },
  ],
  [
    { $or: [{ b: { $exists: true } }, { c: 'x' }] },
    { _id: 1 },
    {
      operatorName: '$or',
      clausesNotSatisfied: [
        {
          index: 0,
          details: {
            operatorName: '$exists',
            specifiedAs: { b: { $exists: true } },
            reason: 'path does not exist',
          },
        },
        {
          index: 1,
          details: { operatorName: '$eq', specifiedAs: { c: 'x' }, reason: 'field was missing' },
        },
      ],
    },
  ],
  [
    { $expr: { $eq: ['$a', '$b'] } },
    { _id: 1, a: 1, b: 2 },
    {
      operatorName: '$expr',
      specifiedAs: { $expr: { $eq: ['$a', '$b'] } },
      reason: 'expression did not match',
      expressionResult: false,
    },
  ],
];

test('details name the rules that do not hold, and the values that were considered', async () => {
  for (const [validator, document, details] of ROWS) {
    const database = server.database();
    const collection = await database.createCollection<Any>('c', { validator });
    const error = await failureOf(collection.insertOne(document));
    assert.equal(error.code, 121);
    assert.deepEqual(error.errInfo, { failingDocumentId: 1, details }, JSON.stringify(validator));
  }
});
