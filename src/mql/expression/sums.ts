// Sums, means and deviations over many values of all types of numbers. Integers are added exactly,
// doubles with what rounding took away, decimals as decimals.
import { DECIMAL_ZERO, Decimal128 } from '../../value/bson/decimal.js';
import { addDecimals, decimalOfDouble, divideDecimals } from '../../value/bson/decimal-math.js';
import { smallestInteger, toDecimal, toDouble } from '../../value/bson/numbers.js';
import { Int32, int32, isNumber, type NumberValue, type Value } from '../../value/bson/value.js';

export class Sum {
  #small = 0;
  #integers = 0n;
  #wide = false;
  #doubles = 0;
  #lost = 0;
  #hasDoubles = false;
  #decimals: Decimal128 | undefined;
  count = 0;

  /** What is no number does not count. */
  add(value: Value | undefined): void {
    if (!isNumber(value)) return;
    this.count++;
    if (value instanceof Int32) {
      this.#small += value.value;
      if (!Number.isSafeInteger(this.#small)) this.#carry();
    } else if (typeof value === 'bigint') {
      this.#wide = true;
      this.#integers += value;
    } else if (typeof value === 'number') this.#addDouble(value);
    else this.#decimals = addDecimals(this.#decimals ?? DECIMAL_ZERO, value);
  }

  get total(): NumberValue {
    this.#carry();
    if (this.#decimals) {
      const rest = toDecimal(this.#integers);
      const doubles = this.#hasDoubles ? decimalOfDouble(this.#double) : DECIMAL_ZERO;
      return addDecimals(addDecimals(this.#decimals, rest), doubles);
    }
    if (this.#hasDoubles) return Number(this.#integers) + this.#double;
    return smallestInteger(this.#integers, this.#wide) ?? Number(this.#integers);
  }

  /** A double or a decimal; null of nothing. */
  get mean(): Value {
    if (this.count === 0) return null;
    const { total } = this;
    if (total instanceof Decimal128) return divideDecimals(total, toDecimal(int32(this.count)));
    return toDouble(total) / this.count;
  }

  get #double(): number {
    const sum = this.#doubles + this.#lost;
    return Number.isNaN(sum) ? this.#doubles : sum;
  }

  #carry(): void {
    this.#integers += BigInt(this.#small);
    this.#small = 0;
  }

  /** Neumaier's summation. */
  #addDouble(value: number): void {
    this.#hasDoubles = true;
    const sum = this.#doubles + value;
    const larger = Math.abs(this.#doubles) >= Math.abs(value);
    const lost = larger ? this.#doubles - sum + value : value - sum + this.#doubles;
    if (Number.isFinite(lost)) this.#lost += lost;
    this.#doubles = sum;
  }
}

/** Welford's method, on doubles. */
export class Deviation {
  #count = 0;
  #mean = 0;
  #squares = 0;

  add(value: Value | undefined): void {
    if (!isNumber(value)) return;
    const number = toDouble(value);
    this.#count++;
    const delta = number - this.#mean;
    this.#mean += delta / this.#count;
    this.#squares += delta * (number - this.#mean);
  }

  result(sample: boolean): Value {
    const divisor = this.#count - (sample ? 1 : 0);
    return divisor <= 0 ? null : Math.sqrt(this.#squares / divisor);
  }
}

/** The values below which a share of all lies, as doubles. */
export function percentiles(values: readonly Value[], shares: readonly number[]): Value[] {
  const sorted = values
    .filter(isNumber)
    .map(toDouble)
    .sort((a, b) => a - b);
  return shares.map((share) => {
    const at = Math.max(0, Math.ceil(share * sorted.length) - 1);
    return sorted[at] ?? null;
  });
}
