// The one total order of values, which queries sort by and keys in the store agree with (key.ts).
//
//   undefined < null < false < true < numbers < strings < arrays < objects

/** Negative, zero or positive, as for `Array.sort`. Takes every JSON value and undefined. */
export function compareValues(a: unknown, b: unknown): number {
  if (a === b) return 0;
  const rank = rankOf(a);
  const difference = rank - rankOf(b);
  if (difference !== 0) return difference;
  switch (rank) {
    case Rank.number:
      return (a as number) < (b as number) ? -1 : 1;
    case Rank.string:
      // JavaScript compares strings by UTF-16 code unit, which is the order wanted.
      return (a as string) < (b as string) ? -1 : 1;
    case Rank.array:
      return compareArrays(a as readonly unknown[], b as readonly unknown[]);
    case Rank.object:
      return compareObjects(a as Properties, b as Properties);
    default:
      return 0;
  }
}

/** The same as `compareValues(a, b) === 0`, but without sorting the property names. */
export function equalValues(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a)) {
    const other = b as readonly unknown[];
    return a.length === other.length && a.every((value, at) => equalValues(value, other[at]));
  }
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every(
    (name) =>
      Object.hasOwn(b, name) && equalValues((a as Properties)[name], (b as Properties)[name]),
  );
}

type Properties = Readonly<Record<string, unknown>>;

const Rank = {
  undefined: 0,
  null: 1,
  false: 2,
  true: 3,
  number: 4,
  string: 5,
  array: 6,
  object: 7,
} as const;

function rankOf(value: unknown): number {
  switch (typeof value) {
    case 'undefined':
      return Rank.undefined;
    case 'boolean':
      return value ? Rank.true : Rank.false;
    case 'number':
      return Rank.number;
    case 'string':
      return Rank.string;
    case 'object':
      if (value === null) return Rank.null;
      return Array.isArray(value) ? Rank.array : Rank.object;
    default:
      throw new TypeError(`a ${typeof value} has no place in the order of values`);
  }
}

/** Element by element; an array comes after every prefix of it. */
function compareArrays(a: readonly unknown[], b: readonly unknown[]): number {
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at++) {
    const order = compareValues(a[at], b[at]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** As lists of pairs in the order of their names, so that the order of writing does not matter. */
function compareObjects(a: Properties, b: Properties): number {
  const names = Object.keys(a).sort();
  const others = Object.keys(b).sort();
  const shared = Math.min(names.length, others.length);
  for (let at = 0; at < shared; at++) {
    const name = names[at] as string;
    const other = others[at] as string;
    if (name !== other) return name < other ? -1 : 1;
    const order = compareValues(a[name], b[name]);
    if (order !== 0) return order;
  }
  return names.length - others.length;
}
