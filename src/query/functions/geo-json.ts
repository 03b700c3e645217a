// GeoJSON objects read as geometries on the globe, or the reason why they are not valid. A ring has
// its area on the left: an outer ring that runs clockwise stands for the rest of the globe. Sides
// take the shorter way, over the dateline as well; none goes half around the globe or more.
import {
  arcBetween,
  chord,
  isOpposite,
  placeArc,
  positionOf,
  SAME_RADIANS,
  type Vector,
  vectorOf,
} from './arcs.js';
import { withEffort } from './effort.js';
import { type Position, signedSteradians } from './geodesy.js';
import {
  type Area,
  areaOf,
  type Chain,
  type Geometry,
  geometryOf,
  reasonAgainst,
} from './polygons.js';

/** Of one geometry, all parts together. */
export const POSITIONS_MAX = 10_000;

export type Reading =
  | { readonly valid: true; readonly geometry: Geometry }
  | { readonly valid: false; readonly reason: string };

/** The same object is read only once, such as a polygon in the text of a query. */
export function readGeometry(value: object): Reading {
  const known = readings.get(value);
  if (known) return known;
  const reading = readAfresh(value);
  readings.set(value, reading);
  return reading;
}

/** The share of the globe inside of an area, in steradians as of `signedSteradians`. */
export function steradiansOf({ rings }: Area): number {
  let sum = 0;
  for (const [at, ring] of rings.entries()) {
    const share = signedSteradians(ring.map(({ from }) => positionOf(from)));
    sum += at === 0 && share < 0 ? share + 4 * Math.PI : share;
  }
  return sum;
}

/** A place and an angle around it that hold all of a geometry, unless it is large. */
export function placeCircle(
  value: object,
): { readonly centre: Position; readonly radians: number } | undefined {
  const reading = withEffort(() => readGeometry(value));
  if (!reading.valid) return undefined;
  const { chains, areas } = reading.geometry;
  const corners = chains.flatMap((chain) => chain.flatMap(({ from, to }) => [from, to]));
  const [x, y, z] = [0, 1, 2].map((axis) => corners.reduce((sum, at) => sum + (at[axis] ?? 0), 0));
  const length = Math.hypot(x ?? 0, y ?? 0, z ?? 0);
  if (length < SAME_RADIANS) return undefined;
  const middle: Vector = [(x ?? 0) / length, (y ?? 0) / length, (z ?? 0) / length];
  const reach = corners.reduce((most, corner) => Math.max(most, chord(middle, corner)), 0);
  const radians = 2 * Math.asin(Math.min(1, reach / 2));
  // A ring inside of a circle smaller than half the globe has one side of it inside of the circle;
  // its area may be the other one.
  const isSmall = radians < RADIANS_MAX && areas.every((area) => steradiansOf(area) < 2 * Math.PI);
  return isSmall ? { centre: positionOf(middle), radians } : undefined;
}

const RADIANS_MAX = 1;

/** Without a limit of its own: a reading goes when its object does, at the end of a query page. */
const readings = new WeakMap<object, Reading>();

interface Kind {
  /** How many arrays are around a position. */
  readonly depth: number;
  readonly build: (coordinates: never) => Geometry | string;
}

const KINDS: Readonly<Record<string, Kind>> = {
  Point: kind<Position>(0, (position) => places([position])),
  MultiPoint: kind<readonly Position[]>(1, places),
  LineString: kind<readonly Position[]>(1, (line) => lines([line])),
  MultiLineString: kind<readonly (readonly Position[])[]>(2, lines),
  Polygon: kind<readonly (readonly Position[])[]>(2, (rings) => areas([rings])),
  MultiPolygon: kind<readonly (readonly (readonly Position[])[])[]>(3, areas),
};

function kind<C>(depth: number, build: (coordinates: C) => Geometry | string): Kind {
  return { depth, build: build as unknown as Kind['build'] };
}

function readAfresh(value: object): Reading {
  const { type, coordinates } = value as {
    readonly type?: unknown;
    readonly coordinates?: unknown;
  };
  const known = typeof type === 'string' && Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
  if (!known) return invalid('The type is not that of a supported GeoJSON geometry.');
  const reason = reasonAgainstCoordinates(coordinates, known.depth, { left: POSITIONS_MAX });
  if (reason !== undefined) return invalid(reason);
  const geometry = known.build(coordinates as never);
  return typeof geometry === 'string' ? invalid(geometry) : { valid: true, geometry };
}

function invalid(reason: string): Reading {
  return { valid: false, reason };
}

function reasonAgainstCoordinates(
  coordinates: unknown,
  depth: number,
  positions: { left: number },
): string | undefined {
  if (!Array.isArray(coordinates))
    return 'The coordinates are not arrays as deep as the type wants.';
  if (depth === 0) {
    positions.left--;
    if (positions.left < 0) return `There are more than ${POSITIONS_MAX} positions.`;
    return reasonAgainstPosition(coordinates);
  }
  if (coordinates.length === 0) return 'There must be at least one position in each part.';
  for (const part of coordinates) {
    const reason = reasonAgainstCoordinates(part, depth - 1, positions);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** Altitudes and what else follows the latitude are numbers, and are not looked at. */
function reasonAgainstPosition(position: readonly unknown[]): string | undefined {
  if (position.length < 2 || !position.every((value) => Number.isFinite(value))) {
    return 'A position must be an array of at least two numbers.';
  }
  const [longitude, latitude] = position as unknown as Position;
  if (Math.abs(latitude) > 90) return 'Latitude values must be between -90 and 90 degrees.';
  if (Math.abs(longitude) > 180) return 'Longitude values must be between -180 and 180 degrees.';
  return undefined;
}

function places(positions: readonly Position[]): Geometry {
  return geometryOf(
    positions.map((position) => [placeArc(vectorOf(position))]),
    [],
  );
}

function lines(parts: readonly (readonly Position[])[]): Geometry | string {
  const chains: Chain[] = [];
  for (const positions of parts) {
    const corners = distinctCorners(positions);
    if (corners.length < 2) return 'A line must have at least two different positions.';
    const chain = chainThrough(corners);
    if (typeof chain === 'string') return chain;
    chains.push(chain);
  }
  return geometryOf(chains, []);
}

function areas(parts: readonly (readonly (readonly Position[])[])[]): Geometry | string {
  const found: Area[] = [];
  for (const polygon of parts) {
    const rings: Chain[] = [];
    for (const [at, positions] of polygon.entries()) {
      const ring = ringThrough(positions, at);
      if (typeof ring === 'string') return ring;
      rings.push(ring);
    }
    const area = areaOf(rings);
    const reason = reasonAgainst(area);
    if (reason !== undefined) return reason;
    found.push(area);
  }
  return geometryOf([], found);
}

/** Holes are turned so that they have the area on their left, however they were written. */
function ringThrough(positions: readonly Position[], at: number): Chain | string {
  const [first] = positions;
  const last = positions.at(-1);
  if (positions.length < 4) return `Ring ${at + 1} of the polygon has less than four positions.`;
  if (first?.[0] !== last?.[0] || first?.[1] !== last?.[1]) {
    return `Ring ${at + 1} of the polygon does not end at the position where it starts.`;
  }
  const corners = distinctCorners(positions);
  const [start] = corners;
  if (corners.length < 4 || start === undefined) {
    return `Ring ${at + 1} of the polygon has less than three different corners.`;
  }
  corners[corners.length - 1] = start;
  const isHole = at > 0;
  if (isHole && signedSteradians(corners.slice(1).map(positionOf)) > 0) corners.reverse();
  return chainThrough(corners);
}

/** Without those that repeat the corner before. */
function distinctCorners(positions: readonly Position[]): Vector[] {
  const corners: Vector[] = [];
  for (const position of positions) {
    const corner = vectorOf(position);
    const before = corners.at(-1);
    if (before === undefined || chord(before, corner) > CORNER_RADIANS_MIN) corners.push(corner);
  }
  return corners;
}

/** Shorter sides than these would touch the next but one. */
const CORNER_RADIANS_MIN = 4 * SAME_RADIANS;

function chainThrough(corners: readonly Vector[]): Chain | string {
  const chain = [];
  for (const [at, to] of corners.entries()) {
    const from = corners[at - 1];
    if (from === undefined) continue;
    if (isOpposite(from, to)) return 'A side joins opposite places of the globe.';
    chain.push(arcBetween(from, to));
  }
  return chain;
}
