// Reading the JSON bodies of the control API: an object with the properties it knows and no others.
import { failure } from '../value/errors.js';
import { parseJson } from '../value/json.js';

export function fieldsOf(
  body: Buffer,
  known: readonly string[],
): Readonly<Record<string, unknown>> {
  const value = parseJson(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw failure('invalidJson', { why: 'The body must be a JSON object.' });
  }
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const why = `The property '${unknown}' is not known here. Known: ${known.join(', ')}.`;
    throw failure('invalidInput', { why });
  }
  return value as Record<string, unknown>;
}
