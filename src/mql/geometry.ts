// Places and shapes of the MongoDB language: GeoJSON on the globe, pairs of coordinates on it or on
// a plane. The geometry itself is that of the SQL side.
import { chord, vectorOf } from '../query/functions/arcs.js';
import { withEffort } from '../query/functions/effort.js';
import { readGeometry } from '../query/functions/geo-json.js';
import { type Position, signedSteradians } from '../query/functions/geodesy.js';
import { type Geometry, intersects, isWithin, nearestPlaces } from '../query/functions/polygons.js';
import { toDouble } from '../value/bson/numbers.js';
import { isArray, isDocument, isNumber, type Value } from '../value/bson/value.js';
import { MongoError, mongoFailure } from '../value/mongo-errors.js';

/** The sphere on which the server measures, in metres. */
export const EARTH_RADIUS_METRES = 6_378_100;

/** A value as a shape: on the globe, and as a pair where it is a point. */
export interface Shape {
  readonly parts: readonly Geometry[];
  readonly point: Position | undefined;
}

/** `undefined` for what is no shape. */
export function shapeOf(value: Value | undefined): Shape | undefined {
  const pair = legacyPair(value);
  if (pair) return pointShape(pair);
  if (!isDocument(value)) return undefined;
  const geometries = value.get('geometries');
  if (value.get('type') === 'GeometryCollection' && isArray(geometries)) {
    const shapes = geometries.map(shapeOf);
    if (shapes.some((shape) => shape === undefined)) return undefined;
    return { parts: shapes.flatMap((shape) => shape?.parts ?? []), point: undefined };
  }
  const plain = { type: value.get('type'), coordinates: plainOf(value.get('coordinates')) };
  const reading = measured(() => readGeometry(withRingsTurned(plain)));
  if (!reading.valid) return undefined;
  const point = plain.type === 'Point' ? (plain.coordinates as Position) : undefined;
  return { parts: [reading.geometry], point };
}

/** The shape of an operand, which has to be one. */
export function needShape(value: Value | undefined, operator: string): Shape {
  const shape = shapeOf(value);
  if (shape) return shape;
  throw mongoFailure('BadValue', `unknown geo specifier or invalid geometry for ${operator}`);
}

/** Two numbers, in an array or as the first two fields of a document. */
export function legacyPair(value: Value | undefined): Position | undefined {
  const isGeoJson = isDocument(value) && value.has('type') && value.has('coordinates');
  const values = isArray(value)
    ? value
    : isDocument(value) && !isGeoJson
      ? [...value.values()]
      : [];
  const [x, y] = values;
  if (!isNumber(x) || !isNumber(y)) return undefined;
  const pair = [toDouble(x), toDouble(y)] as const;
  return pair.every(Number.isFinite) ? pair : undefined;
}

/** Beyond the range of degrees a pair is a point on a plane, and nowhere on the globe. */
function pointShape(pair: Position): Shape {
  const [x, y] = pair;
  const isOnGlobe = Math.abs(x) <= 180 && Math.abs(y) <= 90;
  const reading = isOnGlobe ? readGeometry({ type: 'Point', coordinates: pair }) : undefined;
  return { parts: reading?.valid ? [reading.geometry] : [], point: pair };
}

function plainOf(value: Value | undefined): unknown {
  if (isArray(value)) return value.map(plainOf);
  return isNumber(value) ? toDouble(value) : value;
}

/** Whichever way an outer ring runs, it means the smaller side of the globe. */
function withRingsTurned(shape: { readonly type: unknown; readonly coordinates: unknown }): object {
  const { type, coordinates } = shape;
  if (!Array.isArray(coordinates)) return shape;
  if (type === 'Polygon') return { type, coordinates: turned(coordinates) };
  if (type !== 'MultiPolygon') return shape;
  return {
    type,
    coordinates: coordinates.map((rings) => (Array.isArray(rings) ? turned(rings) : rings)),
  };
}

function turned(rings: readonly unknown[]): readonly unknown[] {
  const [outer, ...holes] = rings;
  if (!isRing(outer)) return rings;
  return signedSteradians(outer.slice(1)) < 0 ? [outer.toReversed(), ...holes] : rings;
}

function isRing(ring: unknown): ring is readonly Position[] {
  return Array.isArray(ring) && ring.every((at) => Array.isArray(at) && at.every(Number.isFinite));
}

export function shapesMeet(a: Shape, b: Shape): boolean {
  return measured(() => a.parts.some((one) => b.parts.some((other) => intersects(one, other))));
}

export function shapeLiesIn(inner: Shape, outer: Shape): boolean {
  return measured(
    () =>
      inner.parts.length > 0 &&
      inner.parts.every((one) => outer.parts.some((other) => isWithin(one, other))),
  );
}

/** As an angle; 0 where they meet. */
export function radiansBetween(a: Shape, b: Shape): number {
  if (a.point && b.point && a.parts.length > 0 && b.parts.length > 0) {
    return angleOf(chord(vectorOf(a.point), vectorOf(b.point)));
  }
  return measured(() => {
    let least = Number.POSITIVE_INFINITY;
    for (const one of a.parts) {
      for (const other of b.parts) {
        const places = intersects(one, other) ? undefined : nearestPlaces(one, other);
        least = Math.min(least, places ? angleOf(chord(places[0], places[1])) : 0);
      }
    }
    return least;
  });
}

function angleOf(length: number): number {
  return 2 * Math.asin(Math.min(1, length / 2));
}

/** Too much work for one turn is refused as an error of this language. */
function measured<T>(work: () => T): T {
  try {
    return withEffort(work);
  } catch (error) {
    if (error instanceof MongoError || !(error instanceof Error) || !('code' in error)) throw error;
    throw mongoFailure('BadValue', error.message);
  }
}
