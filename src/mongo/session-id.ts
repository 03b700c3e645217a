// The session a command belongs to.
import { Binary, isDocument } from '../value/bson/value.js';
import { mongoFailure } from '../value/mongo-errors.js';
import type { Call } from './call.js';

/** Its id as hex. */
export function sessionOf({ command }: Call): string | undefined {
  const lsid = command.get('lsid');
  if (lsid === undefined) return undefined;
  const id = isDocument(lsid) ? lsid.get('id') : undefined;
  if (id instanceof Binary) return Buffer.from(id.bytes).toString('hex');
  throw mongoFailure('InvalidOptions', "'lsid' must be a document with a UUID named 'id'");
}
