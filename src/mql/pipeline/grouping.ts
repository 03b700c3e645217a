// `$group` and the stages that are made of it: `$bucket`, `$bucketAuto`, `$sortByCount`, `$count`.
import { compareBson, keyOfValue } from '../../value/bson/compare.js';
import { toSafeInteger } from '../../value/bson/numbers.js';
import { showValue } from '../../value/bson/show.js';
import { bracketOf } from '../../value/bson/types.js';
import {
  type Document,
  documentOf,
  int32,
  isArray,
  isDocument,
  isNumber,
  typeOf,
  type Value,
} from '../../value/bson/value.js';
import { mongoLocation } from '../../value/mongo-errors.js';
import { compilerFor } from '../expression/compile.js';
import { constantOf, type Expression, scopeOf } from '../expression/scope.js';
import type { Language } from '../language.js';
import { Row, sizeOf } from '../row.js';
import { compileSort } from '../sort.js';
import { type Accumulator, compileAccumulator, type MakeAccumulator } from './accumulators.js';
import { batched, gather, sortWithPauses } from './flow.js';
import { type Granularity, granularityOf, granularNumber } from './granularity.js';
import { needDocument } from './simple.js';
import { sorting } from './sorting.js';
import type { Rows, Run, Stage, Stages } from './stage.js';

export const groupStages: Stages = {
  $group: (operand, { language }) => {
    if (!isDocument(operand))
      throw mongoLocation(15947, "a group's fields must be specified in an object");
    const id = operand.get('_id');
    if (id === undefined) throw mongoLocation(15955, 'a group specification must include an _id');
    const outputs = outputsOf(operand, language, '_id');
    return grouping(compilerFor(language).compile(id), outputs, language);
  },
  $count: (operand) => {
    if (typeof operand !== 'string' || operand === '') {
      throw mongoLocation(40156, 'the count field must be a non-empty string');
    }
    if (operand.startsWith('$'))
      throw mongoLocation(40158, 'the count field cannot be a $-prefixed path');
    if (operand.includes('.')) throw mongoLocation(40160, "the count field cannot contain '.'");
    return counting(operand);
  },
  $sortByCount: (operand, { language }) => {
    const isExpression =
      isDocument(operand) && operand.keys().next().value?.startsWith('$') === true;
    if (!isExpression && !(typeof operand === 'string' && operand.startsWith('$'))) {
      throw mongoLocation(
        40147,
        'the sortByCount field must be defined as a $-prefixed path or an expression inside an object',
      );
    }
    const compiler = compilerFor(language);
    const count = compileAccumulator(documentOf({ $sum: int32(1) }), compiler, 'count');
    const group = grouping(compiler.compile(operand), [['count', count]], language);
    const sort = sorting(compileSort(documentOf({ count: int32(-1) }), language), undefined);
    return (input, run) => sort(group(input, run), run);
  },
  $bucket: (operand, { language }) => bucketing(needDocument(operand, '$bucket'), language),
  $bucketAuto: (operand, { language }) =>
    autoBucketing(needDocument(operand, '$bucketAuto'), language),
};

type Outputs = readonly (readonly [field: string, make: MakeAccumulator])[];

function outputsOf(spec: Document, language: Language, except: string): Outputs {
  const compiler = compilerFor(language);
  return [...spec].flatMap(([field, accumulator]) => {
    if (field === except) return [];
    if (field.includes('.')) {
      throw mongoLocation(40235, `The field name '${field}' cannot contain '.'`);
    }
    if (field.startsWith('$')) {
      throw mongoLocation(40236, `The field name '${field}' cannot be an operator name`);
    }
    return [[field, compileAccumulator(accumulator, compiler, field)] as const];
  });
}

interface Group {
  readonly id: Value;
  readonly accumulators: readonly Accumulator[];
}

const GROUP_BYTES = 128;

function grouping(id: Expression, outputs: Outputs, language: Language): Stage {
  return async function* (input, run) {
    const groups = await groupsOf(input, run, id, outputs, language);
    yield* batched([...groups.values()].map((group) => finished(group, outputs)));
  };
}

async function groupsOf(
  input: Rows,
  { memory, pace }: Run,
  id: Expression,
  outputs: Outputs,
  { collation }: Language,
): Promise<ReadonlyMap<string, Group>> {
  const groups = new Map<string, Group>();
  for await (const batch of input) {
    for (const row of batch) {
      const scope = scopeOf(row);
      const value = id(scope) ?? null;
      const key = keyOfValue(value, collation?.fold);
      let group = groups.get(key);
      if (!group) {
        group = { id: value, accumulators: outputs.map(([, make]) => make()) };
        groups.set(key, group);
        memory.hold(sizeOf(value) + key.length + GROUP_BYTES * (1 + outputs.length), '$group');
      }
      for (const accumulator of group.accumulators) {
        const grown = accumulator.add(scope);
        if (grown > 0) memory.hold(grown, '$group');
      }
      if (pace.isDue) await pace.rest();
    }
  }
  return groups;
}

function finished({ id, accumulators }: Group, outputs: Outputs): Row {
  const document: Document = new Map([['_id', id]]);
  outputs.forEach(([field], at) => {
    document.set(field, accumulators[at]?.result() ?? null);
  });
  return Row.ofDocument(document);
}

/** No rows make no count, not a count of 0. */
function counting(field: string): Stage {
  return async function* (input) {
    let count = 0;
    for await (const batch of input) count += batch.length;
    if (count > 0) yield [Row.ofDocument(documentOf({ [field]: int32(count) }))];
  };
}

function bucketOutputs(spec: Document, language: Language): Outputs {
  const output = spec.get('output') ?? documentOf({ count: documentOf({ $sum: int32(1) }) });
  if (!isDocument(output)) throw mongoLocation(40196, "The 'output' field must be an object");
  return outputsOf(output, language, '');
}

function bucketing(spec: Document, language: Language): Stage {
  const compiler = compilerFor(language);
  const groupBy = compiler.compile(spec.get('groupBy') ?? null);
  const given = constantOf(compiler.compile(spec.get('boundaries') ?? null))?.value;
  if (!isArray(given) || given.length < 2) {
    throw mongoLocation(
      40192,
      "The $bucket 'boundaries' field must be an array of at least 2 constant values",
    );
  }
  const boundaries = given;
  boundaries.slice(1).forEach((value, at) => {
    const before = boundaries[at] as Value;
    if (bracketOf(typeOf(before)) !== bracketOf(typeOf(value))) {
      throw mongoLocation(
        40193,
        "All values in the 'boundaries' option to $bucket must have the same type",
      );
    }
    if (compareBson(before, value) >= 0) {
      throw mongoLocation(40194, "The 'boundaries' option to $bucket must be sorted");
    }
  });
  const hasDefault = spec.has('default');
  const otherwise = constantOf(compiler.compile(spec.get('default') ?? null))?.value ?? null;
  const id: Expression = (scope) => {
    const value = groupBy(scope);
    const at = boundaries.findLastIndex((bound) => compareBson(bound, value) <= 0);
    if (at >= 0 && at < boundaries.length - 1) return boundaries[at];
    if (hasDefault) return otherwise;
    throw mongoLocation(
      40066,
      `$switch could not find a matching branch for an input, and no default was specified: ${showValue(value)}`,
    );
  };
  const group = grouping(id, bucketOutputs(spec, language), language);
  const sort = sorting(compileSort(documentOf({ _id: int32(1) }), language), undefined);
  return (input, run) => sort(group(input, run), run);
}

function autoBucketing(spec: Document, language: Language): Stage {
  const groupBy = compilerFor(language).compile(spec.get('groupBy') ?? null);
  const asked = spec.get('buckets');
  const buckets = isNumber(asked) ? toSafeInteger(asked) : undefined;
  if (buckets === undefined || buckets < 1) {
    throw mongoLocation(40243, "The $bucketAuto 'buckets' field must be greater than 0");
  }
  const named = spec.get('granularity');
  const granularity = named === undefined ? undefined : granularityOf(named);
  const outputs = bucketOutputs(spec, language);
  return async function* (input, run) {
    const rows = await gather(input, run, '$bucketAuto');
    const keyed = rows.map((row) => ({ row, value: groupBy(scopeOf(row)) ?? null }));
    const compareText = language.collation?.compare;
    const sorted = await sortWithPauses(
      keyed,
      (a, b) => compareBson(a.value, b.value, compareText),
      run,
    );
    yield* batched(
      granularity
        ? granularBuckets(sorted, buckets, outputs, granularity)
        : filledBuckets(sorted, buckets, outputs),
    );
  };
}

interface Keyed {
  readonly row: Row;
  readonly value: Value;
}

/** Bounded by numbers of a series; what lies below a bound is in the bucket that ends there. */
function granularBuckets(
  sorted: readonly Keyed[],
  buckets: number,
  outputs: Outputs,
  { roundUp, roundDown }: Granularity,
): Row[] {
  const numbers = sorted.map(({ value }) => granularNumber(value));
  const size = Math.max(1, Math.round(sorted.length / buckets));
  const made: Row[] = [];
  let min = numbers[0] === undefined ? 0 : roundDown(numbers[0]);
  for (let from = 0; from < sorted.length; ) {
    let to = made.length === buckets - 1 ? sorted.length : Math.min(sorted.length, from + size);
    let max = roundUp(numbers[to - 1] as number);
    const isInside = (number: number) => (max === 0 ? number === 0 : number < max);
    while (to < sorted.length && isInside(numbers[to] as number)) to++;
    // A bucket of zeros ends where the next one begins.
    if (max === 0 && to < sorted.length) max = roundDown(numbers[to] as number);
    made.push(bucketOf(sorted.slice(from, to), { min, max }, outputs));
    [min, from] = [max, to];
  }
  return made;
}

function bucketOf(
  rows: readonly Keyed[],
  bounds: { readonly min: Value; readonly max: Value },
  outputs: Outputs,
): Row {
  const accumulators = outputs.map(([, make]) => make());
  for (const { row } of rows) {
    for (const accumulator of accumulators) accumulator.add(scopeOf(row));
  }
  return finished({ id: documentOf(bounds), accumulators }, outputs);
}

/** Of about the same size; equal values are in one bucket. */
function filledBuckets(sorted: readonly Keyed[], buckets: number, outputs: Outputs): Row[] {
  const made: Row[] = [];
  const size = Math.max(1, Math.round(sorted.length / buckets));
  for (let from = 0; from < sorted.length; ) {
    let to = made.length === buckets - 1 ? sorted.length : Math.min(sorted.length, from + size);
    while (to < sorted.length && compareBson(sorted[to - 1]?.value, sorted[to]?.value) === 0) to++;
    const min = sorted[from]?.value ?? null;
    const max = (to < sorted.length ? sorted[to] : sorted.at(-1))?.value ?? null;
    made.push(bucketOf(sorted.slice(from, to), { min, max }, outputs));
    from = to;
  }
  return made;
}
