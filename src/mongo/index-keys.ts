// The keys that an index has of a document. An array at the end of a path, or on the way, is each
// of its elements; paths through the same array go through the same element of it.
import { decodeValue, findField, someElement, typeBefore } from '../value/bson/read.js';
import { BsonType } from '../value/bson/types.js';
import type { Bytes, Value } from '../value/bson/value.js';
import { mongoFailure } from '../value/mongo-errors.js';

/** One value for each path of the index. */
export interface IndexKeys {
  readonly values: readonly Value[];
  /** Of none of the paths is there anything. */
  readonly isMissing: boolean;
}

/** What is missing is null; an array without elements is itself, and no null. */
export function indexKeys(paths: readonly string[]): (document: Bytes) => readonly IndexKeys[] {
  const begin = paths.map((path) => path.split('.').map((name) => Buffer.from(name)));
  return (document) => {
    const keys: IndexKeys[] = [];
    const places = begin.map((names): Place => ({ names, step: 0, at: 0 }));
    expand(document, paths, places, keys);
    return keys;
  };
}

/** Where a path has come to: a document, an array, a value, or nothing. */
type Place = Open | { readonly array: number; readonly names: Names; readonly step: number } | Done;
interface Open {
  readonly names: Names;
  readonly step: number;
  readonly at: number;
}
interface Done {
  readonly value: Value;
  readonly isMissing: boolean;
}
type Names = readonly Bytes[];

const MISSING: Done = { value: null, isMissing: true };

function expand(
  bytes: Bytes,
  paths: readonly string[],
  places: readonly Place[],
  keys: IndexKeys[],
): void {
  const ahead = places.map((place) => ('at' in place ? follow(bytes, place) : place));
  const first = ahead.findIndex((place) => 'array' in place);
  const stop = ahead[first];
  if (!stop || !('array' in stop)) {
    const done = ahead as readonly Done[];
    keys.push({
      values: done.map(({ value }) => value),
      isMissing: done.every(({ isMissing }) => isMissing),
    });
    return;
  }
  const other = ahead.findIndex((place) => 'array' in place && place.array !== stop.array);
  if (other >= 0) {
    throw mongoFailure(
      'CannotIndexParallelArrays',
      `cannot index parallel arrays [${lastName(paths[other])}] [${lastName(paths[first])}]`,
    );
  }
  const into = (enter: (names: Names, step: number) => Place) =>
    ahead.map((place) => ('array' in place ? enter(place.names, place.step) : place));
  let isEmpty = true;
  someElement(bytes, stop.array, (type, at) => {
    isEmpty = false;
    const next = into((names, step) => {
      if (step === names.length) return { value: decodeValue(bytes, type, at), isMissing: false };
      return type === BsonType.object ? { names, step, at } : MISSING;
    });
    expand(bytes, paths, next, keys);
    return false;
  });
  if (!isEmpty) return;
  const ended = { value: [], isMissing: false };
  expand(
    bytes,
    paths,
    into((names, step) => (step === names.length ? ended : MISSING)),
    keys,
  );
}

function follow(bytes: Bytes, place: Open): Place {
  const { names } = place;
  let { step, at } = place;
  for (;;) {
    const name = names[step];
    if (!name) throw new Error('a path ends at a value');
    const found = findField(bytes, at, name);
    if (found < 0) return MISSING;
    const type = typeBefore(bytes, found, name);
    step += 1;
    if (type === BsonType.array) return { array: found, names, step };
    if (step === names.length) return { value: decodeValue(bytes, type, found), isMissing: false };
    if (type !== BsonType.object) return MISSING;
    at = found;
  }
}

function lastName(path = ''): string {
  return path.slice(path.lastIndexOf('.') + 1);
}
