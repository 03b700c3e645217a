// Operations of a batch and their results as rows.
import { type Parsed, parseJson } from '../../value/json.js';
import type { OperationAnswer } from '../batch-answer.js';
import { jsonText } from '../binary-json/decode.js';
import { readRecords, writeRecords } from './record-io.js';
import { type CellValue, decodeRow, encodeRow, type Layout } from './row.js';

const OPERATION: Layout = {
  schemaId: 2_145_473_648,
  fixed: [
    ['operationType', 'int32'],
    ['resourceType', 'int32'],
  ],
  nullable: true,
  variable: [
    ['partitionKey', 'utf8'],
    ['effectivePartitionKey', 'binary'],
    ['id', 'utf8'],
    ['binaryId', 'binary'],
    ['resourceBody', 'binary'],
  ],
  sparse: [
    ['indexingDirective', 'utf8'],
    ['ifMatch', 'utf8'],
    ['ifNoneMatch', 'utf8'],
    ['timeToLiveInSeconds', 'int32'],
    ['minimalReturnPreference', 'bool'],
  ],
};
const RESULT: Layout = {
  schemaId: 2_145_473_649,
  fixed: [
    ['statusCode', 'int32'],
    ['subStatusCode', 'int32'],
  ],
  nullable: true,
  variable: [
    ['eTag', 'utf8'],
    ['resourceBody', 'binary'],
  ],
  sparse: [
    ['retryAfterMilliseconds', 'uint32'],
    ['requestCharge', 'float64'],
  ],
};
const OPERATION_TYPES: Readonly<Record<number, string>> = {
  0: 'Create',
  1: 'Patch',
  2: 'Read',
  4: 'Delete',
  5: 'Replace',
  20: 'Upsert',
};

/** The operations as if they had come as JSON, so that one reading serves both forms. */
export function readOperations(body: Buffer): readonly Parsed[] {
  return readRecords(body).map((row) => operationIn(decodeRow(OPERATION, row)));
}

export function writeAnswers(answers: readonly OperationAnswer[]): Buffer {
  return writeRecords(
    answers.map((answer) =>
      encodeRow(RESULT, {
        statusCode: answer.status,
        subStatusCode: answer.subStatus,
        eTag: answer.etag,
        resourceBody: answer.body,
        retryAfterMilliseconds: answer.retryAfterMs,
        requestCharge: answer.charge,
      }),
    ),
  );
}

function operationIn(cells: Readonly<Record<string, CellValue>>): Parsed {
  const { resourceType: _, operationType, resourceBody, ...others } = cells;
  const value: Record<string, unknown> = {
    operationType: OPERATION_TYPES[Number(operationType)] ?? String(operationType),
  };
  for (const [name, cell] of Object.entries(others)) {
    if (name !== 'indexingDirective' || !isUsual(cell)) value[name] = cell;
  }
  const members = JSON.stringify(value).slice(0, -1);
  if (!(resourceBody instanceof Uint8Array)) return { value, text: `${members}}` };
  const body = jsonText(Buffer.from(resourceBody));
  value.resourceBody = parseJson(body);
  return { value, text: `${members},"resourceBody":${body.toString()}}` };
}

/** What items are indexed by anyway; another directive is refused with its operation. */
function isUsual(directive: CellValue): boolean {
  return ['include', 'default'].includes(String(directive).toLowerCase());
}
