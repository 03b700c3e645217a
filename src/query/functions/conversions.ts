// Functions between values and their JSON text.
import { NESTING_MAX } from '../../value/json.js';
import { type FunctionTable, fn } from '../function.js';

export const conversionFunctions: FunctionTable = {
  TOSTRING: fn<readonly [unknown]>(['any'], ([value]) => textOf(value)),
  STRINGTOARRAY: parser((value) => Array.isArray(value)),
  STRINGTOBOOLEAN: parser((value) => typeof value === 'boolean'),
  STRINGTONULL: parser((value) => value === null),
  /** A number too large for a double would be infinite, which is no JSON. */
  STRINGTONUMBER: parser((value) => Number.isFinite(value)),
  STRINGTOOBJECT: parser(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  ),
};

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  // JSON has no NaN and no infinities; String writes them as words.
  return typeof value === 'number' ? String(value) : JSON.stringify(value);
}

/** Undefined for text of anything but the wanted kind. */
function parser(isWanted: (value: unknown) => boolean) {
  return fn<readonly [string]>(['string'], ([text]) => {
    const value = parse(text);
    return isWanted(value) && isNestedWithin(value, NESTING_MAX) ? value : undefined;
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Other code walks values by recursion and counts on the limit that documents have. */
function isNestedWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isNestedWithin(inner, levels - 1));
}
