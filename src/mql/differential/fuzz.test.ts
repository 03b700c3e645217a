// Whatever a client sends, the language answers or refuses with an error of its own: no statement
// makes it throw anything else, or go on for long.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeDocument } from '../../value/bson/read.js';
import { showValue } from '../../value/bson/show.js';
import { validateDocument } from '../../value/bson/validate.js';
import { type Document, documentOf, int32, isArray, type Value } from '../../value/bson/value.js';
import { encodeDocument } from '../../value/bson/write.js';
import { MongoError } from '../../value/mongo-errors.js';
import {
  fuzzed,
  type Random,
  randomInteger,
  randomPick,
  seededRandom,
  seedFromEnvironment,
} from '../../value/random.suite.js';
import { compileExpression, OPERATOR_NAMES } from '../expression/compile.js';
import { scopeOf } from '../expression/scope.js';
import { compileFilter } from '../filter/filter.js';
import { PLAIN_LANGUAGE } from '../language.suite.js';
import { ACCUMULATORS } from '../pipeline/accumulators.js';
import { compilePipeline, STAGE_NAMES } from '../pipeline/pipeline.js';
import type { PipelineHost } from '../pipeline/stage.js';
import { WINDOW_FUNCTIONS } from '../pipeline/window-functions.js';
import { compileProjection } from '../projection/project.js';
import { Row } from '../row.js';
import { compileSort } from '../sort.js';
import { compileUpdate } from '../update/update.js';
import { anyLeaf, randomTree, randomValue } from './random-filter.suite.js';

const seed = seedFromEnvironment();

type Some = readonly [string, ...string[]];
const EXPRESSIONS = OPERATOR_NAMES as unknown as Some;
const STAGES = STAGE_NAMES as unknown as Some;
const FUNCTIONS = [
  ...Object.keys(ACCUMULATORS),
  ...Object.keys(WINDOW_FUNCTIONS),
] as unknown as Some;
const FILTERS: Some = [
  '$eq',
  ...[
    '$ne',
    '$gt',
    '$lte',
    '$in',
    '$nin',
    '$exists',
    '$type',
    '$size',
    '$all',
    '$elemMatch',
    '$not',
  ],
  ...['$mod', '$regex', '$options', '$bitsAllSet', '$geoWithin', '$geoIntersects', '$near', '$and'],
  ...['$or', '$nor', '$expr', '$jsonSchema', '$text', '$comment', '$where'],
];
const UPDATES: Some = [
  '$set',
  ...['$unset', '$inc', '$mul', '$min', '$max', '$rename', '$setOnInsert', '$currentDate', '$push'],
  ...['$pull', '$pullAll', '$addToSet', '$pop', '$bit', '$each', '$slice', '$sort', '$position'],
];
/** Arguments and paths that some operator asks for. */
const WORDS: Some = [
  'a',
  ...[
    'b',
    'a.b',
    '$a',
    '$a.b',
    '$$ROOT',
    '$$this',
    '$$x',
    '$$NOW',
    '',
    '.',
    '$',
    'a.$',
    'a.$[]',
    '_id',
  ],
  ...[
    'x',
    'year',
    'month',
    'UTC',
    'Europe/Berlin',
    'monday',
    'int',
    'string',
    'approximate',
    '2024-01-01',
  ],
  ...['full', 'unbounded', 'current', 'locf', 'linear', 'other', 'Polygon', '%Y', '(', '^a'],
];
const NAMES: Some = [
  'input',
  ...[
    'in',
    'as',
    'cond',
    'initialValue',
    'vars',
    'if',
    'then',
    'else',
    'branches',
    'case',
    'default',
  ],
  ...['date', 'timezone', 'unit', 'amount', 'startDate', 'endDate', 'format', 'to', 'onError', 'n'],
  ...[
    'field',
    'value',
    'find',
    'replacement',
    'regex',
    'options',
    'dateString',
    'year',
    'sortBy',
    'p',
  ],
  ...[
    'path',
    'newRoot',
    'from',
    'localField',
    'foreignField',
    'pipeline',
    'let',
    'output',
    'window',
  ],
  ...[
    'groupBy',
    'boundaries',
    'buckets',
    'size',
    'into',
    'on',
    'coll',
    'near',
    'distanceField',
    'key',
  ],
  ...['startWith', 'connectFromField', 'connectToField', 'partitionBy', 'range', 'step', 'bounds'],
  ...[
    'documents',
    'method',
    'by',
    'inputs',
    'type',
    'coordinates',
    '$geometry',
    '$box',
    '_id',
    'a',
    'b',
  ],
];

/** A value with operators of one kind anywhere in it. */
function madeOf(random: Random, operators: Some, depth: number): Value {
  const kind = randomInteger(random, depth > 0 ? 9 : 4);
  const inner = () => madeOf(random, operators, depth - 1);
  switch (kind) {
    case 0:
    case 1:
      return anyLeaf(random);
    case 2:
    case 3:
      return randomPick(random, WORDS);
    case 4:
      return Array.from({ length: randomInteger(random, 4) }, inner);
    case 5:
    case 6: {
      const document: Document = new Map();
      for (let left = randomInteger(random, 5); left > 0; left--) {
        document.set(randomPick(random, NAMES), inner());
      }
      return document;
    }
    default:
      return documentOf({ [randomPick(random, operators)]: inner() });
  }
}

/** What was refused, and what was answered; anything else is a defect. */
function attempt(work: () => unknown, what: Value): void {
  try {
    work();
  } catch (error) {
    if (error instanceof MongoError) return;
    const text = error instanceof Error ? error.stack : String(error);
    assert.fail(`${showValue(what)}\n${text}`);
  }
}

const SECONDS_MAX = 2;

function repeat(rounds: number, round: (random: Random) => void): void {
  const random = seededRandom(seed);
  for (let left = fuzzed(rounds); left > 0; left--) {
    const started = performance.now();
    round(random);
    const seconds = (performance.now() - started) / 1000;
    assert.ok(seconds < SECONDS_MAX, `a round took ${seconds} s`);
  }
}

test(`random expressions (SEED=${seed})`, () => {
  repeat(10_000, (random) => {
    const name = randomPick(random, EXPRESSIONS);
    const expression = documentOf({ [name]: madeOf(random, EXPRESSIONS, 3) });
    attempt(() => {
      const compiled = compileExpression(expression, PLAIN_LANGUAGE);
      const value = compiled(scopeOf(Row.ofDocument(randomTree(random, anyLeaf))));
      if (value !== undefined) validateDocument(encodeDocument(new Map([['value', value]])));
    }, expression);
  });
});

test(`random filters, projections and sorts (SEED=${seed})`, () => {
  repeat(6000, (random) => {
    const filter = new Map([[randomPick(random, WORDS), madeOf(random, FILTERS, 3)]]);
    const projection = new Map([[randomPick(random, WORDS), madeOf(random, EXPRESSIONS, 2)]]);
    const bytes = encodeDocument(randomTree(random, anyLeaf));
    attempt(() => compileFilter(filter, PLAIN_LANGUAGE).matches(bytes), filter);
    attempt(() => {
      const { apply } = compileProjection(projection, PLAIN_LANGUAGE, 'find');
      validateDocument(apply(Row.ofBytes(bytes)).bytes);
    }, projection);
    const sort = new Map([[randomPick(random, WORDS), anyLeaf(random)]]);
    attempt(() => compileSort(sort, PLAIN_LANGUAGE).keys(bytes), sort);
  });
});

test(`random updates (SEED=${seed})`, () => {
  repeat(6000, (random) => {
    const fields = new Map([[randomPick(random, WORDS), madeOf(random, UPDATES, 2)]]);
    const update = documentOf({ [randomPick(random, UPDATES)]: fields });
    const bytes = encodeDocument(randomTree(random, anyLeaf));
    attempt(() => {
      const filter = compileFilter(new Map(), PLAIN_LANGUAGE);
      const statement = {
        update,
        filter,
        arrayFilters: [],
        multi: false,
        language: PLAIN_LANGUAGE,
      };
      const compiled = compileUpdate(statement);
      validateDocument(compiled.apply(bytes));
      validateDocument(compiled.insert(() => 'new'));
    }, update);
  });
});

const HOST: PipelineHost = {
  read: () => batches([documentOf({ _id: 1, a: 1 })]),
  replace: async (_, documents) => {
    for await (const _batch of documents);
  },
  merge: async (_, documents) => {
    for await (const _batch of documents);
  },
  statistics: () => undefined,
  geoPath: () => 'a',
};

async function* batches(documents: readonly Document[]) {
  yield documents.map((document) => encodeDocument(document));
}

test(`random pipelines (SEED=${seed})`, async () => {
  const random = seededRandom(seed);
  const operators = [...EXPRESSIONS, ...FUNCTIONS, ...STAGES] as unknown as Some;
  for (let left = fuzzed(2500); left > 0; left--) {
    const stages = Array.from({ length: 1 + randomInteger(random, 3) }, () =>
      documentOf({ [randomPick(random, STAGES)]: stageOperand(random, operators) }),
    );
    const input = Array.from({ length: 4 }, () => randomTree(random, anyLeaf));
    try {
      const pipeline = compilePipeline(stages, PLAIN_LANGUAGE, HOST);
      for await (const rows of pipeline.run(batches(input))) {
        for (const row of rows) validateDocument(row.bytes);
      }
    } catch (error) {
      if (error instanceof MongoError) continue;
      const text = error instanceof Error ? error.stack : String(error);
      assert.fail(`${showValue(stages)}\n${text}`);
    }
  }
});

/** Often of the form that some stage wants, so that more than its checks is reached. */
function stageOperand(random: Random, operators: Some): Value {
  const expression = () => madeOf(random, operators, 2);
  switch (randomInteger(random, 6)) {
    case 0:
      return documentOf({
        _id: expression(),
        x: documentOf({ [randomPick(random, FUNCTIONS)]: expression() }),
      });
    case 1:
      return documentOf({
        sortBy: documentOf({ a: int32(1) }),
        output: documentOf({ x: documentOf({ [randomPick(random, FUNCTIONS)]: expression() }) }),
      });
    case 2:
      return documentOf({ from: 'c', as: 'x', pipeline: [], let: documentOf({ x: expression() }) });
    case 3:
      return documentOf({
        groupBy: '$a',
        boundaries: expression(),
        buckets: int32(2),
        field: 'a',
        range: expression(),
      });
    default:
      return expression();
  }
}

test('what doubles or nests is stopped', () => {
  const doubling = (grown: Value, start: Value) =>
    documentOf({
      $reduce: documentOf({
        input: documentOf({ $range: [int32(0), int32(200_000)] }),
        initialValue: start,
        in: grown,
      }),
    });
  const grown: readonly (readonly [Value, Value])[] = [
    [documentOf({ $concat: ['$$value', '$$value'] }), 'x'],
    [documentOf({ $concatArrays: ['$$value', '$$value'] }), [int32(1)]],
    [['$$value', '$$value'], [int32(1)]],
    [documentOf({ a: '$$value', b: '$$value' }), null],
    [['$$value'], [int32(1)]],
  ];
  for (const [each, start] of grown) {
    const value = documentOf({ $literal: start });
    const compiled = compileExpression(doubling(each, value), PLAIN_LANGUAGE);
    assert.throws(() => compiled(scopeOf(Row.ofDocument(new Map()))), MongoError, showValue(each));
  }
  const many = documentOf({ $range: [int32(0), int32(1000)] });
  const nested = (inner: Value): Value =>
    documentOf({ $map: documentOf({ input: many, in: inner }) });
  const compiled = compileExpression(nested(nested(nested(int32(1)))), PLAIN_LANGUAGE);
  assert.throws(() => compiled(scopeOf(Row.ofDocument(new Map()))), MongoError);
});

test('random values survive a pipeline of nothing', async () => {
  const random = seededRandom(seed);
  const documents = Array.from({ length: 200 }, () => {
    const value = randomValue(random, anyLeaf, 3);
    return new Map<string, Value>([['v', isArray(value) ? value : [value]]]);
  });
  const stages = [documentOf({ $set: documentOf({ w: '$v' }) }), documentOf({ $unset: 'w' })];
  const found: Document[] = [];
  for await (const rows of compilePipeline(stages, PLAIN_LANGUAGE, HOST).run(batches(documents))) {
    for (const row of rows) found.push(decodeDocument(row.bytes));
  }
  assert.deepEqual(
    found,
    documents.map((document) => decodeDocument(encodeDocument(document))),
  );
});
