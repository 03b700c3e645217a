// `$setWindowFields`: values computed over the rows around each row.
import { toSafeInteger } from '../../value/bson/numbers.js';
import {
  type Document,
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
import { type Compiler, scopeOf } from '../expression/scope.js';
import { Row } from '../row.js';
import { compileSort, type Sort } from '../sort.js';
import { ACCUMULATORS, type MakeAccumulator } from './accumulators.js';
import { batched } from './flow.js';
import { compareOnLine, moved, type Partition, partitionsOf } from './partitions.js';
import { needDocument, replaced } from './simple.js';
import type { Run, Stages } from './stage.js';
import { type Bounds, WINDOW_FUNCTIONS, type WindowFunction } from './window-functions.js';

export const windowStages: Stages = {
  $setWindowFields: (operand, { language, name }) => {
    const spec = needDocument(operand, name);
    const unknown = [...spec.keys()].find((key) => !FIELDS.has(key));
    if (unknown !== undefined) {
      throw mongoLocation(40415, `BSON field '${name}.${unknown}' is an unknown field.`);
    }
    const compiler = compilerFor(language);
    const by = spec.get('partitionBy');
    const sortBy = spec.get('sortBy');
    const sort = isDocument(sortBy) ? compileSort(sortBy, language) : undefined;
    const output = spec.get('output');
    if (!isDocument(output))
      throw mongoLocation(40414, `BSON field '${name}.output' is missing but a required field`);
    const outputs = [...output].map(([field, given]) => outputOf(field, given, compiler, sort));
    const partitionBy = by === undefined ? undefined : compiler.compile(by);
    return async function* (input, run) {
      for (const partition of await partitionsOf(input, run, partitionBy, sort, language, name)) {
        for (const compute of outputs) await compute(partition, run);
        yield* batched(partition.map(({ row }) => row));
      }
    };
  },
};

const FIELDS = new Set(['partitionBy', 'sortBy', 'output']);

type Compute = (partition: Partition, run: Run) => Promise<void>;

function outputOf(
  field: string,
  given: Value,
  compiler: Compiler,
  sort: Sort | undefined,
): Compute {
  const spec = isDocument(given) ? given : new Map<string, Value>();
  const [name] = [...spec.keys()].filter((key) => key !== 'window');
  if (name === undefined || spec.size - (spec.has('window') ? 1 : 0) !== 1) {
    throw mongoFailure(
      'FailedToParse',
      'Each field in $setWindowFields output must be an object with a single window function',
    );
  }
  const bounds = boundsOf(spec.get('window'), sort);
  const operand = spec.get(name) as Value;
  const path = field.split('.');
  const values = windowValues(name, operand, compiler, sort, bounds);
  return async (partition, run) => {
    const results = await values(partition, run);
    partition.forEach((placed, at) => {
      const document = replaced(placed.row.document, path, results[at] ?? null);
      placed.row = Row.ofDocument(document, placed.row.meta);
    });
  };
}

type Values = (partition: Partition, run: Run) => Promise<readonly (Value | undefined)[]>;

function windowValues(
  name: string,
  operand: Value,
  compiler: Compiler,
  sort: Sort | undefined,
  { bounds, fromStart }: WindowBounds,
): Values {
  const special = Object.hasOwn(WINDOW_FUNCTIONS, name) ? WINDOW_FUNCTIONS[name] : undefined;
  if (special) {
    const compute: WindowFunction = special(operand, compiler, sort, name);
    return async (partition) => compute(partition, bounds);
  }
  const accumulator = Object.hasOwn(ACCUMULATORS, name) ? ACCUMULATORS[name] : undefined;
  if (!accumulator) throw mongoFailure('FailedToParse', `Unrecognized window function, ${name}`);
  const make = accumulator(operand, compiler, name);
  return (partition, run) => accumulated(partition, make, bounds, fromStart, run);
}

/** Windows that begin with the partition go on where the row before ended. */
async function accumulated(
  partition: Partition,
  make: MakeAccumulator,
  bounds: Bounds,
  fromStart: boolean,
  { pace }: Run,
): Promise<readonly (Value | undefined)[]> {
  const results: (Value | undefined)[] = [];
  let state = make();
  let reached = -1;
  for (let at = 0; at < partition.length; at++) {
    const [from, to] = bounds(partition, at);
    if (!fromStart) {
      state = make();
      reached = Math.max(0, from) - 1;
    }
    const unchanged = fromStart && to <= reached && at > 0;
    while (reached < Math.min(to, partition.length - 1)) {
      reached++;
      state.add(scopeOf((partition[reached] as Partition[number]).row));
      if (pace.isDue) await pace.rest();
    }
    results.push(unchanged ? results[at - 1] : state.result());
    if (pace.isDue) await pace.rest();
  }
  return results;
}

interface WindowBounds {
  readonly bounds: Bounds;
  /** Whether every window begins with its partition, and ends no earlier than the one before. */
  readonly fromStart: boolean;
}

const WHOLE: WindowBounds = {
  bounds: (partition) => [0, partition.length - 1],
  fromStart: true,
};

function boundsOf(window: Value | undefined, sort: Sort | undefined): WindowBounds {
  if (window === undefined) return WHOLE;
  if (!isDocument(window)) throw mongoFailure('FailedToParse', "'window' field must be an object");
  const documents = window.get('documents');
  const range = window.get('range');
  if (documents !== undefined && range === undefined) {
    if (!sort) throw mongoLocation(5339901, 'Document-based bounds require a sortBy');
    return byDocuments(documents);
  }
  if (range === undefined) return WHOLE;
  if (sort?.parts.length !== 1) {
    throw mongoLocation(5339902, 'Range-based bounds require sortBy a single field');
  }
  return byRange(range, window);
}

type Bound = 'unbounded' | 'current' | NumberValue;

function pairOf(value: Value): readonly [Bound, Bound] {
  const isBound = (bound: Value | undefined): bound is Bound =>
    bound === 'unbounded' || bound === 'current' || isNumber(bound);
  const [lower, upper, more] = isArray(value) ? value : [];
  if (isBound(lower) && isBound(upper) && more === undefined) return [lower, upper];
  throw mongoFailure(
    'FailedToParse',
    "Window bounds must be a 2-element array of 'unbounded', 'current' or numbers",
  );
}

function byDocuments(value: Value): WindowBounds {
  const [lower, upper] = pairOf(value);
  const place = (bound: Bound, at: number, unbounded: number): number => {
    if (bound === 'unbounded') return unbounded;
    if (bound === 'current') return at;
    const places = toSafeInteger(bound);
    if (places !== undefined) return at + places;
    throw mongoFailure('FailedToParse', 'Numeric document-based bounds must be an integer');
  };
  return {
    bounds: (partition, at) => [place(lower, at, 0), place(upper, at, partition.length - 1)],
    fromStart: lower === 'unbounded',
  };
}

function byRange(value: Value, window: Document): WindowBounds {
  const [lower, upper] = pairOf(value);
  const given = window.get('unit');
  const unit: Unit | undefined = given === undefined ? undefined : unitNamed(given);
  const limit = (bound: Bound, key: Value): Value | undefined => {
    if (bound === 'unbounded') return undefined;
    return bound === 'current' ? key : moved(key, bound, unit);
  };
  return {
    bounds: (partition, at) => {
      const key = partition[at]?.keys[0] ?? null;
      if (isNullish(key)) return [0, partition.length - 1];
      const [low, high] = [limit(lower, key), limit(upper, key)];
      let from = low === undefined ? 0 : at;
      let to = high === undefined ? partition.length - 1 : at;
      const keyAt = (index: number) => partition[index]?.keys[0] ?? null;
      if (low !== undefined) {
        while (from > 0 && compareOnLine(keyAt(from - 1), low) >= 0) from--;
        while (from < partition.length && compareOnLine(keyAt(from), low) < 0) from++;
      }
      if (high !== undefined) {
        while (to < partition.length - 1 && compareOnLine(keyAt(to + 1), high) <= 0) to++;
        while (to >= 0 && compareOnLine(keyAt(to), high) > 0) to--;
      }
      return [from, to];
    },
    fromStart: false,
  };
}
