// What a container adds to the language: computed properties, the metrics of vectors, and functions
// of its own.
import type { Expression } from '../query/logical.js';
import type { Path } from '../value/path.js';

export interface Hints {
  /** Expressions over the document that stand for a property of this name. */
  readonly computed: ReadonlyMap<string, Expression>;
  /** The distance function that the embedding policy gives for a path. */
  distanceFunction(path: Path): string | undefined;
  /** The names of user-defined functions; absent where none can be called. */
  readonly functions?: ReadonlySet<string> | undefined;
}

export const NO_HINTS: Hints = { computed: new Map(), distanceFunction: () => undefined };
