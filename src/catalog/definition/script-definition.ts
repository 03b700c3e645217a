// What a stored procedure, trigger or user-defined function is defined by. Whether its body is
// JavaScript is for the sandbox to say.
import { failure } from '../../value/errors.js';

export interface ScriptBody {
  readonly body: string;
}
/** The words are kept as they were written, and read without regard to case. */
export interface TriggerBody extends ScriptBody {
  readonly triggerType: string;
  readonly triggerOperation: string;
}

/** In bytes of UTF-8. */
const BODY_BYTES_MAX = 512 * 1024;
const TRIGGER_TYPES = ['Pre', 'Post'];
const TRIGGER_OPERATIONS = ['All', 'Create', 'Replace', 'Update', 'Upsert', 'Delete'];

export function readScript(value: Readonly<Record<string, unknown>>): ScriptBody {
  const { body } = value;
  if (body === undefined) throw failure('missingProperty', { name: 'body' });
  if (typeof body !== 'string' || body.trim() === '') {
    throw failure('scriptBodyInvalid', { why: 'The body must be the text of a function.' });
  }
  const bytes = Buffer.byteLength(body);
  if (bytes > BODY_BYTES_MAX) throw failure('tooLarge', { bytes, limit: BODY_BYTES_MAX });
  return { body };
}

export function readTrigger(value: Readonly<Record<string, unknown>>): TriggerBody {
  return {
    ...readScript(value),
    triggerType: oneOf(value, 'triggerType', TRIGGER_TYPES),
    triggerOperation: oneOf(value, 'triggerOperation', TRIGGER_OPERATIONS),
  };
}

function oneOf(
  value: Readonly<Record<string, unknown>>,
  name: string,
  words: readonly string[],
): string {
  const given = value[name];
  if (given === undefined) throw failure('missingProperty', { name });
  const isKnown = words.some((word) => word.toLowerCase() === String(given).toLowerCase());
  if (typeof given === 'string' && isKnown) return given;
  const why = `The ${name} must be one of ${words.join(', ')}, not ${JSON.stringify(given)}.`;
  throw failure('invalidInput', { why });
}
