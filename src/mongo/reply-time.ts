// The times that replies end with, as those of replica sets do: clients hand them back to read what
// they wrote, and begin change streams at them. One server is always up to date, so what comes back
// asks nothing more of it.
import { Binary, type Bytes, documentOf, Timestamp } from '../value/bson/value.js';
import { encodeDocument } from '../value/bson/write.js';
import type { Call } from './call.js';
import { personalityOf } from './commands/hello.js';
import { timestampOf } from './stream/cluster-time.js';

const NEVER = new Timestamp(0, 0);
/** Nobody signs, as on a server without keys. */
const SIGNATURE = documentOf({ hash: new Binary(0, Buffer.alloc(20)), keyId: 0n });
const FIELDS = Buffer.from(
  encodeDocument(
    documentOf({
      operationTime: NEVER,
      $clusterTime: documentOf({ clusterTime: NEVER, signature: SIGNATURE }),
    }),
  ),
);
/** Without length and end, which are those of the reply. */
const TAIL = FIELDS.subarray(4, -1);
const OPERATION_TIME = 1 + 'operationTime'.length + 1;
const CLUSTER_TIME =
  OPERATION_TIME + 8 + 1 + '$clusterTime'.length + 1 + 4 + 1 + 'clusterTime'.length + 1;

export function withTimes(reply: Bytes, call: Call): Bytes {
  if (personalityOf(call) === 'standalone') return reply;
  const bytes = Buffer.allocUnsafe(reply.length + TAIL.length);
  const tail = reply.length - 1;
  bytes.set(reply, 0);
  bytes.set(TAIL, tail);
  bytes.writeInt32LE(bytes.length, 0);
  bytes[bytes.length - 1] = 0;
  const { seconds, increment } = timestampOf(call.at, 0);
  for (const at of [tail + OPERATION_TIME, tail + CLUSTER_TIME]) {
    bytes.writeUInt32LE(increment, at);
    bytes.writeUInt32LE(seconds, at + 4);
  }
  return bytes;
}
