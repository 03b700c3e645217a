// Geometries on the globe: chains of arcs and the areas between them, and how two of them lie to
// each other. Borders belong to what they surround.
import { type ArcIndex, arcsNear, indexArcs, nearestPairs, someArcNear } from './arc-index.js';
import {
  type Arc,
  arcBetween,
  between,
  chord,
  contacts,
  crossing,
  dot,
  isPlace,
  isSamePlace,
  liesOn,
  nearestOn,
  normalTo,
  placeArc,
  SAME_RADIANS,
  type Vector,
} from './arcs.js';
import { spend } from './effort.js';

/** Arcs that follow each other, or one place alone. */
export type Chain = readonly Arc[];

/** What is to the left of all rings. The first is the outer one, the others are around holes. */
export interface Area {
  readonly rings: readonly Chain[];
  readonly index: ArcIndex;
}

export interface Geometry {
  readonly chains: readonly Chain[];
  readonly areas: readonly Area[];
  readonly index: ArcIndex;
}

export function geometryOf(lines: readonly Chain[], areas: readonly Area[]): Geometry {
  const chains = [...lines, ...areas.flatMap(({ rings }) => rings)];
  const [only, ...more] = areas;
  if (only && more.length + lines.length === 0) return { chains, areas, index: only.index };
  return { chains, areas, index: indexArcs(chains.flat()) };
}

export function areaOf(rings: readonly Chain[]): Area {
  return { rings, index: indexArcs(rings.flat()) };
}

/** Why rings do not bound one area; undefined if they do. Rings are counted from 1. */
export function reasonAgainst({ rings, index }: Area): string | undefined {
  const outside = rings.length === 1 ? { rings, index } : areaOf(rings.slice(0, 1));
  for (const [at, ring] of rings.entries()) {
    const ownIndex = rings.length === 1 ? index : indexArcs(ring);
    if (!isSimple(ring, ownIndex))
      return `Ring ${at + 1} of the polygon crosses or touches itself.`;
    if (rings.length === 1) return undefined;
    const own = new Set(ring);
    const crosses = (arc: Arc): boolean =>
      someArcNear(index, arc, (other) => !own.has(other) && crossing(arc, other) !== undefined);
    if (ring.some(crosses)) return `Ring ${at + 1} of the polygon crosses another ring.`;
    if (at > 0 && !everyStretch(ring, outside.index, (place) => holds(outside, place))) {
      return `Ring ${at + 1} of the polygon is not inside of the first ring.`;
    }
  }
  return undefined;
}

export function intersects(a: Geometry, b: Geometry): boolean {
  const [few, many] = a.index.arcs.length < b.index.arcs.length ? [a, b] : [b, a];
  for (const arc of few.index.arcs) {
    if (someArcNear(many.index, arc, (other) => contacts(arc, other).length > 0)) return true;
  }
  // Without contacts, a chain is inside of an area as a whole or not at all.
  return startsInside(a, b) || startsInside(b, a);
}

/** Whether no part of `a` is outside of `b`. */
export function isWithin(a: Geometry, b: Geometry): boolean {
  const isCovered = (chain: Chain): boolean =>
    everyStretch(chain, b.index, (place) => covers(b, place));
  return a.chains.every(isCovered) && a.areas.every((area) => isFilled(area, b));
}

/** The two nearest places of geometries that do not intersect. */
export function nearestPlaces(a: Geometry, b: Geometry): readonly [Vector, Vector] | undefined {
  let least = Number.POSITIVE_INFINITY;
  let nearest: readonly [Vector, Vector] | undefined;
  const offer = (onA: Vector, onB: Vector): void => {
    const distance = chord(onA, onB);
    if (distance >= least) return;
    least = distance;
    nearest = [onA, onB];
  };
  const offerArcs = (arc: Arc, other: Arc): void => {
    offer(arc.from, nearestOn(other, arc.from));
    offer(arc.to, nearestOn(other, arc.to));
    offer(nearestOn(arc, other.from), other.from);
    offer(nearestOn(arc, other.to), other.to);
  };
  nearestPairs(a.index, b.index, () => least, offerArcs);
  return nearest;
}

/** Whether the arcs of a ring meet only at the corners where one follows the other. */
function isSimple(ring: Chain, index: ArcIndex): boolean {
  return ring.every((arc) =>
    arcsNear(index, arc).every((other) => {
      if (other === arc) return true;
      const corner = arc.to === other.from ? arc.to : arc.from === other.to ? arc.from : undefined;
      const mayMeet = (place: Vector): boolean =>
        corner !== undefined && isSamePlace(place, corner);
      return contacts(arc, other).every(mayMeet);
    }),
  );
}

/**
 * Whether all of a chain has a property that changes only where the chain touches the indexed arcs.
 * One place of each stretch between two contacts is asked.
 */
function everyStretch(chain: Chain, index: ArcIndex, holdsAt: (place: Vector) => boolean): boolean {
  let isKnown = false;
  for (const arc of chain) {
    if (isPlace(arc)) return holdsAt(arc.from);
    const cuts = arcsNear(index, arc).flatMap((other) => contacts(arc, other));
    if (cuts.length === 0 && isKnown) continue;
    if (!stretchMiddles(arc, cuts).every(holdsAt)) return false;
    isKnown = cuts.length === 0;
  }
  return true;
}

function stretchMiddles(arc: Arc, cuts: readonly Vector[]): readonly Vector[] {
  const fromStart = (a: Vector, b: Vector): number => chord(arc.from, a) - chord(arc.from, b);
  const places = [arc.from, ...[...cuts].sort(fromStart), arc.to];
  return places.flatMap((place, at) => {
    const next = places[at + 1];
    const isStretch = next !== undefined && chord(place, next) > STRETCH_RADIANS_MIN;
    return isStretch ? [between(place, next)] : [];
  });
}

/** Shorter stretches are all border. */
const STRETCH_RADIANS_MIN = 4 * SAME_RADIANS;

function startsInside(a: Geometry, b: Geometry): boolean {
  return a.chains.some(([first]) => {
    return first !== undefined && b.areas.some((area) => holds(area, first.from));
  });
}

function covers(geometry: Geometry, place: Vector): boolean {
  return isOn(geometry.index, place) || geometry.areas.some((area) => isLeftOfAll(area, place));
}

/** Whether the inside of an area is inside of a geometry, when its border is known to be. */
function isFilled(area: Area, geometry: Geometry): boolean {
  const inner = placeInside(area);
  if (inner === undefined || !geometry.areas.some((other) => holds(other, inner))) return false;
  const isOutside = (place: Vector): boolean =>
    isOn(area.index, place) || !isLeftOfAll(area, place);
  return geometry.areas.every(({ rings }) =>
    rings.every((ring) => everyStretch(ring, area.index, isOutside)),
  );
}

function holds(area: Area, place: Vector): boolean {
  return isOn(area.index, place) || isLeftOfAll(area, place);
}

function isOn(index: ArcIndex, place: Vector): boolean {
  return someArcNear(index, placeArc(place), (arc) => liesOn(arc, place));
}

function isLeftOfAll({ rings }: Area, place: Vector): boolean {
  return rings.every((ring) => isLeftOf(ring, place));
}

/** What a ring takes besides its arcs. */
const RING_EFFORT = 8;

/**
 * Whether a place that is not on a ring is to its left. From the place we go straight to the middle
 * of one of the arcs and arrive there on its left or right side; each arc crossed on the way
 * changes the side. The arc whose great circle is farthest from the place makes for the safest way.
 */
function isLeftOf(ring: Chain, place: Vector): boolean {
  spend(RING_EFFORT + 2 * ring.length);
  let goal: Arc | undefined;
  let farthest = 0;
  for (const arc of ring) {
    const distance = dot(arc.normal, place);
    if (goal !== undefined && Math.abs(distance) <= Math.abs(farthest)) continue;
    goal = arc;
    farthest = distance;
  }
  if (goal === undefined) return false;
  const end = between(goal.from, goal.to);
  const normal = normalTo(place, end);
  let isLeft = farthest > 0;
  for (const arc of ring) {
    if (arc !== goal && crossesWay(arc, place, end, normal)) isLeft = !isLeft;
  }
  return isLeft;
}

/** A corner on the way counts as being on its left, for both arcs that meet there. */
function crossesWay(arc: Arc, start: Vector, end: Vector, normal: Vector): boolean {
  if (dot(normal, arc.from) >= 0 === dot(normal, arc.to) >= 0) return false;
  if (dot(arc.normal, start) >= 0 === dot(arc.normal, end) >= 0) return false;
  const line = normalTo(normal, arc.normal);
  return dot(line, start) + dot(line, end) > 0 === dot(line, arc.middle) > 0;
}

/** Half way from the middle of the longest side to the border that is met on its left. */
function placeInside({ rings, index }: Area): Vector | undefined {
  const [outer = []] = rings;
  const [first] = outer;
  if (first === undefined) return undefined;
  const side = outer.reduce((longest, arc) => (arc.radius > longest.radius ? arc : longest), first);
  const start = between(side.from, side.to);
  const way = arcBetween(start, side.normal);
  let nearest = side.normal;
  for (const arc of arcsNear(index, way)) {
    if (arc === side) continue;
    for (const place of contacts(way, arc)) {
      if (chord(start, place) < chord(start, nearest)) nearest = place;
    }
  }
  return between(start, nearest);
}
