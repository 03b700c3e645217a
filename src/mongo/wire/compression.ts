// OP_COMPRESSED: opening what clients packed, packing replies in the same way. zlib is Node's own;
// snappy and zstd would need packages, so they are not offered.
import { promisify } from 'node:util';
import { deflate, inflate } from 'node:zlib';
import { HEADER_BYTES, MESSAGE_BYTES_MAX, Op, ProtocolError, writeHeader } from './message.js';

/** The name clients know it by, and its number on the wire. */
export const COMPRESSORS = [
  { name: 'zlib', id: 2 },
  { name: 'noop', id: 0 },
] as const;
const ZLIB = 2;
const NOOP = 0;
const FRAME_BYTES = 9;

const packing = promisify(deflate);
const unpacking = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflate);

export interface Unpacked {
  readonly opcode: number;
  /** As if it had come plain; of the header only the length is right. */
  readonly bytes: Buffer;
  readonly compressor: number;
}

export async function unpack(bytes: Buffer): Promise<Unpacked> {
  if (bytes.length < HEADER_BYTES + FRAME_BYTES) throw new ProtocolError('an empty package');
  const opcode = bytes.readInt32LE(HEADER_BYTES);
  const size = bytes.readInt32LE(HEADER_BYTES + 4);
  const compressor = bytes[HEADER_BYTES + 8] ?? NOOP;
  if (opcode === Op.compressed) throw new ProtocolError('a package within a package');
  // Before a byte is unpacked: a small message may hold gigabytes.
  if (size < 0 || size > MESSAGE_BYTES_MAX - HEADER_BYTES) {
    throw new ProtocolError(`a package of ${size} bytes`);
  }
  const body = await open(bytes.subarray(HEADER_BYTES + FRAME_BYTES), compressor, size);
  if (body.length !== size) throw new ProtocolError('a package of another size than it says');
  const plain = Buffer.allocUnsafe(HEADER_BYTES + size);
  plain.set(body, HEADER_BYTES);
  writeHeader(plain, 0, 0, opcode);
  return { opcode, bytes: plain, compressor };
}

export async function pack(message: Buffer, compressor: number): Promise<Buffer> {
  const body = message.subarray(HEADER_BYTES);
  const packed = compressor === ZLIB ? await packing(body) : body;
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + FRAME_BYTES + packed.length);
  const [requestId, responseTo] = [message.readInt32LE(4), message.readInt32LE(8)];
  writeHeader(bytes, requestId, responseTo, Op.compressed);
  bytes.writeInt32LE(message.readInt32LE(12), HEADER_BYTES);
  bytes.writeInt32LE(body.length, HEADER_BYTES + 4);
  bytes[HEADER_BYTES + 8] = compressor;
  bytes.set(packed, HEADER_BYTES + FRAME_BYTES);
  return bytes;
}

async function open(packed: Buffer, compressor: number, size: number): Promise<Buffer> {
  if (compressor === NOOP) return packed;
  if (compressor !== ZLIB) throw new ProtocolError(`the compressor ${compressor} is not offered`);
  try {
    return await unpacking(packed, { maxOutputLength: Math.max(size, 1) });
  } catch {
    throw new ProtocolError('a package that cannot be opened');
  }
}
