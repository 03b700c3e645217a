// configureFailPoint: only on servers that were started for tests.
import { documentOf, int32 } from '../../value/bson/value.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import type { Call, Reply } from '../call.js';
import { checkFields, documentOfField, textOf } from '../fields.js';

export function configureFailPoint(call: Call): Reply {
  const { failPoint } = call.mongo;
  if (!failPoint) {
    throw mongoFailure('CommandNotFound', "no such command: 'configureFailPoint'");
  }
  checkFields(call, ['mode', 'data']);
  const name = textOf(call, 'configureFailPoint');
  if (name !== 'failCommand') {
    throw mongoFailure('FailPointSetFailed', `the fail point ${name} is not known here`);
  }
  const count = failPoint.configure(call.command.get('mode'), documentOfField(call, 'data'));
  return documentOf({ count: int32(count) });
}
