// The granularities of `$bucketAuto`: series of preferred numbers, to which the boundaries of
// buckets are rounded.
import { isNan, toDouble } from '../../value/bson/numbers.js';
import { showValue } from '../../value/bson/show.js';
import { isNumber, type Value } from '../../value/bson/value.js';
import { mongoLocation } from '../../value/mongo-errors.js';

export interface Granularity {
  /** The next greater number of the series. */
  roundUp(value: number): number;
  /** The next smaller one. */
  roundDown(value: number): number;
}

export function granularityOf(name: Value): Granularity {
  if (typeof name !== 'string') {
    throw mongoLocation(
      40261,
      `The $bucketAuto 'granularity' field must be a string, but found type: ${showValue(name)}`,
    );
  }
  if (name === 'POWERSOF2') return POWERS_OF_2;
  const series = SERIES.get(name);
  if (!series) throw mongoLocation(40257, `Unknown rounding granularity '${name}'`);
  return {
    roundUp: (value) => nextOf(series, value),
    roundDown: (value) => lastOf(series, value),
  };
}

/** Values that a series can be asked about. */
export function granularNumber(value: Value): number {
  if (!isNumber(value)) {
    throw mongoLocation(
      40258,
      `A granularity can only be used with a numeric 'groupBy' expression, but found: ${showValue(value)}`,
    );
  }
  if (isNan(value)) {
    throw mongoLocation(40259, "A granularity cannot be used with a 'groupBy' that is NaN");
  }
  const number = toDouble(value);
  if (number >= 0) return number;
  throw mongoLocation(
    40260,
    `A granularity can only be used with a non-negative 'groupBy', but found: ${showValue(value)}`,
  );
}

const POWERS_OF_2: Granularity = {
  roundUp: (value) => (value === 0 ? 0 : 2 ** (Math.floor(Math.log2(value)) + 1)),
  roundDown: (value) => (value === 0 ? 0 : 2 ** (Math.ceil(Math.log2(value)) - 1)),
};

/** Each from a power of ten to the one below the next, in whole numbers. */
const SERIES: ReadonlyMap<string, readonly number[]> = new Map([
  ['R5', [10, 16, 25, 40, 63]],
  ['R10', [100, 125, 160, 200, 250, 315, 400, 500, 630, 800]],
  [
    'R20',
    [
      ...[100, 112, 125, 140, 160, 180, 200, 224, 250, 280],
      ...[315, 355, 400, 450, 500, 560, 630, 710, 800, 900],
    ],
  ],
  [
    'R40',
    [
      ...[100, 106, 112, 118, 125, 132, 140, 150, 160, 170, 180, 190, 200, 212],
      ...[224, 236, 250, 265, 280, 300, 315, 335, 355, 375, 400, 425, 450, 475],
      ...[500, 530, 560, 600, 630, 670, 710, 750, 800, 850, 900, 950],
    ],
  ],
  ['R80', renard80()],
  ['1-2-5', [10, 20, 50]],
  ['E6', [10, 15, 22, 33, 47, 68]],
  ['E12', [10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82]],
  [
    'E24',
    [
      ...[10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30],
      ...[33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91],
    ],
  ],
  ['E48', ofThreeDigits(48)],
  ['E96', ofThreeDigits(96)],
  ['E192', ofThreeDigits(192)],
]);

function renard80(): readonly number[] {
  return [
    ...[100, 103, 106, 109, 112, 115, 118, 122, 125, 128, 132, 136, 140, 145, 150, 155],
    ...[160, 165, 170, 175, 180, 185, 190, 195, 200, 206, 212, 218, 224, 230, 236, 243],
    ...[250, 258, 265, 272, 280, 290, 300, 307, 315, 325, 335, 345, 355, 365, 375, 387],
    ...[400, 412, 425, 437, 450, 462, 475, 487, 500, 515, 530, 545, 560, 580, 600, 615],
    ...[630, 650, 670, 690, 710, 730, 750, 775, 800, 825, 850, 875, 900, 925, 950, 975],
  ];
}

/** Equal ratios, rounded; the standard rounds one of them its own way. */
function ofThreeDigits(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => {
    const number = Math.round(100 * 10 ** (at / count));
    return number === 919 ? 920 : number;
  });
}

function nextOf(series: readonly number[], value: number): number {
  if (value === 0) return 0;
  const { scale, scaled } = scaledTo(series, value);
  const found = series.find((each) => each > scaled && !isSame(each, scaled));
  return found === undefined ? (series[0] as number) * 10 * scale : found * scale;
}

function lastOf(series: readonly number[], value: number): number {
  if (value === 0) return 0;
  const { scale, scaled } = scaledTo(series, value);
  const found = series.findLast((each) => each < scaled && !isSame(each, scaled));
  return found === undefined ? ((series.at(-1) as number) * scale) / 10 : found * scale;
}

/** The value within the first decade of the series, and what brings it there. */
function scaledTo(series: readonly number[], value: number) {
  const first = series[0] as number;
  let scale = 10 ** Math.floor(Math.log10(value / first));
  // Logarithms are not exact.
  if (value / scale >= first * 10) scale *= 10;
  if (value / scale < first) scale /= 10;
  return { scale, scaled: value / scale };
}

/** Dividing by powers of ten leaves a little. */
function isSame(one: number, other: number): boolean {
  return Math.abs(one - other) < 1e-9 * one;
}
