// Updates by a pipeline: stages that make one document of one document.
import { showValue } from '../../value/bson/show.js';
import { type Document, isDocument, type Value } from '../../value/bson/value.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import type { Language } from '../language.js';
import { rowStages } from '../pipeline/row-stages.js';
import { Row } from '../row.js';

export function compileUpdatePipeline(
  stages: readonly Value[],
  language: Language,
): (document: Document) => Document {
  const steps = stages.map((stage) => {
    const [name, operand] = isDocument(stage) && stage.size === 1 ? ([...stage][0] ?? []) : [];
    if (name === undefined || operand === undefined) {
      throw mongoFailure(
        'FailedToParse',
        `a stage of a pipeline must be a document of one field: ${showValue(stage)}`,
      );
    }
    const make = Object.hasOwn(rowStages, name) ? rowStages[name] : undefined;
    if (make) return make(operand, language, name);
    throw mongoFailure('InvalidOptions', `${name} is not allowed to be used within an update`);
  });
  return (document) => steps.reduce((row, step) => step(row), Row.ofDocument(document)).document;
}
