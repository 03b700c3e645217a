// AND and OR over many values with the three outcomes of the language: true, false and undefined.

/** True if one is, undefined if none is but one might be, false otherwise. */
export function anyOf<T>(values: readonly T[], test: (value: T) => boolean | undefined) {
  return decide(values, test, true);
}

/** False if one is, undefined if none is but one might be, true otherwise. */
export function allOf<T>(values: readonly T[], test: (value: T) => boolean | undefined) {
  return decide(values, test, false);
}

/** One outcome of the `decisive` kind settles the matter, whatever the others are. */
function decide<T>(
  values: readonly T[],
  test: (value: T) => boolean | undefined,
  decisive: boolean,
): boolean | undefined {
  let certain = true;
  for (const value of values) {
    const outcome = test(value);
    if (outcome === decisive) return decisive;
    if (outcome === undefined) certain = false;
  }
  return certain ? !decisive : undefined;
}
