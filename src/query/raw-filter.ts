// What the bytes of a document tell of a condition before the document is parsed: a text that the
// condition asks for must be somewhere among them. To search them takes a tenth of the time.
import { type Expression, ROOT } from './logical.js';

/** False only where no document with these bytes meets the condition. */
export type RawFilter = (bytes: Buffer) => boolean;

/** Undefined when the bytes tell nothing. */
export function rawFilter(condition: Expression): RawFilter | undefined {
  switch (condition.kind) {
    case 'and':
      return allOf(condition.all.map(rawFilter));
    case 'or':
      return anyOf(condition.all.map(rawFilter));
    case 'compare': {
      if (condition.operator !== '=') return undefined;
      const { left, right } = condition;
      return textIn(left, right, '"', '"') ?? textIn(right, left, '"', '"');
    }
    case 'in':
      return anyOf(condition.list.map((item) => textIn(condition.value, item, '"', '"')));
    case 'call':
      return ofCall(condition);
    default:
      return undefined;
  }
}

/** What stands before and behind the text in the document, by function. */
const SURROUNDED: Readonly<Record<string, readonly [string, string]>> = {
  CONTAINS: ['', ''],
  STARTSWITH: ['"', ''],
  ENDSWITH: ['', '"'],
  STRINGEQUALS: ['"', '"'],
  ARRAY_CONTAINS: ['"', '"'],
};

function ofCall({
  name,
  args: [target, text, third],
}: Extract<Expression, { kind: 'call' }>): RawFilter | undefined {
  const around = Object.hasOwn(SURROUNDED, name) ? SURROUNDED[name] : undefined;
  // A third argument may say that case does not matter.
  if (!around || !target || !text || third) return undefined;
  return textIn(target, text, ...around);
}

function textIn(
  target: Expression,
  text: Expression,
  before: string,
  behind: string,
): RawFilter | undefined {
  if (target.kind !== 'path' || target.slot !== ROOT || text.kind !== 'constant') return undefined;
  const { value } = text;
  if (typeof value !== 'string' || value === '' || !isPlain(value)) return undefined;
  const needle = Buffer.from(`${before}${value}${behind}`);
  return (bytes) => bytes.includes(needle) || bytes.includes(ANY_ESCAPE);
}

/**
 * Documents are stored as they came, and a client may write any character as `\uXXXX`; other
 * escapes are for characters that are not plain.
 */
const ANY_ESCAPE = Buffer.from('\\u');

/** Whether each character is written as itself, if it is not written as `\uXXXX`. */
function isPlain(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes these.
  return !/["\\/\u0000-\u001f\u007f\ud800-\udfff]/.test(text);
}

/** One that says no is enough. */
function allOf(filters: readonly (RawFilter | undefined)[]): RawFilter | undefined {
  const known = filters.filter((filter) => filter !== undefined);
  if (known.length === 0) return undefined;
  return (bytes) => known.every((filter) => filter(bytes));
}

/** All must say no, so all must be there. */
function anyOf(filters: readonly (RawFilter | undefined)[]): RawFilter | undefined {
  const known = filters.filter((filter) => filter !== undefined);
  if (known.length !== filters.length || known.length > ALTERNATIVES_MAX) return undefined;
  return (bytes) => known.some((filter) => filter(bytes));
}

/** Looking for more texts than this takes as long as parsing. */
const ALTERNATIVES_MAX = 8;
