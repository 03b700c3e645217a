// OP_COMPRESSED: opening what clients packed, packing replies in the same way. zlib is Node's own,
// and so is zstd where Node has it; snappy is in snappy.ts.
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { HEADER_BYTES, MESSAGE_BYTES_MAX, Op, ProtocolError, writeHeader } from './message.js';
import { snappyOpen, snappyPack } from './snappy.js';

export interface Compressor {
  /** As clients know it. */
  readonly name: string;
  /** Its number on the wire. */
  readonly id: number;
  pack(body: Buffer): Promise<Buffer> | Buffer;
  /** Makes no more of it than that size. */
  open(packed: Buffer, size: number): Promise<Buffer> | Buffer;
}

type Packing = (body: Buffer, done: (error: Error | null, packed: Buffer) => void) => void;
type Opening = (
  packed: Buffer,
  limit: { readonly maxOutputLength: number },
  done: (error: Error | null, body: Buffer) => void,
) => void;
/** Since Node 22.15. */
const { zstdCompress, zstdDecompress } = zlib as unknown as {
  readonly zstdCompress?: Packing;
  readonly zstdDecompress?: Opening;
};

export const COMPRESSORS: readonly Compressor[] = [
  { name: 'snappy', id: 1, pack: snappyPack, open: snappyOpen },
  ofNode('zlib', 2, zlib.deflate, zlib.inflate),
  ...(zstdCompress && zstdDecompress ? [ofNode('zstd', 3, zstdCompress, zstdDecompress)] : []),
  { name: 'noop', id: 0, pack: (body) => body, open: (packed) => packed },
];
const FRAME_BYTES = 9;

export interface Unpacked {
  readonly opcode: number;
  /** As if it had come plain; of the header only the length is right. */
  readonly bytes: Buffer;
  readonly compressor: Compressor;
}

export async function unpack(bytes: Buffer, bytesMax = MESSAGE_BYTES_MAX): Promise<Unpacked> {
  if (bytes.length < HEADER_BYTES + FRAME_BYTES) throw new ProtocolError('an empty package');
  const opcode = bytes.readInt32LE(HEADER_BYTES);
  const size = bytes.readInt32LE(HEADER_BYTES + 4);
  const id = bytes[HEADER_BYTES + 8];
  if (opcode === Op.compressed) throw new ProtocolError('a package within a package');
  // Before a byte is unpacked: a small message may hold gigabytes.
  if (size < 0 || size > bytesMax - HEADER_BYTES) {
    throw new ProtocolError(`a package of ${size} bytes`);
  }
  const compressor = COMPRESSORS.find((each) => each.id === id);
  if (!compressor) throw new ProtocolError(`the compressor ${id} is not offered`);
  const body = await open(bytes.subarray(HEADER_BYTES + FRAME_BYTES), compressor, size);
  if (body.length !== size) throw new ProtocolError('a package of another size than it says');
  const plain = Buffer.allocUnsafe(HEADER_BYTES + size);
  plain.set(body, HEADER_BYTES);
  writeHeader(plain, 0, 0, opcode);
  return { opcode, bytes: plain, compressor };
}

export async function pack(message: Buffer, compressor: Compressor): Promise<Buffer> {
  const body = message.subarray(HEADER_BYTES);
  const packed = await compressor.pack(body);
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + FRAME_BYTES + packed.length);
  const [requestId, responseTo] = [message.readInt32LE(4), message.readInt32LE(8)];
  writeHeader(bytes, requestId, responseTo, Op.compressed);
  bytes.writeInt32LE(message.readInt32LE(12), HEADER_BYTES);
  bytes.writeInt32LE(body.length, HEADER_BYTES + 4);
  bytes[HEADER_BYTES + 8] = compressor.id;
  bytes.set(packed, HEADER_BYTES + FRAME_BYTES);
  return bytes;
}

async function open(packed: Buffer, compressor: Compressor, size: number): Promise<Buffer> {
  try {
    return await compressor.open(packed, size);
  } catch {
    throw new ProtocolError('a package that cannot be opened');
  }
}

function ofNode(name: string, id: number, packing: Packing, opening: Opening): Compressor {
  const open = promisify(opening);
  return {
    name,
    id,
    pack: promisify(packing),
    open: (packed, size) => open(packed, { maxOutputLength: Math.max(size, 1) }),
  };
}
