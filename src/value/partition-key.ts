// Partition keys: the values that decide which logical partition an item lives in.
import { failure } from './errors.js';
import { type Path, valueAt } from './path.js';

export type Scalar = string | number | boolean | null;
/** One component per partition-key path; `undefined` where the item lacks the property. */
export type PartitionKey = readonly (Scalar | undefined)[];
/** How a container hashes its keys to effective partition keys (EPK). */
export type PartitionHash = 'v1' | 'v2' | 'multi';

/**
 * The key an item's value has under the container's paths; `found` is a component of an unsupported
 * type.
 */
export function extractPartitionKey(
  value: unknown,
  paths: readonly Path[],
): { readonly key: PartitionKey } | { readonly unsupported: unknown } {
  const key: (Scalar | undefined)[] = [];
  for (const path of paths) {
    const component = valueAt(value, path);
    if (typeof component === 'object' && component !== null) return { unsupported: component };
    key.push(component as Scalar | undefined);
  }
  return { key };
}

/**
 * Reads the JSON form that requests use, of at most this many levels: `["a"]`, `[1]`, `[true]`,
 * `[null]`, and `[{}]` for a missing property. Shorter keys are prefixes, which the caller may or
 * may not take.
 */
export function parsePartitionKey(text: string, levels: number): PartitionKey {
  const components = parseArray(text);
  if (components.length > levels) throw failure('partitionKeyTooMany');
  return components.map((value): Scalar | undefined => {
    if (typeof value !== 'object' || value === null) return value as Scalar;
    if (!Array.isArray(value) && Object.keys(value).length === 0) return undefined;
    throw failure('partitionKeyUnsupported', { value: JSON.stringify(value) });
  });
}

export function samePartitionKey(a: PartitionKey, b: PartitionKey): boolean {
  if (a.length !== b.length) return false;
  // `===` would do, but for NaN, which JSON cannot hold; 0 and -0 are one number.
  return a.every((component, index) => component === b[index]);
}

function parseArray(text: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(text);
    if (Array.isArray(parsed)) return parsed;
  } catch {
    // Falls through to the same refusal: it is no array either way.
  }
  throw failure('partitionKeyMalformed', { value: text });
}
