// What became of the operations of a batch, as JSON or as rows: the form the request had.
import type { StepResult } from '../documents/batch.js';
import { retryAfterMs } from '../throughput/throttled.js';
import { writeAnswers } from './hybrid-row/batch-rows.js';
import { chargeText } from './reply.js';

export interface OperationAnswer {
  readonly status: number;
  readonly subStatus: number;
  readonly charge: number;
  readonly etag: string | undefined;
  readonly body: Uint8Array | undefined;
  readonly message: string | undefined;
  readonly retryAfterMs: number | undefined;
}
export type BatchForm = 'json' | 'rows';

export function answerOf(result: StepResult, charge: number, minimal: boolean): OperationAnswer {
  const answer = (status: number, etag?: string, body?: Uint8Array): OperationAnswer => ({
    ...{ status, subStatus: 0, charge, etag, body },
    message: undefined,
    retryAfterMs: undefined,
  });
  switch (result.kind) {
    case 'written': {
      const { item, created } = result;
      return answer(created ? 201 : 200, item.etag, minimal ? undefined : item.doc.bytes);
    }
    case 'read':
      return answer(result.item ? 200 : 304, result.etag, result.item?.doc.bytes);
    case 'deleted':
      return answer(204);
    case 'refused': {
      const { error } = result;
      return {
        ...answer(error.kind.status),
        subStatus: error.kind.subStatus,
        message: error.message,
        retryAfterMs: retryAfterMs(error),
      };
    }
  }
}

export function answersBody(form: BatchForm, answers: readonly OperationAnswer[]): Buffer {
  if (form === 'rows') return writeAnswers(answers);
  const pieces = answers.flatMap((answer, index) => [
    Buffer.from(index === 0 ? '[' : ','),
    ...jsonPieces(answer),
  ]);
  return Buffer.concat([...pieces, Buffer.from(']')]);
}

/** The JSON of one answer; stored bytes are put in as they are. */
function jsonPieces(answer: OperationAnswer): readonly Uint8Array[] {
  const { status, subStatus, charge, etag, body, message, retryAfterMs } = answer;
  const start = `{"statusCode":${status},"subStatusCode":${subStatus},"requestCharge":${chargeText(charge)}`;
  if (message !== undefined) {
    const wait = retryAfterMs === undefined ? '' : `,"retryAfterMilliseconds":${retryAfterMs}`;
    const text = JSON.stringify(message);
    return [Buffer.from(`${start},"eTag":null,"resourceBody":null,"message":${text}${wait}}`)];
  }
  const tagged = etag === undefined ? start : `${start},"eTag":${JSON.stringify(etag)}`;
  if (!body) return [Buffer.from(`${tagged}}`)];
  return [Buffer.from(`${tagged},"resourceBody":`), body, Buffer.from('}')];
}
