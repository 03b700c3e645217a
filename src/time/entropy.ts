// Where random numbers come from: identifiers that must never repeat.
import { randomBytes, randomUUID } from 'node:crypto';

export interface Entropy {
  uuid(): string;
  bytes(count: number): Uint8Array;
  /** A number in [0, 1). */
  fraction(): number;
  /** A quoted etag that no earlier write had, also when it follows within the same second. */
  etag(writtenSeconds: number): string;
}

/**
 * Etags have the shape `"LLLLLLLL-0000-HHHH-0000-TTTTTTTT0000"`: a 48-bit count that starts at a
 * random place in every process, and the write's second. Two writes differ because the count does;
 * two processes because the start does.
 */
export function systemEntropy(): Entropy {
  let low = randomBytes(4).readUInt32BE();
  let high = randomBytes(2).readUInt16BE();
  return {
    uuid: randomUUID,
    bytes: (count) => randomBytes(count),
    fraction: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
    etag: (writtenSeconds) => {
      low = (low + 1) >>> 0;
      if (low === 0) high = (high + 1) & 0xffff;
      const seconds = (writtenSeconds % 0x1_0000_0000).toString(16).padStart(8, '0');
      return `"${hex(low, 8)}-0000-${hex(high, 4)}-0000-${seconds}0000"`;
    },
  };
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}
