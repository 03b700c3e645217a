// Decimal128 on the wire: 16 bytes, little-endian, binary integer significand.
//
//   sign 1 | exponent + 6176, 14 bits | coefficient, 113 bits
//   sign 1 | 11110 … infinity, sign 1 | 11111 … NaN
//   sign 1 | 11 | … a coefficient of 10^34 and more, which is not canonical and counts as 0
import {
  COEFFICIENT_LIMIT,
  DECIMAL_NAN,
  Decimal128,
  decimalInfinity,
  EXPONENT_MIN,
} from './decimal.js';
import type { Bytes } from './value.js';

const HIGH_COEFFICIENT_BITS = 49n;
const HIGH_COEFFICIENT_MASK = (1n << HIGH_COEFFICIENT_BITS) - 1n;
const BIAS = -EXPONENT_MIN;

export function decimalFromBits(low: bigint, high: bigint): Decimal128 {
  const negative = high >> 63n === 1n;
  const combination = Number((high >> 58n) & 0x1fn);
  if (combination === 0x1f) return DECIMAL_NAN;
  if (combination === 0x1e) return decimalInfinity(negative);
  const large = combination >= 0x18;
  const exponent = Number((high >> (large ? 47n : HIGH_COEFFICIENT_BITS)) & 0x3fffn) - BIAS;
  const coefficient = large ? 0n : ((high & HIGH_COEFFICIENT_MASK) << 64n) | low;
  const canonical = coefficient < COEFFICIENT_LIMIT ? coefficient : 0n;
  return new Decimal128('finite', negative, canonical, exponent);
}

export function decimalFromBytes(bytes: Bytes, at: number): Decimal128 {
  return decimalFromBits(readUint64(bytes, at), readUint64(bytes, at + 8));
}

/** The low and the high half. */
export function decimalToBits(value: Decimal128): readonly [low: bigint, high: bigint] {
  const sign = value.negative ? 1n << 63n : 0n;
  if (value.kind === 'nan') return [0n, 0x1fn << 58n];
  if (value.kind === 'infinity') return [0n, sign | (0x1en << 58n)];
  const exponent = BigInt(value.exponent + BIAS) << HIGH_COEFFICIENT_BITS;
  return [value.coefficient & 0xffff_ffff_ffff_ffffn, sign | exponent | (value.coefficient >> 64n)];
}

function readUint64(bytes: Bytes, at: number): bigint {
  let value = 0n;
  for (let byte = 7; byte >= 0; byte--) value = (value << 8n) | BigInt(bytes[at + byte] as number);
  return value;
}
