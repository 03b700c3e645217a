// A set of JSON values that are the same if equalValues says so; it asks in constant time.

/** Keeps the values in the order in which they came. */
export class ValueSet {
  readonly #values = new Map<unknown, unknown>();

  get size(): number {
    return this.#values.size;
  }

  has(value: unknown): boolean {
    return this.#values.has(keyOf(value));
  }

  /** False if an equal value is there already; that one stays. */
  add(value: unknown): boolean {
    const key = keyOf(value);
    if (this.#values.has(key)) return false;
    this.#values.set(key, value);
    return true;
  }

  delete(value: unknown): boolean {
    return this.#values.delete(keyOf(value));
  }

  toArray(): unknown[] {
    return [...this.#values.values()];
  }
}

/**
 * Scalars stand for themselves, as a Map takes 0 and -0 for the same. Arrays and objects are known
 * by a text that starts with a bracket, and only strings need to be kept apart from those.
 */
function keyOf(value: unknown): unknown {
  if (typeof value === 'string') return `"${value}`;
  return typeof value === 'object' && value !== null ? textOf(value) : value;
}

/** JSON with the properties in the order of their names. */
function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined';
  if (Array.isArray(value)) return `[${value.map(textOf).join()}]`;
  const properties = value as Readonly<Record<string, unknown>>;
  const members = Object.keys(properties)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${textOf(properties[name])}`);
  return `{${members.join()}}`;
}
