// What an index cannot have refuses the write: two arrays in one key, places that are none, arrays
// where there is one hash.
import { type CollectionIndex, isWildcard } from '../catalog/collection-definition.js';
import { shapeOf } from '../mql/geometry.js';
import { valueAt } from '../mql/row.js';
import { decodeDocument } from '../value/bson/read.js';
import { showValue } from '../value/bson/show.js';
import { type Bytes, isArray, isNumber, type Value } from '../value/bson/value.js';
import { mongoLocation } from '../value/mongo-errors.js';
import { indexKeys } from './index-keys.js';

type Check = (document: Bytes) => unknown;

/** Each throws what the client is told; none where the index takes every document. */
export function indexChecks({ keys, unique }: Omit<CollectionIndex, 'number'>): readonly Check[] {
  const checks: Check[] = [];
  const plain = keys.filter(({ path, kind }) => typeof kind === 'number' && !isWildcard(path));
  if (plain.length > 1 && !unique) checks.push(indexKeys(plain.map(({ path }) => path)));
  for (const { path, kind } of keys) {
    if (kind === '2dsphere') checks.push((document) => checkPlaces(document, path));
    if (kind === 'hashed') checks.push((document) => checkHashed(document, path));
  }
  return checks;
}

const NO_PLACE = 16_755;
const ARRAY_IN_HASH = 16_766;

function checkPlaces(document: Bytes, path: string): void {
  const value = at(document, path);
  const isList = isArray(value) && !isNumber(value[0]);
  for (const each of isList ? value : [value]) {
    if (each === undefined || each === null || (isArray(each) && each.length === 0)) continue;
    const shape = shapeOf(each);
    if (shape && shape.parts.length > 0) continue;
    const why = shape
      ? `Longitude/latitude is out of bounds, lng: ${shape.point?.[0]} lat: ${shape.point?.[1]}`
      : `unknown or invalid geometry: ${showValue(each)}`;
    throw mongoLocation(
      NO_PLACE,
      `Can't extract geo keys: ${showValue(decodeDocument(document))}  ${why}`,
    );
  }
}

function checkHashed(document: Bytes, path: string): void {
  if (!isArray(at(document, path))) return;
  throw mongoLocation(
    ARRAY_IN_HASH,
    `hashed indexes do not currently support array values. Found array at path: ${path}`,
  );
}

function at(document: Bytes, path: string): Value | undefined {
  return valueAt(decodeDocument(document), path.split('.'), 0);
}
