// Reading the fields of a definition that a client sent: each reader returns the value with its
// type, or refuses it with a message naming the field, the value and the rule. Null means absent.
import { failure, type MayflyError } from '../../value/errors.js';

export type Fields = Readonly<Record<string, unknown>>;

export const TEXT_CHARACTERS_MAX = 4096;
/** The limit of the service for indexed paths, and ours for lists whose limit it does not tell. */
export const LIST_ENTRIES_MAX = 1500;
/** The depth documents may have; definitions share it, so that no reader exhausts the stack. */
const NESTING_MAX = 128;
const SHOWN_CHARACTERS_MAX = 80;

export function refuse(why: string): MayflyError {
  return failure('definitionInvalid', { why });
}

export function invalid(where: string, value: unknown, rule: string): MayflyError {
  if (value === undefined || value === null) return refuse(`'${where}' is missing: ${rule}`);
  return refuse(`The value ${shown(value)} of '${where}' is invalid: ${rule}`);
}

/** The body of a request: a JSON object that is not nested beyond reason. */
export function asBody(value: unknown): Fields {
  if (!isObject(value)) throw failure('invalidJson', { why: 'The body must be a JSON object.' });
  checkNesting(value, 1);
  return value;
}

/** Own properties only, so that no name finds anything in the prototype. */
export function field(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? (fields[name] ?? undefined) : undefined;
}

/** A setting that would not act is refused, not forgotten; one that is null asks for nothing. */
export function refuseUnknown(fields: Fields, where: string, known: readonly string[]): void {
  const unknown = Object.keys(fields).find(
    (name) => !known.includes(name) && field(fields, name) !== undefined,
  );
  if (unknown === undefined) return;
  throw refuse(`'${clip(unknown)}' is not a property of '${where}'. Known: ${known.join(', ')}.`);
}

export function asObject(value: unknown, where: string): Fields {
  if (isObject(value)) return value;
  throw invalid(where, value, 'it must be an object.');
}

export function asArray(
  value: unknown,
  where: string,
  lengthMax = LIST_ENTRIES_MAX,
): readonly unknown[] {
  if (!Array.isArray(value)) throw invalid(where, value, 'it must be an array.');
  if (value.length <= lengthMax) return value;
  throw refuse(`'${where}' has ${value.length} entries; the maximum is ${lengthMax}.`);
}

/** An array that need not be there. */
export function asList(
  value: unknown,
  where: string,
  lengthMax = LIST_ENTRIES_MAX,
): readonly unknown[] {
  return value === undefined ? [] : asArray(value, where, lengthMax);
}

export function asString(
  value: unknown,
  where: string,
  charactersMax = TEXT_CHARACTERS_MAX,
): string {
  if (typeof value !== 'string') throw invalid(where, value, 'it must be a string.');
  if (value.length <= charactersMax) return value;
  throw refuse(`'${where}' has ${value.length} characters; the maximum is ${charactersMax}.`);
}

export function asBoolean(value: unknown, where: string): boolean {
  if (typeof value === 'boolean') return value;
  throw invalid(where, value, 'it must be true or false.');
}

export function asNumber(value: unknown, where: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw invalid(where, value, 'it must be a number.');
}

export function isInteger(value: unknown, min: number, max: number): value is number {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
}

/** Spelled in any case by clients, stored in ours. */
export function asChoice<T extends string>(value: unknown, where: string, all: readonly T[]): T {
  const chosen = choose(value, all);
  if (chosen !== undefined) return chosen;
  throw invalid(where, value, `it must be one of ${all.join(', ')}.`);
}

export function choose<T extends string>(value: unknown, all: readonly T[]): T | undefined {
  if (typeof value !== 'string') return undefined;
  return all.find((choice) => choice.toLowerCase() === value.toLowerCase());
}

/** The first entry whose key came before; undefined when all keys differ. */
export function firstRepeated<T>(entries: readonly T[], key: (entry: T) => string): T | undefined {
  const seen = new Set<string>();
  for (const entry of entries) {
    const text = key(entry);
    if (seen.has(text)) return entry;
    seen.add(text);
  }
  return undefined;
}

/** Normal forms are built by our own literals, so equal ones have equal text. */
export function sameForm(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Leaves out what is undefined, so that the stored form has only properties that say something. */
export function present<T extends object>(form: T): Present<T> {
  const entries = Object.entries(form).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Present<T>;
}
type Present<T> = {
  readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

export function clip(text: string): string {
  if (text.length <= SHOWN_CHARACTERS_MAX) return text;
  return `${text.slice(0, SHOWN_CHARACTERS_MAX)}…`;
}

export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(clip(value));
  if (Array.isArray(value)) return 'an array';
  return isObject(value) ? 'an object' : String(value);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function checkNesting(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > NESTING_MAX) throw failure('nestingTooDeep', { limit: NESTING_MAX });
  for (const inner of Object.values(value)) checkNesting(inner, depth + 1);
}
