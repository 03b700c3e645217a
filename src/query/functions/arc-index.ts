// The arcs of a geometry as a tree of balls, so that those near a place are found without asking
// all: a ball that is too far away speaks for all arcs in it.
import { type Arc, chord, SAME_RADIANS, squaredChord, type Vector } from './arcs.js';
import { spend } from './effort.js';

export interface ArcIndex {
  readonly arcs: readonly Arc[];
  readonly root: Ball | undefined;
}

/** Holds its arcs wholly. Either has parts, or few arcs. */
export interface Ball {
  readonly middle: Vector;
  readonly radius: number;
  readonly arcs: readonly Arc[];
  readonly parts: readonly Ball[];
}

const ARCS_PER_BALL = 4;
/** What it takes to look at two arcs closely, in looks at two balls. */
const CLOSE_LOOK = 8;

export function indexArcs(arcs: readonly Arc[]): ArcIndex {
  const root = arcs.length === 0 ? undefined : ballAround([...arcs], 0, arcs.length);
  return { arcs, root };
}

/**
 * Whether one of the arcs that may touch an arc passes a test; some that do not touch it are asked.
 */
export function someArcNear(
  { root }: ArcIndex,
  arc: Arc,
  passes: (other: Arc) => boolean,
): boolean {
  return root !== undefined && someIn(root, arc, passes);
}

/** All arcs that may touch one, and maybe some that do not. */
export function arcsNear(index: ArcIndex, arc: Arc): readonly Arc[] {
  const near: Arc[] = [];
  someArcNear(index, arc, (other) => {
    near.push(other);
    return false;
  });
  return near;
}

/** Offers pairs of arcs, near ones first, as long as they may be nearer than `least` says. */
export function nearestPairs(
  a: ArcIndex,
  b: ArcIndex,
  least: () => number,
  offer: (arc: Arc, other: Arc) => void,
): void {
  const visit = (one: Ball, other: Ball): void => {
    if (apart(one, other) >= least()) return;
    if (one.parts.length === 0 && other.parts.length === 0) {
      for (const arc of one.arcs) {
        for (const second of other.arcs) {
          if (apart(arc, second) >= least()) continue;
          spend(CLOSE_LOOK);
          offer(arc, second);
        }
      }
      return;
    }
    const splitsOne =
      other.parts.length === 0 || (one.parts.length > 0 && one.radius > other.radius);
    const pairs = splitsOne
      ? one.parts.map((part) => [part, other] as const)
      : other.parts.map((part) => [one, part] as const);
    for (const [x, y] of [...pairs].sort((p, q) => apart(...p) - apart(...q))) visit(x, y);
  };
  if (a.root && b.root) visit(a.root, b.root);
}

type Round = Pick<Arc, 'middle' | 'radius'>;

/** The least distance that two things in two balls can have. */
function apart(a: Round, b: Round): number {
  spend(1);
  return chord(a.middle, b.middle) - a.radius - b.radius;
}

function mayTouch(a: Round, b: Round): boolean {
  spend(1);
  const limit = a.radius + b.radius + SAME_RADIANS;
  return squaredChord(a.middle, b.middle) <= limit * limit;
}

function someIn(ball: Ball, arc: Arc, passes: (other: Arc) => boolean): boolean {
  if (!mayTouch(ball, arc)) return false;
  for (const other of ball.arcs) {
    if (!mayTouch(other, arc)) continue;
    spend(CLOSE_LOOK);
    if (passes(other)) return true;
  }
  for (const part of ball.parts) if (someIn(part, arc, passes)) return true;
  return false;
}

function ballAround(arcs: Arc[], from: number, to: number): Ball {
  if (to - from <= ARCS_PER_BALL) {
    const own = arcs.slice(from, to);
    return { ...roundAll(own), arcs: own, parts: [] };
  }
  const half = divide(arcs, from, to);
  const parts = [ballAround(arcs, from, half), ballAround(arcs, half, to)];
  return { ...roundAll(parts), arcs: [], parts };
}

function roundAll(things: readonly Round[]): Round {
  let [x, y, z] = [0, 0, 0];
  for (const { middle } of things) {
    x += middle[0];
    y += middle[1];
    z += middle[2];
  }
  const count = things.length;
  const middle: Vector = [x / count, y / count, z / count];
  let radius = 0;
  for (const thing of things) {
    radius = Math.max(radius, chord(middle, thing.middle) + thing.radius);
  }
  return { middle, radius };
}

/** Along the axis on which they are spread most; what lies in one place is divided by number. */
function divide(arcs: Arc[], from: number, to: number): number {
  const { axis, centre } = widestAxis(arcs, from, to);
  let low = from;
  for (let at = from; at < to; at++) {
    const arc = arcs[at] as Arc;
    if (arc.middle[axis] >= centre) continue;
    arcs[at] = arcs[low] as Arc;
    arcs[low++] = arc;
  }
  return low > from && low < to ? low : (from + to) >>> 1;
}

function widestAxis(arcs: readonly Arc[], from: number, to: number) {
  let widest = { axis: 0 as 0 | 1 | 2, width: -1, centre: 0 };
  for (const axis of [0, 1, 2] as const) {
    let least = Number.POSITIVE_INFINITY;
    let most = Number.NEGATIVE_INFINITY;
    for (let at = from; at < to; at++) {
      const value = (arcs[at] as Arc).middle[axis];
      if (value < least) least = value;
      if (value > most) most = value;
    }
    const width = most - least;
    if (width > widest.width) widest = { axis, width, centre: (least + most) / 2 };
  }
  return widest;
}
