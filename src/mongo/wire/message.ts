// Messages of the wire protocol: reading requests, writing replies. All integers are little-endian.
//
//   header         int32 length of all, int32 request id, int32 response to, int32 opcode
//   OP_MSG         uint32 flags, sections, with flag 0 a CRC-32C of all that is before it
//   section 0      00, one document: the command
//   section 1      01, int32 size from here on, name 00, documents: an array of the command
//   OP_QUERY       int32 flags, collection 00, int32 skip, int32 count, document
//   OP_REPLY       int32 flags, int64 cursor, int32 start, int32 count, documents
//   OP_COMPRESSED  int32 opcode, int32 size, byte compressor, the body of a message of that opcode
import { crc32c } from './crc32c.js';

export const HEADER_BYTES = 16;
export const MESSAGE_BYTES_MAX = 48_000_000;
/** The limit for users' documents, and room for what a command adds around one. */
export const DOCUMENT_BYTES_MAX = 16 * 1024 * 1024;
const COMMAND_BYTES_MAX = DOCUMENT_BYTES_MAX + 16 * 1024;
const DOCUMENT_BYTES_MIN = 5;
const SEQUENCES_MAX = 8;

export const Op = { reply: 1, query: 2004, compressed: 2012, message: 2013 } as const;
const Flag = { checksum: 1, moreToCome: 2, exhaustAllowed: 0x10000 } as const;
/** Bits that a server must know to understand the message. */
const REQUIRED_FLAGS = 0xffff;

/** A message that cannot be answered, or not be gone on after: the connection is closed. */
export class ProtocolError extends Error {
  /** What the client is told first, where there is a way to tell it. */
  readonly code: number | undefined;

  constructor(text: string, code?: number) {
    super(text);
    this.code = code;
  }
}

export interface Header {
  readonly length: number;
  readonly requestId: number;
  readonly opcode: number;
}
/** An array of the command that came in a section of its own. */
export interface Sequence {
  readonly name: string;
  readonly documents: readonly Buffer[];
}
export interface Request {
  readonly requestId: number;
  readonly kind: 'message' | 'query';
  readonly body: Buffer;
  readonly sequences: readonly Sequence[];
  /** The client waits for no reply, and must get none. */
  readonly isSilent: boolean;
  /** The client takes further replies without asking again. */
  readonly takesMore: boolean;
  /** Of an OP_QUERY, the database it was sent to. */
  readonly database: string | undefined;
}

export function readHeader(bytes: Buffer): Header {
  return {
    length: bytes.readInt32LE(0),
    requestId: bytes.readInt32LE(4),
    opcode: bytes.readInt32LE(12),
  };
}

/** `bytes` is the whole message with its header. */
export function readRequest(opcode: number, requestId: number, bytes: Buffer): Request {
  if (opcode === Op.message) return readMessage(requestId, bytes);
  if (opcode === Op.query) return readQuery(requestId, bytes);
  throw new ProtocolError(`the opcode ${opcode} is not served`);
}

/** One document in a section of kind 0. */
/** A document, and fields that are to stand at its end: put together where they are sent. */
export interface Answer {
  readonly document: Uint8Array;
  /** As in a document, without its length and end. */
  readonly tail?: Uint8Array | undefined;
}

export function writeMessage(
  requestId: number,
  responseTo: number,
  answer: Answer,
  hasMore = false,
): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + 5 + lengthOf(answer));
  writeHeader(bytes, requestId, responseTo, Op.message);
  bytes.writeInt32LE(hasMore ? Flag.moreToCome : 0, HEADER_BYTES);
  bytes[HEADER_BYTES + 4] = 0;
  writeAnswer(bytes, HEADER_BYTES + 5, answer);
  return bytes;
}

function lengthOf({ document, tail }: Answer): number {
  return document.length + (tail?.length ?? 0);
}

function writeAnswer(bytes: Buffer, at: number, { document, tail }: Answer): void {
  bytes.set(document, at);
  if (!tail) return;
  const end = at + document.length - 1;
  bytes.set(tail, end);
  bytes[end + tail.length] = 0;
  bytes.writeInt32LE(document.length + tail.length, at);
}

const AWAIT_CAPABLE = 8;

export function writeReply(requestId: number, responseTo: number, answer: Answer): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES + 20 + lengthOf(answer));
  writeHeader(bytes, requestId, responseTo, Op.reply);
  bytes.writeInt32LE(AWAIT_CAPABLE, HEADER_BYTES);
  bytes.writeInt32LE(1, HEADER_BYTES + 16);
  writeAnswer(bytes, HEADER_BYTES + 20, answer);
  return bytes;
}

export function writeHeader(
  bytes: Buffer,
  requestId: number,
  responseTo: number,
  opcode: number,
): void {
  bytes.writeInt32LE(bytes.length, 0);
  bytes.writeInt32LE(requestId, 4);
  bytes.writeInt32LE(responseTo, 8);
  bytes.writeInt32LE(opcode, 12);
}

function readMessage(requestId: number, bytes: Buffer): Request {
  if (bytes.length < HEADER_BYTES + 4) throw new ProtocolError('a message without flags');
  const flags = bytes.readUInt32LE(HEADER_BYTES);
  const unknown = flags & REQUIRED_FLAGS & ~(Flag.checksum | Flag.moreToCome);
  if (unknown !== 0) {
    throw new ProtocolError(`Message contains illegal flags value: Ob${flags.toString(2)}`, 223);
  }
  let end = bytes.length;
  if ((flags & Flag.checksum) !== 0) end = checkedEnd(bytes);
  let body: Buffer | undefined;
  const sequences: Sequence[] = [];
  for (let at = HEADER_BYTES + 4; at < end; ) {
    const kind = bytes[at];
    at += 1;
    if (kind === 0) {
      if (body) throw new ProtocolError('a message with two commands');
      body = documentAt(bytes, at, end);
      at += body.length;
    } else if (kind === 1) {
      const { sequence, next } = readSequence(bytes, at, end);
      sequences.push(sequence);
      if (sequences.length > SEQUENCES_MAX) throw new ProtocolError('too many sections');
      at = next;
    } else throw new ProtocolError(`a section of the unknown kind ${kind}`);
  }
  if (!body) throw new ProtocolError('a message without a command');
  const isSilent = (flags & Flag.moreToCome) !== 0;
  const takesMore = (flags & Flag.exhaustAllowed) !== 0;
  return { requestId, kind: 'message', body, sequences, isSilent, takesMore, database: undefined };
}

const CHECKSUM_BYTES = 4;

function checkedEnd(bytes: Buffer): number {
  const end = bytes.length - CHECKSUM_BYTES;
  if (end < HEADER_BYTES + 4) throw new ProtocolError('a message too short for its checksum');
  if (bytes.readUInt32LE(end) !== crc32c(bytes.subarray(0, end))) {
    throw new ProtocolError('a message with a wrong checksum');
  }
  return end;
}

function readSequence(
  bytes: Buffer,
  start: number,
  end: number,
): { readonly sequence: Sequence; readonly next: number } {
  if (start + 4 > end) throw new ProtocolError('a section without a size');
  const next = start + bytes.readInt32LE(start);
  if (next < start + 5 || next > end) throw new ProtocolError('a section of a wrong size');
  const nameEnd = bytes.indexOf(0, start + 4);
  if (nameEnd < 0 || nameEnd >= next) throw new ProtocolError('a section without a name');
  const name = bytes.toString('utf8', start + 4, nameEnd);
  const documents: Buffer[] = [];
  for (let at = nameEnd + 1; at < next; ) {
    const document = documentAt(bytes, at, next);
    documents.push(document);
    at += document.length;
  }
  return { sequence: { name, documents }, next };
}

function readQuery(requestId: number, bytes: Buffer): Request {
  const nameEnd = bytes.indexOf(0, HEADER_BYTES + 4);
  if (nameEnd < 0) throw new ProtocolError('a query without a collection');
  const [database = ''] = bytes.toString('utf8', HEADER_BYTES + 4, nameEnd).split('.', 1);
  const body = documentAt(bytes, nameEnd + 9, bytes.length);
  const [isSilent, takesMore] = [false, false];
  return { requestId, kind: 'query', body, sequences: [], isSilent, takesMore, database };
}

/** Only its outline is checked here: a length that fits, and the zero at its end. */
function documentAt(bytes: Buffer, at: number, end: number): Buffer {
  if (at + DOCUMENT_BYTES_MIN > end) throw new ProtocolError('a document that is cut short');
  const length = bytes.readInt32LE(at);
  if (length < DOCUMENT_BYTES_MIN || at + length > end || length > COMMAND_BYTES_MAX) {
    throw new ProtocolError(`a document of ${length} bytes`);
  }
  if (bytes[at + length - 1] !== 0) throw new ProtocolError('a document without an end');
  return bytes.subarray(at, at + length);
}
