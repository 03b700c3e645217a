// Stages that a pipeline begins with and that need no collection: `$documents`, and statistics that
// the host knows.
import { isArray, isDocument, type Value } from '../../value/bson/value.js';
import { mongoLocation } from '../../value/mongo-errors.js';
import { compilerFor } from '../expression/compile.js';
import { scopeOf } from '../expression/scope.js';
import { Row } from '../row.js';
import { batched } from './flow.js';
import type { Stage, StageContext, Stages } from './stage.js';

export const sourceStages: Stages = {
  $documents: (operand, { language }) => {
    const expression = compilerFor(language).compile(operand);
    return async function* () {
      const documents = expression(scopeOf(Row.ofDocument(new Map())));
      if (!isArray(documents) || !documents.every(isDocument)) {
        throw mongoLocation(5858203, 'an array of documents is expected for $documents');
      }
      yield* batched(documents.map((document) => Row.ofDocument(document)));
    };
  },
  $collStats: statistics,
  $indexStats: statistics,
  $currentOp: statistics,
  $planCacheStats: statistics,
  $listSessions: statistics,
  $listLocalSessions: statistics,
};

/** Those that stand at the beginning or nowhere. */
export const FIRST_ONLY: ReadonlySet<string> = new Set([...Object.keys(sourceStages), '$geoNear']);

function statistics(operand: Value, { name, host }: StageContext): Stage {
  return async function* () {
    const found = host.statistics(name, operand);
    if (!found) throw mongoLocation(40324, `Unrecognized pipeline stage name: '${name}'`);
    for await (const batch of found) yield batch.map((bytes) => Row.ofBytes(bytes));
  };
}
