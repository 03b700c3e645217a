// Arithmetic on 64-bit integers, which wraps around as in C++. Arguments and results are numbers,
// so results beyond 2^53 are rounded to the next double.
import { type FunctionTable, fn } from '../function.js';

export const integerFunctions: FunctionTable = {
  INTADD: binary((a, b) => a + b),
  INTSUB: binary((a, b) => a - b),
  INTMUL: binary((a, b) => a * b),
  INTDIV: binary((a, b) => (b === 0n ? undefined : a / b)),
  INTMOD: binary((a, b) => (b === 0n ? undefined : a % b)),
  INTBITAND: binary((a, b) => a & b),
  INTBITOR: binary((a, b) => a | b),
  INTBITXOR: binary((a, b) => a ^ b),
  INTBITLEFTSHIFT: binary((a, count) => a << (count & SHIFT_MASK)),
  INTBITRIGHTSHIFT: binary((a, count) => a >> (count & SHIFT_MASK)),
  INTBITNOT: fn<readonly [number]>(['number'], ([a]) =>
    isInt64(a) ? wrapped(~BigInt(a)) : undefined,
  ),
};

/** No double lies between 2^63 - 1024 and 2^63, so the upper bound is exact. */
export function isInt64(value: unknown): value is number {
  if (typeof value !== 'number' || !Number.isInteger(value)) return false;
  return value >= -(2 ** 63) && value < 2 ** 63;
}

/** Shifts use the low six bits of the count, as 64-bit processors do. */
const SHIFT_MASK = 63n;

function binary(operate: (a: bigint, b: bigint) => bigint | undefined) {
  return fn<readonly [number, number]>(['number', 'number'], ([a, b]) => {
    if (!isInt64(a) || !isInt64(b)) return undefined;
    const result = operate(BigInt(a), BigInt(b));
    return result === undefined ? undefined : wrapped(result);
  });
}

function wrapped(value: bigint): number {
  return Number(BigInt.asIntN(64, value));
}
