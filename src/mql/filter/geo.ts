// `$geoWithin`, `$geoIntersects`, `$near`, `$nearSphere`.
import type { Position } from '../../query/functions/geodesy.js';
import { toDouble } from '../../value/bson/numbers.js';
import { decodeValue } from '../../value/bson/read.js';
import { BsonType } from '../../value/bson/types.js';
import {
  type Bytes,
  type Document,
  isArray,
  isDocument,
  isNumber,
  type Value,
} from '../../value/bson/value.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import {
  EARTH_RADIUS_METRES,
  legacyPair,
  needShape,
  radiansBetween,
  type Shape,
  shapeLiesIn,
  shapeOf,
  shapesMeet,
} from '../geometry.js';
import { fieldPath, someAtPath } from './path.js';
import type { Asked, FieldOperators, Node } from './tree.js';

export const geoOperators: FieldOperators = {
  $geoWithin: (asked) => geoNode(asked, withinTest(asked.operand, asked.operator)),
  // The name it had before.
  $within: (asked) => geoNode(asked, withinTest(asked.operand, asked.operator)),
  $geoIntersects: (asked) => {
    const geometry = isDocument(asked.operand) ? asked.operand.get('$geometry') : undefined;
    const wanted = needShape(geometry, asked.operator);
    return geoNode(asked, (shape) => shapesMeet(shape, wanted));
  },
  $near: nearNode,
  $nearSphere: nearNode,
  // Read by the two above, wherever they stand.
  $maxDistance: sibling,
  $minDistance: sibling,
};

function sibling({ siblings, operator }: Asked): Node {
  if (siblings.has('$near') || siblings.has('$nearSphere')) return { kind: 'and', of: [] };
  throw mongoFailure('BadValue', `${operator} needs a $near or $nearSphere`);
}

type ShapeTest = (shape: Shape) => boolean;

function geoNode({ path, operator, operand }: Asked, test: ShapeTest): Node {
  return {
    kind: 'field',
    path: fieldPath(path),
    operator,
    operand,
    elements: false,
    test: (bytes, type, at) => shapesAt(bytes, type, at).some(test),
  };
}

/** A value may be one shape, or an array of several. */
function shapesAt(bytes: Bytes, type: number, at: number): readonly Shape[] {
  if (type !== BsonType.object && type !== BsonType.array) return [];
  const value = decodeValue(bytes, type, at);
  const shape = shapeOf(value);
  if (shape) return [shape];
  return isArray(value) ? value.flatMap((element) => shapeOf(element) ?? []) : [];
}

function withinTest(operand: Value, operator: string): ShapeTest {
  const [name, shape] = isDocument(operand) ? ([...operand][0] ?? []) : [];
  switch (name) {
    case '$geometry': {
      const type = isDocument(shape) ? shape.get('type') : undefined;
      if (type !== 'Polygon' && type !== 'MultiPolygon') {
        throw mongoFailure(
          'BadValue',
          `${operator} not supported with provided geometry: ${String(type)}`,
        );
      }
      const wanted = needShape(shape, operator);
      return (each) => shapeLiesIn(each, wanted);
    }
    case '$box':
      return inBox(pairsOf(shape, 2));
    case '$polygon':
      return inPolygon(pairsOf(shape, 3));
    case '$center': {
      const { centre, radius } = circleOf(shape);
      return ({ point }) => point !== undefined && planeDistance(point, centre) <= radius;
    }
    case '$centerSphere': {
      const { centre, radius } = circleOf(shape);
      const place = needShape([...centre], operator);
      return (each) => each.parts.length > 0 && radiansBetween(each, place) <= radius;
    }
    default:
      throw mongoFailure('BadValue', `unknown geo specifier: ${String(name)}`);
  }
}

function pairsOf(value: Value | undefined, least: number): readonly Position[] {
  const values = isArray(value) ? value : isDocument(value) ? [...value.values()] : [];
  const pairs = values.flatMap((each) => {
    const pair = legacyPair(each);
    return pair ? [pair] : [];
  });
  if (pairs.length === values.length && pairs.length >= least) return pairs;
  throw mongoFailure('BadValue', 'Point must be an array or object of two numbers');
}

function circleOf(value: Value | undefined): {
  readonly centre: Position;
  readonly radius: number;
} {
  const [place, size] = isArray(value) ? value : [];
  const centre = legacyPair(place);
  if (centre && isNumber(size) && toDouble(size) >= 0) return { centre, radius: toDouble(size) };
  throw mongoFailure('BadValue', 'a circle is a point and a radius that is not negative');
}

function planeDistance(a: Position, b: Position): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}

function inBox([first, second]: readonly Position[]): ShapeTest {
  return ({ point }) =>
    point !== undefined &&
    first !== undefined &&
    second !== undefined &&
    isBetween(point[0], first[0], second[0]) &&
    isBetween(point[1], first[1], second[1]);
}

function isBetween(value: number, a: number, b: number): boolean {
  return value >= Math.min(a, b) && value <= Math.max(a, b);
}

/** By the number of sides to the right of the point; the sides themselves belong to it. */
function inPolygon(corners: readonly Position[]): ShapeTest {
  return ({ point }) => {
    if (!point) return false;
    let inside = false;
    corners.forEach((from, at) => {
      const to = corners[(at + 1) % corners.length] ?? from;
      if (from[1] > point[1] === to[1] > point[1]) return;
      const x = from[0] + ((point[1] - from[1]) / (to[1] - from[1])) * (to[0] - from[0]);
      if (point[0] < x) inside = !inside;
    });
    return (
      inside ||
      corners.some((from, at) => isOnSide(point, from, corners[(at + 1) % corners.length] ?? from))
    );
  };
}

function isOnSide(point: Position, from: Position, to: Position): boolean {
  const cross = (to[0] - from[0]) * (point[1] - from[1]) - (to[1] - from[1]) * (point[0] - from[0]);
  return cross === 0 && isBetween(point[0], from[0], to[0]) && isBetween(point[1], from[1], to[1]);
}

/** How far documents are away, by which the results of `$near` are sorted. */
export type Distance = (document: Bytes) => number | undefined;

interface Near {
  readonly place: Shape;
  readonly min: number;
  readonly max: number;
  readonly measure: (shape: Shape) => number;
}

const distances = new WeakMap<Node, Distance>();

/** The distance that a filter asks to sort by. */
export function distanceOf(tree: Node): Distance | undefined {
  const here = distances.get(tree);
  if (here || tree.kind !== 'and') return here;
  return tree.of.map(distanceOf).find((distance) => distance !== undefined);
}

function nearNode(asked: Asked): Node {
  const near = nearSpec(asked);
  const isNear: ShapeTest = (shape) => {
    const distance = near.measure(shape);
    return distance >= near.min && distance <= near.max;
  };
  const node = geoNode(asked, isNear);
  const path = fieldPath(asked.path);
  distances.set(node, (document) => {
    let least: number | undefined;
    someAtPath(document, 0, path, false, (bytes, type, at) => {
      for (const shape of shapesAt(bytes, type, at)) {
        const distance = near.measure(shape);
        if (least === undefined || distance < least) least = distance;
      }
      return false;
    });
    return least;
  });
  return node;
}

function nearSpec({ operand, siblings, operator }: Asked): Near {
  const geometry = isDocument(operand) ? operand.get('$geometry') : undefined;
  const options: Document = isDocument(operand) && geometry !== undefined ? operand : siblings;
  const place = needShape(geometry ?? operand, operator);
  if (!place.point) throw mongoFailure('BadValue', `${operator} requires a point`);
  const limit = (name: string, otherwise: number): number => {
    const value = options.get(name);
    if (value === undefined) return otherwise;
    if (isNumber(value) && toDouble(value) >= 0) return toDouble(value);
    throw mongoFailure('BadValue', `${name} must be non-negative`);
  };
  return {
    place,
    min: limit('$minDistance', 0),
    max: limit('$maxDistance', Number.POSITIVE_INFINITY),
    measure: measureFrom(place, geometry === undefined, operator === '$nearSphere'),
  };
}

/** Metres from GeoJSON; radians on the sphere from a pair, or its own units on a plane. */
export function measureFrom(
  place: Shape,
  isPair: boolean,
  spherical: boolean,
): (shape: Shape) => number {
  if (!isPair) return (shape) => radiansBetween(shape, place) * EARTH_RADIUS_METRES;
  if (spherical) return (shape) => radiansBetween(shape, place);
  return ({ point }) =>
    point && place.point ? planeDistance(point, place.point) : Number.POSITIVE_INFINITY;
}
