// The arcs of a geometry in an order in which those near a place are found without asking all.
import { type Arc, SAME_RADIANS, squaredChord } from './arcs.js';

export interface ArcIndex {
  /** In the order of the heights of their middles above the plane of the equator. */
  readonly arcs: readonly Arc[];
  /** The largest radius among them. */
  readonly reach: number;
}

export function indexArcs(arcs: readonly Arc[]): ArcIndex {
  return {
    arcs: [...arcs].sort((a, b) => a.middle[2] - b.middle[2]),
    reach: arcs.reduce((most, { radius }) => Math.max(most, radius), 0),
  };
}

/**
 * Whether one of the arcs that may touch an arc passes a test; some that do not touch it are asked.
 */
export function someArcNear(
  { arcs, reach }: ArcIndex,
  arc: Arc,
  passes: (other: Arc) => boolean,
): boolean {
  const height = arc.middle[2];
  const distance = arc.radius + reach + SAME_RADIANS;
  for (let at = firstFrom(arcs, height - distance); at < arcs.length; at++) {
    const other = arcs[at];
    if (other === undefined || other.middle[2] > height + distance) break;
    const limit = arc.radius + other.radius + SAME_RADIANS;
    const mayTouch = squaredChord(arc.middle, other.middle) <= limit * limit;
    if (mayTouch && passes(other)) return true;
  }
  return false;
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

/** The place of the first arc at a height or above it. */
function firstFrom(arcs: readonly Arc[], height: number): number {
  let low = 0;
  let high = arcs.length;
  while (low < high) {
    const half = (low + high) >>> 1;
    const arc = arcs[half];
    if (arc !== undefined && arc.middle[2] < height) low = half + 1;
    else high = half;
  }
  return low;
}
