// RecordIO: rows one after the other. A segment begins with a row that tells its own length; each
// record is a row with the length and the CRC-32 of the row that follows.
import { crc32 } from 'node:zlib';
import { decodeRow, encodeRow, HEADER_BYTES, type Layout, malformed, RowReader } from './row.js';

const SEGMENT: Layout = {
  schemaId: 2_147_473_648,
  fixed: [['length', 'int32']],
  nullable: true,
  variable: [],
  sparse: [
    ['comment', 'utf8'],
    ['sdl', 'utf8'],
    ['schema', 'binary'],
  ],
};
const RECORD: Layout = {
  schemaId: 2_147_473_649,
  fixed: [
    ['length', 'int32'],
    ['crc32', 'uint32'],
  ],
  nullable: false,
  variable: [],
  sparse: [],
};
/** Version, schema id, presence, length. */
const SEGMENT_BYTES = HEADER_BYTES + 1 + 4;
const RECORD_BYTES = HEADER_BYTES + 4 + 4;

export function writeRecords(rows: readonly Buffer[]): Buffer {
  const pieces: Buffer[] = [encodeRow(SEGMENT, { length: SEGMENT_BYTES })];
  for (const row of rows) {
    pieces.push(encodeRow(RECORD, { length: row.length, crc32: crc32(row) }), row);
  }
  return Buffer.concat(pieces);
}

export function readRecords(body: Buffer): readonly Buffer[] {
  const rows: Buffer[] = [];
  let at = 0;
  while (at < body.length) {
    const schemaId = new RowReader(body.subarray(at)).header();
    if (schemaId === SEGMENT.schemaId) at += segmentBytes(body.subarray(at));
    else if (schemaId === RECORD.schemaId && rows.length + at > 0) {
      const row = recordIn(body.subarray(at));
      rows.push(row);
      at += RECORD_BYTES + row.length;
    } else throw malformed(`a row has the schema ${schemaId}`);
  }
  return rows;
}

/** What a segment says besides its length, a comment or a schema, is not needed. */
function segmentBytes(bytes: Buffer): number {
  const { length } = decodeRow(SEGMENT, new RowReader(bytes).take(SEGMENT_BYTES));
  if (typeof length !== 'number' || length < SEGMENT_BYTES || length > bytes.length) {
    throw malformed(`a segment has the length ${length}`);
  }
  return length;
}

function recordIn(bytes: Buffer): Buffer {
  const reader = new RowReader(bytes);
  const { length, crc32: sum } = decodeRow(RECORD, reader.take(RECORD_BYTES));
  if (typeof length !== 'number' || length < HEADER_BYTES) {
    throw malformed(`a record has the length ${length}`);
  }
  const row = reader.take(length);
  if (crc32(row) !== sum) throw malformed('the checksum of a record is wrong');
  return row;
}
