// What a container's definition adds to the language: computed properties, and the metrics of
// vectors.
import type { Expression } from '../query/logical.js';
import type { Path } from '../value/path.js';

export interface Hints {
  /** Expressions over the document that stand for a property of this name. */
  readonly computed: ReadonlyMap<string, Expression>;
  /** The distance function that the embedding policy gives for a path. */
  distanceFunction(path: Path): string | undefined;
}

export const NO_HINTS: Hints = { computed: new Map(), distanceFunction: () => undefined };
