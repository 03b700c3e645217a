// What a document is sorted by where several paths lead through one array: the elements count
// together, as an index over these paths would hold them, and not each path by itself.
import { type Document, isArray, isDocument, UNDEFINED, type Value } from '../value/bson/value.js';
import { mongoFailure } from '../value/mongo-errors.js';

/** All tuples of values; paths that are undefined have null. */
export function tuplesOf(
  document: Document,
  paths: readonly (readonly string[] | undefined)[],
): readonly (readonly Value[])[] {
  const fixed: Value[] = paths.map(() => null);
  let through: Through | undefined;
  paths.forEach((path, at) => {
    const found = path && reach(document, path);
    if (!found) return;
    if (!('array' in found)) {
      fixed[at] = found.value;
      return;
    }
    if (through && through.array !== found.array) {
      throw mongoFailure('BadValue', 'cannot sort with keys that are parallel arrays');
    }
    through ??= { array: found.array, rests: paths.map(() => undefined) };
    through.rests[at] = found.rest;
  });
  return through ? expanded(through, fixed) : [fixed];
}

interface Through {
  readonly array: readonly Value[];
  readonly rests: (readonly string[] | undefined)[];
}
type Found =
  | { readonly value: Value }
  | { readonly array: readonly Value[]; readonly rest: readonly string[] };

/** Down to a value, or to the first array that is not entered by a position. */
function reach(document: Document, path: readonly string[]): Found {
  let value: Value | undefined = document;
  for (let step = 0; step < path.length; step++) {
    const name = path[step] as string;
    if (isDocument(value)) value = value.get(name);
    else if (isArray(value) && /^\d{1,9}$/.test(name) && Number(name) < value.length) {
      value = value[Number(name)];
    } else if (isArray(value)) return { array: value, rest: path.slice(step) };
    else return { value: null };
  }
  return isArray(value) ? { array: value, rest: [] } : { value: value ?? null };
}

function expanded(
  { array, rests }: Through,
  fixed: readonly Value[],
): readonly (readonly Value[])[] {
  const withValues = (values: readonly Value[]) =>
    fixed.map((value, at) => (rests[at] ? (values[at] ?? null) : value));
  if (array.length === 0) {
    return [withValues(rests.map((rest) => (rest?.length === 0 ? UNDEFINED : null)))];
  }
  return array.flatMap((element) => {
    const below = isDocument(element)
      ? tuplesOf(
          element,
          rests.map((rest) => (rest && rest.length > 0 ? rest : undefined)),
        )
      : [rests.map(() => null)];
    return below.map((values) =>
      withValues(values.map((value, at) => (rests[at]?.length === 0 ? element : value))),
    );
  });
}
