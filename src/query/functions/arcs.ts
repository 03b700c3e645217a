// Arcs of great circles, as unit vectors in space: there the dateline and the poles are places like
// all others. Latitudes are taken as they are, which moves no corner and hardly bends
// a side.
import type { Position } from './geodesy.js';

export type Vector = readonly [x: number, y: number, z: number];

/** The shorter way from one place to another; or one place alone, where both ends are the same. */
export interface Arc {
  readonly from: Vector;
  readonly to: Vector;
  /** To the left of the arc, at a right angle to it; zeros for a place alone. */
  readonly normal: Vector;
  /** The directions into the arc at its two ends. */
  readonly inFrom: Vector;
  readonly inTo: Vector;
  /** A ball of this middle and radius holds the whole arc. */
  readonly middle: Vector;
  readonly radius: number;
}

/** Six micrometres on the ground: places that are nearer than this are the same. */
export const SAME_RADIANS = 1e-12;

export function vectorOf([longitude, latitude]: Position): Vector {
  const lambda = (longitude * Math.PI) / 180;
  const phi = (latitude * Math.PI) / 180;
  const equatorial = Math.cos(phi);
  return [equatorial * Math.cos(lambda), equatorial * Math.sin(lambda), Math.sin(phi)];
}

export function positionOf([x, y, z]: Vector): Position {
  const degrees = 180 / Math.PI;
  return [Math.atan2(y, x) * degrees, Math.atan2(z, Math.hypot(x, y)) * degrees];
}

/** The two ends must not be opposite each other. */
export function arcBetween(from: Vector, to: Vector): Arc {
  const normal = normalTo(from, to);
  return {
    from,
    to,
    normal,
    inFrom: cross(normal, from),
    inTo: cross(to, normal),
    middle: scale(add(from, to), 0.5),
    radius: chord(from, to) / 2,
  };
}

export function placeArc(place: Vector): Arc {
  return {
    from: place,
    to: place,
    normal: ZERO,
    inFrom: ZERO,
    inTo: ZERO,
    middle: place,
    radius: 0,
  };
}

export function isPlace(arc: Arc): boolean {
  return arc.from === arc.to;
}

export function isSamePlace(a: Vector, b: Vector): boolean {
  return chord(a, b) <= SAME_RADIANS;
}

export function isOpposite(a: Vector, b: Vector): boolean {
  return isSamePlace(a, scale(b, -1));
}

/** The straight distance through the globe, which grows with that along its surface. */
export function chord(a: Vector, b: Vector): number {
  return Math.sqrt(squaredChord(a, b));
}

export function squaredChord(a: Vector, b: Vector): number {
  const x = a[0] - b[0];
  const y = a[1] - b[1];
  const z = a[2] - b[2];
  return x * x + y * y + z * z;
}

/** The place half way between two. */
export function between(a: Vector, b: Vector): Vector {
  return unit(add(a, b));
}

/** Where an arc touches another: a crossing, or the ends of one that lie on the other. */
export function contacts(arc: Arc, other: Arc): readonly Vector[] {
  if (isPlace(arc)) return liesOn(other, arc.from) ? [arc.from] : [];
  if (isPlace(other)) return liesOn(arc, other.from) ? [other.from] : [];
  const ends: Vector[] = [];
  for (const end of [other.from, other.to]) if (liesOn(arc, end)) ends.push(end);
  for (const end of [arc.from, arc.to]) if (liesOn(other, end)) ends.push(end);
  if (ends.length > 0) return ends;
  const place = crossing(arc, other);
  return place === undefined ? [] : [place];
}

/** The place where two arcs cross, away from the ends of both. */
export function crossing(arc: Arc, other: Arc): Vector | undefined {
  if (dot(arc.normal, other.from) * dot(arc.normal, other.to) >= 0) return undefined;
  if (dot(other.normal, arc.from) * dot(other.normal, arc.to) >= 0) return undefined;
  const line = normalTo(arc.normal, other.normal);
  const place = dot(line, arc.middle) < 0 ? scale(line, -1) : line;
  return dot(place, other.middle) > 0 ? place : undefined;
}

/** Whether a place is on an arc, by the tolerance of SAME_RADIANS. */
export function liesOn(arc: Arc, place: Vector): boolean {
  if (isPlace(arc)) return isSamePlace(arc.from, place);
  return Math.abs(dot(arc.normal, place)) <= SAME_RADIANS && isBeside(arc, place);
}

/** The place of an arc that is nearest to another place. */
export function nearestOn(arc: Arc, place: Vector): Vector {
  if (isPlace(arc)) return arc.from;
  const foot = add(place, scale(arc.normal, -dot(arc.normal, place)));
  if (dot(foot, foot) > SAME_RADIANS ** 2) {
    const onCircle = unit(foot);
    if (isBeside(arc, onCircle)) return onCircle;
  }
  return chord(arc.from, place) <= chord(arc.to, place) ? arc.from : arc.to;
}

export function dot(a: Vector, b: Vector): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/**
 * At a right angle to both, of length one; (a - b) × (a + b) stays exact where a and b are close.
 */
export function normalTo(a: Vector, b: Vector): Vector {
  return unit(cross(add(a, scale(b, -1)), add(a, b)));
}

const ZERO: Vector = [0, 0, 0];

/** Whether a place is between the two lines that end an arc at right angles. */
function isBeside(arc: Arc, place: Vector): boolean {
  return dot(arc.inFrom, place) >= -SAME_RADIANS && dot(arc.inTo, place) >= -SAME_RADIANS;
}

function cross(a: Vector, b: Vector): Vector {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

function add(a: Vector, b: Vector): Vector {
  return [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
}

function scale(a: Vector, by: number): Vector {
  return [a[0] * by, a[1] * by, a[2] * by];
}

function unit(a: Vector): Vector {
  const length = Math.sqrt(dot(a, a));
  return length === 0 ? a : scale(a, 1 / length);
}
