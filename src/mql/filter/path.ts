// Dotted paths through raw documents, as filters follow them: an array on the way stands for each
// of its documents, and a number may be the position in an array or the name of a field.
import { findField, readInt32, skipValue, typeBefore } from '../../value/bson/read.js';
import { BsonType, MISSING } from '../../value/bson/types.js';
import type { Bytes } from '../../value/bson/value.js';

/** Asked about a value where it lies; the type is MISSING where there is none. */
export type Test = (bytes: Bytes, type: number, at: number) => boolean;

export interface FieldPath {
  readonly text: string;
  readonly names: readonly Bytes[];
  /** The same as positions in an array; -1 for those that are none. */
  readonly indexes: readonly number[];
}

const INDEX = /^(0|[1-9]\d{0,8})$/;

export function fieldPath(text: string): FieldPath {
  const parts = text.split('.');
  return {
    text,
    names: parts.map((part) => Buffer.from(part)),
    indexes: parts.map((part) => (INDEX.test(part) ? Number(part) : -1)),
  };
}

/**
 * The position in the outermost array at which the last test succeeded: what the positional `$`
 * stands for. Matching is synchronous, so one variable serves all.
 */
let position = -1;

export function lastPosition(): number {
  return position;
}

export function forgetPosition(to = -1): void {
  position = to;
}

/**
 * Whether some value at the path passes. With `elements` an array at the end of the path is tried
 * element by element and then as a whole.
 */
export function someAtPath(
  bytes: Bytes,
  document: number,
  path: FieldPath,
  elements: boolean,
  test: Test,
): boolean {
  return someFrom(bytes, document, path, 0, elements, test);
}

function someFrom(
  bytes: Bytes,
  document: number,
  path: FieldPath,
  from: number,
  elements: boolean,
  test: Test,
): boolean {
  const { names } = path;
  const last = names.length - 1;
  let at = document;
  for (let step = from; ; step++) {
    const name = names[step] as Bytes;
    const value = findField(bytes, at, name);
    if (value < 0) return test(bytes, MISSING, 0);
    const type = typeBefore(bytes, value, name);
    if (step === last) return atEnd(bytes, type, value, elements, test);
    if (type === BsonType.array) return someInArray(bytes, value, path, step + 1, elements, test);
    if (type !== BsonType.object) return test(bytes, MISSING, 0);
    at = value;
  }
}

function atEnd(bytes: Bytes, type: number, at: number, elements: boolean, test: Test): boolean {
  if (type === BsonType.array && elements && someOfArray(bytes, at, test)) return true;
  return test(bytes, type, at);
}

/** Whether an element of an array passes; its position is noted. */
export function someOfArray(bytes: Bytes, array: number, test: Test): boolean {
  const end = array + readInt32(bytes, array) - 1;
  let at = array + 4;
  for (let index = 0; at < end; index++) {
    const type = bytes[at] as number;
    let value = at + 1;
    while (bytes[value] !== 0) value++;
    value++;
    if (test(bytes, type, value)) {
      position = index;
      return true;
    }
    at = skipValue(bytes, type, value);
  }
  return false;
}

function someInArray(
  bytes: Bytes,
  array: number,
  path: FieldPath,
  step: number,
  elements: boolean,
  test: Test,
): boolean {
  const wanted = path.indexes[step] as number;
  const isLast = step === path.names.length - 1;
  let index = -1;
  return someOfArray(bytes, array, (_, type, at) => {
    index++;
    if (type === BsonType.object && someFrom(bytes, at, path, step, elements, test)) return true;
    if (index !== wanted) return false;
    if (isLast) return test(bytes, type, at);
    if (type === BsonType.object) return someFrom(bytes, at, path, step + 1, elements, test);
    return type === BsonType.array && fromElement(bytes, at, path, step + 1, elements, test);
  });
}

/** In an array that was reached by position, the next part can only be a position again. */
function fromElement(
  bytes: Bytes,
  array: number,
  path: FieldPath,
  step: number,
  elements: boolean,
  test: Test,
): boolean {
  const wanted = path.indexes[step] as number;
  const isLast = step === path.names.length - 1;
  let index = 0;
  let found = false;
  const passes = someOfArray(bytes, array, (_, type, at) => {
    if (index++ !== wanted) return false;
    found = true;
    if (isLast) return atEnd(bytes, type, at, elements, test);
    if (type === BsonType.array) return someInArray(bytes, at, path, step + 1, elements, test);
    if (type === BsonType.object) return someFrom(bytes, at, path, step + 1, elements, test);
    return test(bytes, MISSING, 0);
  });
  return passes || (!found && test(bytes, MISSING, 0));
}
