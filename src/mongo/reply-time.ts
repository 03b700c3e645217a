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

/** The fields themselves, for the end of the reply. */
export function timesOf(call: Call): Bytes | undefined {
  if (personalityOf(call) === 'standalone') return undefined;
  const bytes = Buffer.from(TAIL);
  const { seconds, increment } = timestampOf(call.at, 0);
  for (const at of PLACES) {
    bytes.writeUInt32LE(increment, at);
    bytes.writeUInt32LE(seconds, at + 4);
  }
  return bytes;
}

const PLACES = [OPERATION_TIME, CLUSTER_TIME];
