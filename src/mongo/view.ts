// Views: names for what a pipeline makes of a collection, or of another view. They are read by
// putting their stages in front, and never written.
import type { StoredCollection } from '../catalog/collections.js';
import { isArray, type Value } from '../value/bson/value.js';
import { mongoFailure } from '../value/mongo-errors.js';
import type { Call } from './call.js';
import { findAny } from './namespace.js';
import { readBase64 } from './shape.js';

/** A collection, and what is to be done with its documents before they are seen. */
export interface Seen {
  readonly name: string;
  readonly collection: StoredCollection | undefined;
  readonly stages: readonly Value[];
}

const DEPTH_MAX = 20;

export function seenBy(call: Call, database: string, name: string): Seen {
  let stages: readonly Value[] = [];
  let at = name;
  for (let depth = 0; depth <= DEPTH_MAX; depth++) {
    const found = findAny(call, database, at);
    if (found?.definition.view === undefined) return { name: at, collection: found, stages };
    stages = [...stagesOf(found), ...stages];
    at = found.definition.view;
  }
  throw mongoFailure(
    'ViewDepthLimitExceeded',
    `View depth limit exceeded; maximum depth is ${DEPTH_MAX}`,
  );
}

function stagesOf({ definition }: StoredCollection): readonly Value[] {
  const stages = readBase64(definition.options).get('pipeline');
  return isArray(stages) ? stages : [];
}
