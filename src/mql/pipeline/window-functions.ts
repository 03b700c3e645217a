// Functions that exist in windows only: ranks, shifts, rates, moving means, and filling of gaps.

import { Decimal128 } from '../../value/bson/decimal.js';
import { divideDecimals } from '../../value/bson/decimal-math.js';
import { toDecimal, toDouble, toSafeInteger } from '../../value/bson/numbers.js';
import {
  DateTime,
  int32,
  isArray,
  isDocument,
  isNullish,
  isNumber,
  type Value,
} from '../../value/bson/value.js';
import { mongoFailure, mongoLocation } from '../../value/mongo-errors.js';
import { namedOperands } from '../expression/arguments.js';
import { addUnits, unitNamed } from '../expression/calendar.js';
import { type Compiler, type Expression, scopeOf } from '../expression/scope.js';
import { UTC } from '../expression/zones.js';
import type { Sort } from '../sort.js';
import { numberOnLine, type Partition, type Placed } from './partitions.js';

/** The values for all rows of a partition. */
export type WindowFunction = (partition: Partition, bounds: Bounds) => readonly Value[];
/** First and last place of the window of a row; the last is below the first where it is empty. */
export type Bounds = (partition: Partition, at: number) => readonly [from: number, to: number];
type MakeWindowFunction = (
  operand: Value,
  compiler: Compiler,
  sort: Sort | undefined,
  name: string,
) => WindowFunction;

export const WINDOW_FUNCTIONS: Readonly<Record<string, MakeWindowFunction>> = {
  $documentNumber: ranking((_, __, at) => at + 1),
  $rank: ranking((isTie, before, at) => (isTie ? before : at + 1)),
  $denseRank: ranking((isTie, before) => (isTie ? before : before + 1)),
  $shift: (operand, compiler, _, name) => {
    const given = namedOperands(operand, ['output', 'by'], ['default'], name);
    const by = given.get('by');
    const places = isNumber(by) ? toSafeInteger(by) : undefined;
    if (places === undefined)
      throw mongoFailure('FailedToParse', "'$shift:by' field must be an integer");
    const output = compiler.compile(given.get('output') as Value);
    const otherwise = given.get('default') ?? null;
    return (partition) =>
      partition.map((_, at) => {
        const other = partition[at + places];
        return other ? (inputOf(output, other) ?? null) : otherwise;
      });
  },
  $derivative: (operand, compiler, _, name) => {
    const { input, unitMs } = rateSpec(operand, compiler, name);
    return overWindows((window) => {
      const [first, last] = [window[0], window.at(-1)];
      if (!first || !last || first === last) return null;
      const rise = difference(inputOf(input, last), inputOf(input, first));
      const run = difference(last.keys[0], first.keys[0]);
      if (rise === undefined || run === undefined || run === 0) return null;
      return rise / (run / unitMs);
    });
  },
  $integral: (operand, compiler, _, name) => {
    const { input, unitMs } = rateSpec(operand, compiler, name);
    return overWindows((window) => {
      let area = 0;
      for (let at = 1; at < window.length; at++) {
        const [before, here] = [window[at - 1] as Placed, window[at] as Placed];
        const width = difference(here.keys[0], before.keys[0]) ?? 0;
        const [low, high] = [
          numberOnLine(inputOf(input, before)),
          numberOnLine(inputOf(input, here)),
        ];
        area += (((low ?? 0) + (high ?? 0)) / 2) * (width / unitMs);
      }
      return area;
    });
  },
  $expMovingAvg: (operand, compiler, _, name) => {
    const given = namedOperands(operand, ['input'], ['N', 'alpha'], name);
    const [n, alpha] = [given.get('N'), given.get('alpha')];
    const weight = isNumber(alpha) ? toDouble(alpha) : isNumber(n) ? 2 / (toDouble(n) + 1) : 0;
    if ((n === undefined) === (alpha === undefined) || weight <= 0 || weight > 1) {
      throw mongoFailure(
        'FailedToParse',
        "$expMovingAvg requires either 'N' or 'alpha', from 0 to 1",
      );
    }
    const input = compiler.compile(given.get('input') as Value);
    return (partition) => movingMeans(partition, input, weight);
  },
  $covariancePop: covariance(false),
  $covarianceSamp: covariance(true),
  $locf: (operand, compiler) => {
    const input = compiler.compile(operand);
    return (partition) => {
      let last: Value = null;
      return partition.map((placed) => {
        const value = inputOf(input, placed);
        if (!isNullish(value) && value !== undefined) last = value;
        return last;
      });
    };
  },
  $linearFill: (operand, compiler, sort, name) => {
    if (sort?.parts.length !== 1)
      throw mongoLocation(
        605001,
        `${name} must be specified with a top level sortBy expression of one field`,
      );
    const input = compiler.compile(operand);
    return (partition) => interpolated(partition, input);
  },
};

export function inputOf(expression: Expression, { row }: Placed): Value | undefined {
  return expression(scopeOf(row));
}

function ranking(rank: (isTie: boolean, before: number, at: number) => number): MakeWindowFunction {
  return (operand, _, sort, name) => {
    if (!isDocument(operand) || operand.size > 0) {
      throw mongoLocation(5371603, `${name} must be specified with '{}' as the value`);
    }
    if (!sort)
      throw mongoLocation(5371602, `${name} must be specified with a top level sortBy expression`);
    return (partition) => {
      let before = 0;
      return partition.map(({ keys }, at) => {
        const previous = partition[at - 1];
        before = rank(
          previous !== undefined && sort.compare(previous.keys, keys) === 0,
          before,
          at,
        );
        return int32(before);
      });
    };
  };
}

function overWindows(answer: (window: Partition) => Value): WindowFunction {
  return (partition, bounds) =>
    partition.map((_, at) => {
      const [from, to] = bounds(partition, at);
      return answer(partition.slice(Math.max(0, from), to + 1));
    });
}

/** With a unit, the sort is by dates and the rate per that unit. */
function rateSpec(operand: Value, compiler: Compiler, name: string) {
  const given = namedOperands(operand, ['input'], ['unit'], name);
  const unit = given.get('unit');
  const unitMs = unit === undefined ? 1 : addUnits(0, unitNamed(unit), 1, UTC);
  return { input: compiler.compile(given.get('input') as Value), unitMs };
}

function difference(a: Value | undefined, b: Value | undefined): number | undefined {
  const [left, right] = [numberOnLine(a), numberOnLine(b)];
  return left === undefined || right === undefined ? undefined : left - right;
}

function movingMeans(partition: Partition, input: Expression, weight: number): readonly Value[] {
  let mean: number | undefined;
  let isDecimal = false;
  return partition.map((placed) => {
    const value = inputOf(input, placed);
    if (isNumber(value)) {
      isDecimal ||= value instanceof Decimal128;
      const number = toDouble(value);
      mean = mean === undefined ? number : number * weight + mean * (1 - weight);
    }
    if (mean === undefined) return null;
    return isDecimal ? divideDecimals(toDecimal(mean), toDecimal(int32(1))) : mean;
  });
}

function covariance(sample: boolean): MakeWindowFunction {
  return (operand, compiler, _, name) => {
    if (!isArray(operand) || operand.length !== 2) {
      throw mongoFailure('FailedToParse', `${name} takes an array of two expressions`);
    }
    const [x, y] = operand.map((each) => compiler.compile(each)) as [Expression, Expression];
    return overWindows((window) => {
      const pairs = window.flatMap((placed) => {
        const [left, right] = [inputOf(x, placed), inputOf(y, placed)];
        return isNumber(left) && isNumber(right)
          ? [[toDouble(left), toDouble(right)] as const]
          : [];
      });
      const divisor = pairs.length - (sample ? 1 : 0);
      if (divisor <= 0) return null;
      const meanX = pairs.reduce((sum, [left]) => sum + left, 0) / pairs.length;
      const meanY = pairs.reduce((sum, [, right]) => sum + right, 0) / pairs.length;
      const total = pairs.reduce((sum, [l, r]) => sum + (l - meanX) * (r - meanY), 0);
      return total / divisor;
    });
  };
}

/** Gaps between two known values are filled in proportion to what the rows are sorted by. */
function interpolated(partition: Partition, input: Expression): readonly Value[] {
  const values = partition.map((placed) => inputOf(input, placed));
  const filled: Value[] = values.map((value) => (isNullish(value) ? null : value));
  let known = -1;
  values.forEach((value, at) => {
    if (isNullish(value)) return;
    if (known >= 0 && at - known > 1) fillGap(partition, filled, known, at);
    known = at;
  });
  return filled;
}

function fillGap(partition: Partition, filled: Value[], from: number, to: number): void {
  const place = (at: number) => numberOnLine(partition[at]?.keys[0]);
  const [start, end] = [place(from), place(to)];
  const [low, high] = [numberOnLine(filled[from]), numberOnLine(filled[to])];
  if (start === undefined || end === undefined || low === undefined || high === undefined) {
    throw mongoFailure(
      'TypeMismatch',
      'Value to be filled must be numeric or nullish, and sorted by numbers or dates',
    );
  }
  for (let at = from + 1; at < to; at++) {
    const share = ((place(at) ?? start) - start) / (end - start);
    const value = low + share * (high - low);
    filled[at] = filled[from] instanceof DateTime ? new DateTime(Math.round(value)) : value;
  }
}
