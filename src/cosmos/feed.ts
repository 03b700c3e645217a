// Feeds of catalog resources: a page of a cached list, continued after the last serial that was
// shown.
import { decodeContinuation, encodeContinuation } from '../documents/continuation.js';
import { DEFINITION_READ_CHARGE } from '../throughput/charges.js';
import { failure } from '../value/errors.js';
import { feedReply, type Reply } from './reply.js';
import { type CosmosRequest, pageOf } from './request.js';

const SERIAL_BYTES = 6;

export function catalogFeed<R extends { readonly serial: number }>(
  request: CosmosRequest,
  envelope: string,
  parentRid: string,
  resources: readonly R[],
  toJson: (resource: R) => unknown,
): Reply {
  const { itemsMax, continuation } = pageOf(request.headers);
  const tag = `${envelope} ${parentRid}`;
  const after = continuation === undefined ? 0 : serialIn(decodeContinuation(continuation, tag));
  const left = resources
    .filter((resource) => resource.serial > after)
    .sort((a, b) => a.serial - b.serial);
  const page = left.slice(0, itemsMax);
  const last = left.length > page.length ? page.at(-1) : undefined;
  const next = last && encodeContinuation(serialBytes(last.serial), tag);
  return feedReply(envelope, parentRid, page.map(toJson), DEFINITION_READ_CHARGE, next);
}

function serialBytes(serial: number): Buffer {
  const bytes = Buffer.alloc(SERIAL_BYTES);
  bytes.writeUIntBE(serial, 0, SERIAL_BYTES);
  return bytes;
}

function serialIn(bytes: Uint8Array): number {
  if (bytes.length !== SERIAL_BYTES) throw failure('invalidContinuation');
  return Buffer.from(bytes).readUIntBE(0, SERIAL_BYTES);
}
