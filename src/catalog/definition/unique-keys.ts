// The unique key policy: properties whose values no two items of one logical partition share.
import {
  asArray,
  asList,
  asObject,
  clip,
  field,
  firstRepeated,
  refuse,
  refuseUnknown,
  sameForm,
} from './fields.js';
import { asPropertyPath, propertyPathKey } from './property-path.js';

export interface UniqueKey {
  readonly paths: readonly string[];
}
export interface UniqueKeyPolicy {
  readonly uniqueKeys: readonly UniqueKey[];
}

const KEYS_MAX = 10;
const PATHS_MAX = 16;

/** A policy without constraints is no policy: clients send it for containers that have none. */
export function readUniqueKeys(value: unknown): UniqueKeyPolicy | undefined {
  if (value === undefined) return undefined;
  const fields = asObject(value, 'uniqueKeyPolicy');
  const where = 'uniqueKeyPolicy.uniqueKeys';
  const entries = asList(field(fields, 'uniqueKeys'), where, KEYS_MAX);
  const uniqueKeys = entries.map((entry, at) => readKey(entry, `${where}[${at}]`));
  refuseUnknown(fields, 'uniqueKeyPolicy', ['uniqueKeys']);
  const repeated = firstRepeated(uniqueKeys, constraintKey);
  if (repeated !== undefined) {
    throw refuse(`The unique key of ${clip(repeated.paths.join(', '))} appears twice.`);
  }
  return uniqueKeys.length === 0 ? undefined : { uniqueKeys };
}

/** Items were never checked against other keys, so the keys last as long as the container. */
export function keepUniqueKeys(
  value: unknown,
  current: UniqueKeyPolicy | undefined,
): UniqueKeyPolicy | undefined {
  if (value === undefined || sameForm(readUniqueKeys(value), current)) return current;
  throw refuse(
    'The unique index cannot be modified. To change the unique index, remove the collection ' +
      "and re-create a new one. 'uniqueKeyPolicy' must be absent or unchanged.",
  );
}

function readKey(value: unknown, where: string): UniqueKey {
  const fields = asObject(value, where);
  const paths = asArray(field(fields, 'paths'), `${where}.paths`, PATHS_MAX);
  refuseUnknown(fields, where, ['paths']);
  if (paths.length === 0) throw refuse(`'${where}.paths' is empty: a unique key has paths.`);
  const keys = paths.map((path, at) =>
    propertyPathKey(asPropertyPath(path, `${where}.paths[${at}]`)),
  );
  const repeated = firstRepeated(keys, (key) => key);
  if (repeated === undefined) return { paths: paths as readonly string[] };
  throw refuse(`The path ${clip(repeated)} appears twice in '${where}.paths'.`);
}

/** The order of the paths makes no difference to what is unique. */
function constraintKey({ paths }: UniqueKey): string {
  return paths
    .map((path) => propertyPathKey(asPropertyPath(path, 'path')))
    .sort()
    .join();
}
