// Decimal128: a sign, up to 34 decimal digits and an exponent; or an infinity, or NaN. Its text is
// that of the specification, so that 1.0 and 1.00 stay what they were.
import { BsonType } from './types.js';

export const DIGITS_MAX = 34;
export const EXPONENT_MIN = -6176;
export const EXPONENT_MAX = 6111;
export const COEFFICIENT_LIMIT = 10n ** 34n;

export type DecimalKind = 'finite' | 'infinity' | 'nan';

export class Decimal128 {
  readonly type = BsonType.decimal;
  readonly kind: DecimalKind;
  readonly negative: boolean;
  /** Not negative, below 10^34; 0 unless finite. */
  readonly coefficient: bigint;
  readonly exponent: number;

  constructor(kind: DecimalKind, negative: boolean, coefficient: bigint, exponent: number) {
    this.kind = kind;
    this.negative = negative;
    this.coefficient = coefficient;
    this.exponent = exponent;
  }

  get isZero(): boolean {
    return this.kind === 'finite' && this.coefficient === 0n;
  }

  toString(): string {
    return printDecimal(this);
  }
}

export const DECIMAL_NAN = new Decimal128('nan', false, 0n, 0);
export const DECIMAL_ZERO = new Decimal128('finite', false, 0n, 0);
const INFINITIES = [
  new Decimal128('infinity', false, 0n, 0),
  new Decimal128('infinity', true, 0n, 0),
] as const;

export function decimalInfinity(negative: boolean): Decimal128 {
  return INFINITIES[negative ? 1 : 0];
}

/** The nearest decimal to a number of any length, to the even one in the middle. */
export function decimalOf(negative: boolean, coefficient: bigint, exponent: number): Decimal128 {
  let digits = coefficient;
  let power = exponent;
  const excess = Math.max(digitCount(digits) - DIGITS_MAX, EXPONENT_MIN - power);
  if (excess > 0) {
    digits = shiftRight(digits, excess);
    power += excess;
    if (digits === COEFFICIENT_LIMIT) {
      digits /= 10n;
      power++;
    }
  }
  if (digits === 0n) {
    power = Math.min(Math.max(power, EXPONENT_MIN), EXPONENT_MAX);
  } else if (power > EXPONENT_MAX) {
    const room = DIGITS_MAX - digitCount(digits);
    if (power - EXPONENT_MAX > room) return decimalInfinity(negative);
    digits *= 10n ** BigInt(power - EXPONENT_MAX);
    power = EXPONENT_MAX;
  }
  return new Decimal128('finite', negative, digits, power);
}

export function decimalOfInteger(value: bigint): Decimal128 {
  return decimalOf(value < 0n, value < 0n ? -value : value, 0);
}

/** Divided by a power of ten, to the nearest, to the even one in the middle. */
export function shiftRight(digits: bigint, places: number): bigint {
  if (places <= 0) return digits;
  if (places > digitCount(digits)) return 0n;
  const divisor = 10n ** BigInt(places);
  const quotient = digits / divisor;
  const twice = (digits % divisor) * 2n;
  const up = twice > divisor || (twice === divisor && quotient % 2n === 1n);
  return up ? quotient + 1n : quotient;
}

export function digitCount(value: bigint): number {
  return value.toString().length;
}

/** Longer texts are no numbers, whatever they say. */
const TEXT_UNITS_MAX = 10_000;
const NUMBER = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:[eE]([+-]?\d+))?$/;
const EXPONENT_PARSE_MAX = 1_000_000;

/** `undefined` where the text is no number. Too many digits are rounded. */
export function parseDecimal(text: string): Decimal128 | undefined {
  if (text.length > TEXT_UNITS_MAX) return undefined;
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (special) {
    return special[2]?.toLowerCase() === 'nan' ? DECIMAL_NAN : decimalInfinity(special[1] === '-');
  }
  const match = NUMBER.exec(text);
  if (!match) return undefined;
  const [, sign, whole = '', fraction = match[4] ?? '', , power = '0'] = match;
  const exponent = Math.max(Math.min(Number(power), EXPONENT_PARSE_MAX), -EXPONENT_PARSE_MAX);
  return decimalOf(sign === '-', BigInt(`${whole}${fraction}` || '0'), exponent - fraction.length);
}

function printDecimal({ kind, negative, coefficient, exponent }: Decimal128): string {
  const sign = negative ? '-' : '';
  if (kind === 'nan') return 'NaN';
  if (kind === 'infinity') return `${sign}Infinity`;
  const digits = coefficient.toString();
  const scientific = exponent + digits.length - 1;
  if (exponent > 0 || scientific < -6) {
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
    const power = scientific < 0 ? `${scientific}` : `+${scientific}`;
    return `${sign}${digits[0]}${fraction}E${power}`;
  }
  if (exponent === 0) return `${sign}${digits}`;
  const padded = digits.padStart(1 - exponent, '0');
  return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
}
