// Stages that make one row of one row: also what an update by a pipeline may consist of.
import { showValue } from '../../value/bson/show.js';
import { typeName } from '../../value/bson/types.js';
import { type Document, isArray, isDocument, typeOf, type Value } from '../../value/bson/value.js';
import { MongoError, mongoLocation } from '../../value/mongo-errors.js';
import { compilerFor } from '../expression/compile.js';
import { scopeOf } from '../expression/scope.js';
import type { Language } from '../language.js';
import { projectionOf } from '../projection/project.js';
import { additionOf, exclusionOf, parseProjection } from '../projection/tree.js';
import { Row } from '../row.js';

export type RowStage = (row: Row) => Row;
type MakeRowStage = (operand: Value, language: Language, name: string) => RowStage;

export const rowStages: Readonly<Record<string, MakeRowStage>> = {
  $addFields: added,
  $set: added,
  $project: (operand, language) => {
    if (!isDocument(operand))
      throw mongoLocation(15969, '$project specification must be an object');
    if (operand.size === 0) {
      throw mongoLocation(
        51272,
        'Invalid $project :: caused by :: projection specification must have at least one field',
      );
    }
    return projectionOf(projectTree(operand, language)).apply;
  },
  $unset: (operand, _, name) => {
    return projectionOf(exclusionOf(isArray(operand) ? operand : [operand], name)).apply;
  },
  $replaceRoot: (operand, language) => {
    const newRoot = isDocument(operand) ? operand.get('newRoot') : undefined;
    if (newRoot === undefined) {
      throw mongoLocation(40231, 'no newRoot specified for the $replaceRoot stage');
    }
    return replacing(newRoot, language, "'newRoot' expression ");
  },
  $replaceWith: (operand, language) => replacing(operand, language, "'replacement document' "),
};

function projectTree(operand: Document, language: Language) {
  try {
    return parseProjection(operand, '$project', compilerFor(language));
  } catch (error) {
    if (!(error instanceof MongoError)) throw error;
    const text = `Invalid $project :: caused by :: ${error.message}`;
    throw new MongoError(error.code, error.codeName, text);
  }
}

function added(operand: Value, language: Language, name: string): RowStage {
  if (!isDocument(operand)) {
    throw mongoLocation(
      40272,
      `${name} specification stage must be an object, got ${typeName(typeOf(operand))}`,
    );
  }
  return projectionOf(additionOf(operand, compilerFor(language))).apply;
}

function replacing(operand: Value, language: Language, what: string): RowStage {
  const expression = compilerFor(language).compile(operand);
  return (row) => {
    const document = expression(scopeOf(row));
    if (isDocument(document)) return Row.ofDocument(document, row.meta);
    throw mongoLocation(
      40228,
      `${what}must evaluate to an object, but resulting value was: ${showValue(document)}. Type of resulting value: '${typeName(typeOf(document))}'.`,
    );
  };
}
