// `$densify` adds rows where a line of values has gaps; `$fill` gives values to fields that have
// none.
import { compareBson } from '../../value/bson/compare.js';
import { toDouble } from '../../value/bson/numbers.js';
import {
  type Document,
  documentOf,
  int32,
  isArray,
  isDocument,
  isNullish,
  isNumber,
  type NumberValue,
  type Value,
} from '../../value/bson/value.js';
import { mongoFailure, mongoLocation } from '../../value/mongo-errors.js';
import { type Unit, unitNamed } from '../expression/calendar.js';
import { compilerFor } from '../expression/compile.js';
import { Row, valueAt } from '../row.js';
import { compileSort } from '../sort.js';
import { batched } from './flow.js';
import { fieldsAsExpression, moved, type Partition, partitionsOf } from './partitions.js';
import { needDocument, replaced } from './simple.js';
import type { Run, Stage, StageContext, Stages } from './stage.js';
import { WINDOW_FUNCTIONS } from './window-functions.js';

/** Rows that one `$densify` makes at the most. */
export const DENSIFIED_MAX = 500_000;

export const fillStages: Stages = {
  $densify: (operand, context) => densifying(needDocument(operand, '$densify'), context),
  $fill: (operand, context) => filling(needDocument(operand, '$fill'), context),
};

interface Line {
  readonly names: readonly string[];
  readonly step: NumberValue;
  readonly unit: Unit | undefined;
  readonly bounds: 'full' | 'partition' | readonly [Value, Value];
}

function densifying(spec: Document, { language, name }: StageContext): Stage {
  const line = lineOf(spec);
  const fields = spec.get('partitionByFields');
  const by = fieldsAsExpression(fields);
  const expression = by === undefined ? undefined : compilerFor(language).compile(by);
  const paths = isArray(fields) ? fields.map((field) => String(field).split('.')) : [];
  const sort = compileSort(documentOf({ [line.names.join('.')]: int32(1) }), language);
  return async function* (input, run) {
    const partitions = await partitionsOf(input, run, expression, sort, language, name);
    const full = line.bounds === 'full' ? wholeRange(partitions, line.names) : undefined;
    const made = { count: 0 };
    for (const partition of partitions) {
      yield* batched(await dense(partition, line, full, paths, made, run));
    }
  };
}

function lineOf(spec: Document): Line {
  const field = spec.get('field');
  const range = spec.get('range');
  if (typeof field !== 'string' || !isDocument(range)) {
    throw mongoLocation(40414, "$densify requires 'field' and 'range'");
  }
  const step = range.get('step');
  if (!isNumber(step) || toDouble(step) <= 0) {
    throw mongoLocation(
      5733401,
      'the step parameter in a range statement must be a strictly positive numeric value',
    );
  }
  const bounds = range.get('bounds');
  const [low, high, more] = isArray(bounds) ? bounds : [];
  const given = range.get('unit');
  const isPair = low !== undefined && high !== undefined && more === undefined;
  if (bounds !== 'full' && bounds !== 'partition' && !isPair) {
    throw mongoLocation(
      5946802,
      "a bounding array in a range statement must have exactly two elements, or be 'full' or 'partition'",
    );
  }
  return {
    names: field.split('.'),
    step,
    unit: given === undefined ? undefined : unitNamed(given),
    bounds: isPair ? [low, high] : (bounds as 'full' | 'partition'),
  };
}

/** The range of all partitions together. */
function wholeRange(
  partitions: readonly Partition[],
  names: readonly string[],
): readonly [Value, Value] | undefined {
  const values = partitions
    .flat()
    .map(({ row }) => valueAt(row.document, names, 0))
    .filter((value): value is Value => !isNullish(value))
    .sort((a, b) => compareBson(a, b));
  const [first, last] = [values[0], values.at(-1)];
  return first === undefined || last === undefined ? undefined : [first, last];
}

async function dense(
  partition: Partition,
  line: Line,
  full: readonly [Value, Value] | undefined,
  paths: readonly (readonly string[])[],
  made: { count: number },
  { pace }: Run,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const range = full ?? (isArray(line.bounds) ? line.bounds : undefined);
  let next = range?.[0];
  const gapRow = (value: Value): Row => {
    if (++made.count > DENSIFIED_MAX) {
      throw mongoLocation(
        5897900,
        `Generated ${made.count} documents in $densify, which is over the limit of ${DENSIFIED_MAX}.`,
      );
    }
    const model = partition[0]?.row.document ?? new Map();
    const keys = paths.reduce(
      (document, path) => replaced(document, path, valueAt(model, path, 0)),
      new Map<string, Value>(),
    );
    return Row.ofDocument(replaced(keys, line.names, value));
  };
  const end = range?.[1];
  const isBefore = (value: Value, limit: Value) => compareBson(value, limit) < 0;
  for (const { row } of partition) {
    const value = valueAt(row.document, line.names, 0);
    if (isNullish(value) || value === undefined) {
      rows.push(row);
      continue;
    }
    while (
      next !== undefined &&
      isBefore(next, value) &&
      (end === undefined || isBefore(next, end))
    ) {
      rows.push(gapRow(next));
      next = moved(next, line.step, line.unit);
      if (pace.isDue) await pace.rest();
    }
    rows.push(row);
    if (next === undefined) next = moved(value, line.step, line.unit);
    else if (compareBson(next, value) === 0) next = moved(next, line.step, line.unit);
  }
  // Explicit bounds end before their end; the full range ends with the last value there is.
  const reaches = (value: Value) =>
    end !== undefined && (full ? compareBson(value, end) <= 0 : isBefore(value, end));
  while (next !== undefined && range && reaches(next)) {
    rows.push(gapRow(next));
    next = moved(next, line.step, line.unit);
    if (pace.isDue) await pace.rest();
  }
  return rows;
}

function filling(spec: Document, { language, name }: StageContext): Stage {
  const compiler = compilerFor(language);
  const by = spec.get('partitionBy') ?? fieldsAsExpression(spec.get('partitionByFields'));
  const partitionBy = by === undefined ? undefined : compiler.compile(by);
  const sortBy = spec.get('sortBy');
  const sort = isDocument(sortBy) ? compileSort(sortBy, language) : undefined;
  const output = spec.get('output');
  if (!isDocument(output)) throw mongoLocation(40414, "$fill requires 'output'");
  const fills = [...output].map(([field, given]) => {
    const method = isDocument(given) ? given.get('method') : undefined;
    const value = isDocument(given) ? given.get('value') : undefined;
    if ((method === undefined) === (value === undefined)) {
      throw mongoLocation(
        6050202,
        "Each field in '$fill' output must have either 'method' or 'value'",
      );
    }
    if (value !== undefined) {
      const path = documentOf({ $ifNull: [`$${field}`, value] });
      return {
        field,
        values: WINDOW_FUNCTIONS.$shift?.(
          documentOf({ output: path, by: int32(0) }),
          compiler,
          sort,
          '$shift',
        ),
      };
    }
    const operator = method === 'linear' ? '$linearFill' : method === 'locf' ? '$locf' : undefined;
    if (operator === undefined)
      throw mongoFailure('FailedToParse', "Method must be either 'locf' or 'linear'");
    if (!sort)
      throw mongoLocation(
        605001,
        `${operator} must be specified with a top level sortBy expression`,
      );
    return { field, values: WINDOW_FUNCTIONS[operator]?.(`$${field}`, compiler, sort, operator) };
  });
  return async function* (input, run) {
    for (const partition of await partitionsOf(input, run, partitionBy, sort, language, name)) {
      for (const { field, values } of fills) {
        const filled = values?.(partition, () => [0, 0]) ?? [];
        partition.forEach((placed, at) => {
          const document = replaced(placed.row.document, field.split('.'), filled[at] ?? null);
          placed.row = Row.ofDocument(document, placed.row.meta);
        });
        if (run.pace.isOver) await run.pace.rest();
      }
      yield* batched(partition.map(({ row }) => row));
    }
  };
}
