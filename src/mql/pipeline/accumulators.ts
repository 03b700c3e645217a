// Accumulators of `$group` and of windows: what they keep of the rows they have seen.
import { compareBson, keyOfValue } from '../../value/bson/compare.js';
import { toSafeInteger } from '../../value/bson/numbers.js';
import { showValue } from '../../value/bson/show.js';
import {
  type Document,
  int32,
  isArray,
  isDocument,
  isNullish,
  isNumber,
  type Value,
} from '../../value/bson/value.js';
import { mongoFailure, mongoLocation } from '../../value/mongo-errors.js';
import { namedOperands } from '../expression/arguments.js';
import { type Compiler, constantOf, type Expression, type Scope } from '../expression/scope.js';
import { checkMethod, sharesOf } from '../expression/statistics.js';
import { Deviation, percentiles, Sum } from '../expression/sums.js';
import { sizeOf } from '../row.js';
import { compileSort, type Sort, type SortKeys } from '../sort.js';

export interface Accumulator {
  /** Answers by how many bytes what is kept has grown. */
  add(scope: Scope): number;
  result(): Value | undefined;
}
export type MakeAccumulator = () => Accumulator;
type AccumulatorOperator = (operand: Value, compiler: Compiler, name: string) => MakeAccumulator;

export const ACCUMULATORS: Readonly<Record<string, AccumulatorOperator>> = {
  $sum: ofValues(() => {
    const sum = new Sum();
    return small(
      (value) => sum.add(value),
      () => sum.total,
    );
  }),
  $avg: ofValues(() => {
    const sum = new Sum();
    return small(
      (value) => sum.add(value),
      () => sum.mean,
    );
  }),
  $count: (operand) => {
    if (!isDocument(operand) || operand.size > 0) {
      throw mongoFailure('TypeMismatch', '$count takes no arguments, i.e. $count:{}');
    }
    return () => {
      let count = 0;
      const add = () => {
        count++;
        return 0;
      };
      return { add, result: () => int32(count) };
    };
  },
  $min: ofValues((language) => extreme((a, b) => compareBson(a, b, language.collation?.compare))),
  $max: ofValues((language) => extreme((a, b) => compareBson(b, a, language.collation?.compare))),
  $first: ofValues(() => {
    let [first, seen] = [undefined as Value | undefined, false];
    return small(
      (value) => {
        if (!seen) first = value;
        seen = true;
      },
      () => first ?? null,
    );
  }),
  $last: ofValues(() => {
    let last: Value | undefined;
    return small(
      (value) => {
        last = value;
      },
      () => last ?? null,
    );
  }),
  $push: ofValues(() => collected(() => true)),
  $addToSet: ofValues(({ collation }) => {
    const keys = new Set<string>();
    return collected((value) => {
      const key = keyOfValue(value, collation?.fold);
      const isNew = !keys.has(key);
      keys.add(key);
      return isNew;
    });
  }),
  $mergeObjects: ofValues(() => {
    const merged: Document = new Map();
    return small(
      (value) => {
        if (isNullish(value)) return;
        if (!isDocument(value)) {
          throw mongoLocation(
            40400,
            `$mergeObjects requires object inputs, but input ${showValue(value)} is not`,
          );
        }
        for (const [name, member] of value) merged.set(name, member);
      },
      () => new Map(merged),
    );
  }),
  $stdDevPop: ofValues(() => deviation(false)),
  $stdDevSamp: ofValues(() => deviation(true)),
  $top: (operand, compiler, name) => ranked(operand, compiler, name, { last: false, single: true }),
  $topN: (operand, compiler, name) =>
    ranked(operand, compiler, name, { last: false, single: false }),
  $bottom: (operand, compiler, name) =>
    ranked(operand, compiler, name, { last: true, single: true }),
  $bottomN: (operand, compiler, name) =>
    ranked(operand, compiler, name, { last: true, single: false }),
  $firstN: (operand, compiler, name) =>
    some(operand, compiler, name, (kept, n) => kept.slice(0, n)),
  $lastN: (operand, compiler, name) => some(operand, compiler, name, (kept, n) => kept.slice(-n)),
  $minN: (operand, compiler, name) =>
    some(operand, compiler, name, (kept, n) => present(kept).sort(order(compiler)).slice(0, n)),
  $maxN: (operand, compiler, name) =>
    some(operand, compiler, name, (kept, n) =>
      present(kept)
        .sort((a, b) => order(compiler)(b, a))
        .slice(0, n),
    ),
  $median: (operand, compiler, name) => {
    const given = namedOperands(operand, ['input', 'method'], [], name);
    checkMethod(given.get('method'));
    return quantiles(given, compiler, (values) => percentiles(values, [0.5])[0] ?? null);
  },
  $percentile: (operand, compiler, name) => {
    const given = namedOperands(operand, ['input', 'p', 'method'], [], name);
    checkMethod(given.get('method'));
    const shares = sharesOf(constantOf(compiler.compile(given.get('p') as Value))?.value);
    return quantiles(given, compiler, (values) => percentiles(values, shares));
  },
};

export function compileAccumulator(
  spec: Value,
  compiler: Compiler,
  field: string,
): MakeAccumulator {
  if (!isDocument(spec)) {
    throw mongoLocation(40234, `The field '${field}' must be an accumulator object`);
  }
  if (spec.size !== 1) {
    throw mongoLocation(40238, `The field '${field}' must specify one accumulator`);
  }
  const [name = '', operand = null] = [...spec][0] ?? [];
  if (!name.startsWith('$')) {
    throw mongoLocation(40234, `The field '${field}' must be an accumulator object`);
  }
  const make = Object.hasOwn(ACCUMULATORS, name) ? ACCUMULATORS[name] : undefined;
  if (!make) throw mongoLocation(15952, `unknown group operator '${name}'`);
  return make(operand, compiler, name);
}

interface OverValues {
  /** Answers by how many bytes what is kept has grown. */
  add(value: Value | undefined): number;
  result(): Value | undefined;
}

/** Accumulators of one expression. */
function ofValues(make: (language: Compiler['language']) => OverValues): AccumulatorOperator {
  return (operand, compiler, name) => {
    if (isArray(operand) && operand.length !== 1) {
      throw mongoLocation(40237, `The ${name} accumulator is a unary operator`);
    }
    const input = compiler.compile(isArray(operand) ? (operand[0] as Value) : operand);
    return () => {
      const state = make(compiler.language);
      return {
        add: (scope) => state.add(input(scope)),
        result: () => state.result(),
      };
    };
  };
}

/** What keeps no more than one value. */
function small(
  add: (value: Value | undefined) => void,
  result: () => Value | undefined,
): OverValues {
  return {
    add: (value) => {
      add(value);
      return 0;
    },
    result,
  };
}

function extreme(compare: (a: Value, b: Value) => number): OverValues {
  let best: Value | undefined;
  return small(
    (value) => {
      if (isNullish(value) || value === undefined) return;
      if (best === undefined || compare(value, best) < 0) best = value;
    },
    () => best ?? null,
  );
}

function collected(accepts: (value: Value) => boolean): OverValues {
  const values: Value[] = [];
  return {
    add: (value) => {
      if (value === undefined || !accepts(value)) return 0;
      values.push(value);
      return sizeOf(value);
    },
    result: () => [...values],
  };
}

function deviation(sample: boolean): OverValues {
  const state = new Deviation();
  return small(
    (value) => state.add(value),
    () => state.result(sample),
  );
}

function countOf(given: ReadonlyMap<string, Value>, compiler: Compiler, name: string): number {
  const n = constantOf(compiler.compile(given.get('n') as Value))?.value;
  const count = isNumber(n) ? toSafeInteger(n) : undefined;
  if (count !== undefined && count > 0) return count;
  throw mongoLocation(
    5787908,
    `'n' must be a constant greater than 0 for ${name}, found ${showValue(n)}`,
  );
}

function order(compiler: Compiler): (a: Value, b: Value) => number {
  return (a, b) => compareBson(a, b, compiler.language.collation?.compare);
}

function present(values: readonly (Value | undefined)[]): Value[] {
  return values.filter((value): value is Value => !isNullish(value));
}

/** `$firstN` and its like: all values are kept until the end, null for those that are missing. */
function some(
  operand: Value,
  compiler: Compiler,
  name: string,
  pick: (kept: readonly Value[], n: number) => readonly Value[],
): MakeAccumulator {
  const given = namedOperands(operand, ['n', 'input'], [], name);
  const n = countOf(given, compiler, name);
  const input = compiler.compile(given.get('input') as Value);
  return () => {
    let kept: readonly Value[] = [];
    let fresh: Value[] = [];
    return {
      add: (scope) => {
        const value = input(scope) ?? null;
        fresh.push(value);
        if (fresh.length < n + TRIM_EVERY) return sizeOf(value);
        kept = pick([...kept, ...fresh], n);
        fresh = [];
        return 0;
      },
      result: () => pick([...kept, ...fresh], n),
    };
  };
}

const TRIM_EVERY = 256;

interface Ranking {
  readonly last: boolean;
  readonly single: boolean;
}

function ranked(
  operand: Value,
  compiler: Compiler,
  name: string,
  { last, single }: Ranking,
): MakeAccumulator {
  const required = single ? ['sortBy', 'output'] : ['n', 'sortBy', 'output'];
  const given = namedOperands(operand, required, [], name);
  const sortBy = given.get('sortBy') as Value;
  if (!isDocument(sortBy))
    throw mongoLocation(5788005, `${name} requires 'sortBy' to be an object`);
  const sort = compileSort(sortBy, compiler.language);
  const output = compiler.compile(given.get('output') as Value);
  const n = single ? 1 : countOf(given, compiler, name);
  return () => rankedAccumulator(sort, output, n, last, single);
}

interface Ranked {
  readonly keys: SortKeys;
  readonly value: Value;
}

function rankedAccumulator(
  sort: Sort,
  output: Expression,
  n: number,
  last: boolean,
  single: boolean,
): Accumulator {
  let kept: Ranked[] = [];
  const trim = () => {
    kept.sort((a, b) => sort.compare(a.keys, b.keys));
    kept = last ? kept.slice(-n) : kept.slice(0, n);
  };
  return {
    add: (scope) => {
      const keys = sort.keys(scope.row.bytes, scope.row.meta.textScore);
      const value = output(scope) ?? null;
      kept.push({ keys, value });
      if (kept.length >= n + TRIM_EVERY) trim();
      return sizeOf(value);
    },
    result: () => {
      trim();
      return single ? (kept[0]?.value ?? null) : kept.map(({ value }) => value);
    },
  };
}

function quantiles(
  given: ReadonlyMap<string, Value>,
  compiler: Compiler,
  answer: (values: readonly Value[]) => Value,
): MakeAccumulator {
  const input = compiler.compile(given.get('input') as Value);
  return () => {
    const values: Value[] = [];
    return {
      add: (scope) => {
        const value = input(scope);
        if (isNumber(value)) values.push(value);
        return sizeOf(value);
      },
      result: () => answer(values),
    };
  };
}
