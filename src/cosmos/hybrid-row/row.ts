// Rows in HybridRow, the binary form that some clients use for batches: as much of it as flat rows
// with a known layout need. All numbers are little-endian.
//
//   1  version, 81          4  schema id
//   …  presence: one bit for each fixed column that may be missing and each variable one, from the
//      lowest bit of the first byte on
//   …  fixed columns, each at its place whether it is there or not
//   …  variable columns that are there: length as a varint, then the value
//   …  sparse columns: type code, path, value; in any order, up to the end of the row
//
// A varint has seven bits per byte, the lowest first; the high bit says that more follow. A path is
// a varint: below the count of tokens it is the number of a column, counted from 1 over fixed,
// variable and sparse ones; from there on it is a length more than that count, and a name follows.
import { failure, type MayflyError } from '../../value/errors.js';

export const HYBRID_ROW_VERSION = 0x81;
export const HEADER_BYTES = 5;

type ColumnType = 'int32' | 'uint32' | 'float64' | 'bool' | 'utf8' | 'binary';
export type CellValue = number | boolean | string | Uint8Array;
export type Cells = Readonly<Record<string, CellValue | undefined>>;
type Column = readonly [name: string, type: ColumnType];

export interface Layout {
  readonly schemaId: number;
  readonly fixed: readonly Column[];
  /** Whether fixed columns may be missing, and have presence bits. */
  readonly nullable: boolean;
  readonly variable: readonly Column[];
  readonly sparse: readonly Column[];
}

const FIXED_BYTES = { int32: 4, uint32: 4, float64: 8 } as const;
const VARINT_BYTES_MAX = 5;
/** Type codes of sparse columns; a boolean is its code. */
const CODES = { int32: 7, uint32: 11, float64: 16, utf8: 20, binary: 21, false: 2, true: 3 };

export function encodeRow(layout: Layout, cells: Cells): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header[0] = HYBRID_ROW_VERSION;
  header.writeInt32LE(layout.schemaId, 1);
  const presence = Buffer.alloc(presenceBytes(layout));
  presentColumns(layout).forEach(([name], bit) => {
    if (cells[name] !== undefined)
      presence[bit >> 3] = (presence[bit >> 3] ?? 0) | (1 << (bit & 7));
  });
  const pieces: Uint8Array[] = [header, presence];
  for (const [name, type] of layout.fixed) pieces.push(plainValue(type, cells[name] ?? 0));
  for (const [name, type] of layout.variable) {
    const value = cells[name];
    if (value !== undefined) pieces.push(plainValue(type, value));
  }
  for (const [name, type] of layout.sparse) {
    const value = cells[name];
    if (value === undefined) continue;
    const code = type === 'bool' ? CODES[value ? 'true' : 'false'] : CODES[type];
    pieces.push(Buffer.of(code), varint(tokenOf(layout, name)), plainValue(type, value));
  }
  return Buffer.concat(pieces);
}

/** Reads a whole row; sparse columns that the layout does not know keep their names. */
export function decodeRow(layout: Layout, row: Buffer): Record<string, CellValue> {
  const reader = new RowReader(row);
  const schemaId = reader.header();
  if (schemaId !== layout.schemaId) throw malformed(`a row has the schema ${schemaId}`);
  const presence = reader.take(presenceBytes(layout));
  const columns = presentColumns(layout);
  const isPresent = (name: string): boolean => {
    const bit = columns.findIndex(([each]) => each === name);
    return bit < 0 || ((presence[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0;
  };
  const cells: Record<string, CellValue> = {};
  for (const [name, type] of layout.fixed) {
    const value = reader.value(type);
    if (isPresent(name)) cells[name] = value;
  }
  for (const [name, type] of layout.variable) {
    if (isPresent(name)) cells[name] = reader.value(type);
  }
  while (!reader.isDone) {
    const code = reader.take(1)[0] ?? 0;
    const name = reader.path(layout);
    cells[name] = reader.sparse(code, name);
  }
  return cells;
}

export class RowReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isDone(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** The schema id behind the version. */
  header(): number {
    const version = this.take(1)[0];
    if (version !== HYBRID_ROW_VERSION) throw malformed(`a row has the version ${version}`);
    return this.take(4).readInt32LE();
  }

  take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw malformed('it ends in the middle');
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  value(type: ColumnType): CellValue {
    switch (type) {
      case 'int32':
        return this.take(FIXED_BYTES.int32).readInt32LE();
      case 'uint32':
        return this.take(FIXED_BYTES.uint32).readUInt32LE();
      case 'float64':
        return this.take(FIXED_BYTES.float64).readDoubleLE();
      case 'utf8':
        return textOf(this.take(this.varint()));
      case 'binary':
        return this.take(this.varint());
      case 'bool':
        throw new Error('a boolean is in its type code');
    }
  }

  sparse(code: number, name: string): CellValue {
    if (code === CODES.false || code === CODES.true) return code === CODES.true;
    const type = (['int32', 'uint32', 'float64', 'utf8', 'binary'] as const).find(
      (each) => CODES[each] === code,
    );
    if (!type) throw malformed(`'${name}' has the type ${code}`);
    return this.value(type);
  }

  path(layout: Layout): string {
    const names = namesOf(layout);
    const token = this.varint();
    const tokens = names.length + 1;
    if (token >= tokens) return textOf(this.take(token - tokens));
    const name = names[token - 1];
    if (name === undefined) throw malformed('a column has no name');
    return name;
  }

  varint(): number {
    let value = 0;
    for (let index = 0; index < VARINT_BYTES_MAX; index++) {
      const byte = this.take(1)[0] ?? 0;
      value += (byte & 0x7f) * 2 ** (7 * index);
      if (byte < 0x80) return value;
    }
    throw malformed('a length is too long');
  }
}

export function malformed(why: string): MayflyError {
  return failure('invalidInput', { why: `The body is no batch in HybridRow: ${why}.` });
}

function plainValue(type: ColumnType, value: CellValue): Uint8Array {
  switch (type) {
    case 'bool':
      return Buffer.alloc(0);
    case 'utf8':
    case 'binary': {
      const bytes = typeof value === 'string' ? Buffer.from(value) : (value as Uint8Array);
      return Buffer.concat([varint(bytes.length), bytes]);
    }
    default: {
      const bytes = Buffer.alloc(FIXED_BYTES[type]);
      if (type === 'int32') bytes.writeInt32LE(Number(value));
      else if (type === 'uint32') bytes.writeUInt32LE(Number(value));
      else bytes.writeDoubleLE(Number(value));
      return bytes;
    }
  }
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  while (left >= 0x80) {
    bytes.push((left & 0x7f) | 0x80);
    left = Math.floor(left / 0x80);
  }
  return Buffer.from([...bytes, left]);
}

function presentColumns({ fixed, nullable, variable }: Layout): readonly Column[] {
  return nullable ? [...fixed, ...variable] : variable;
}

function presenceBytes(layout: Layout): number {
  return Math.ceil(presentColumns(layout).length / 8);
}

function namesOf({ fixed, variable, sparse }: Layout): readonly string[] {
  return [...fixed, ...variable, ...sparse].map(([name]) => name);
}

function tokenOf(layout: Layout, name: string): number {
  return namesOf(layout).indexOf(name) + 1;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw malformed('a text is no UTF-8');
  }
}
