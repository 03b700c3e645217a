// Updates by operators: all paths of all operators, in the order in which they are applied.
import { showField } from '../../value/bson/show.js';
import { typeName } from '../../value/bson/types.js';
import { type Document, isArray, isDocument, typeOf, type Value } from '../../value/bson/value.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import type { Language } from '../language.js';
import { arrayOperators } from './arrays.js';
import { fieldOperators } from './fields.js';
import type { UpdateOperators } from './operator.js';
import { checkConflicts, comparePaths, type UpdatePath, updatePath } from './paths.js';
import { KEEP, type Modifier, modify, REMOVE, type Surroundings } from './walk.js';

const OPERATORS: UpdateOperators = { ...fieldOperators, ...arrayOperators };

export interface UpdateStep {
  readonly path: UpdatePath;
  readonly onlyOnInsert: boolean;
  readonly run: (document: Document, surroundings: Surroundings) => void;
}

export function compileOperators(update: Document, language: Language): readonly UpdateStep[] {
  const steps: UpdateStep[] = [];
  const paths: string[] = [];
  for (const [operator, fields] of update) {
    checkOperator(operator, fields);
    for (const [path, operand] of fields as Document) {
      if (operator === '$rename') {
        steps.push(...renaming(path, operand));
        paths.push(path, operand as string);
        continue;
      }
      const make = OPERATORS[operator];
      if (!make) throw unknownModifier(operator);
      const modifier = make({ operator, path, operand, language });
      steps.push(step(updatePath(path), modifier, operator === '$setOnInsert'));
      paths.push(path);
    }
  }
  checkConflicts(paths);
  return steps.sort((a, b) => comparePaths(a.path.text, b.path.text));
}

function step(path: UpdatePath, modifier: Modifier, onlyOnInsert = false): UpdateStep {
  const run = (document: Document, surroundings: Surroundings) =>
    modify(document, path, modifier, surroundings);
  return { path, onlyOnInsert, run };
}

function checkOperator(operator: string, fields: Value): void {
  if (operator !== '$rename' && !Object.hasOwn(OPERATORS, operator)) {
    throw unknownModifier(operator);
  }
  if (!isDocument(fields)) {
    throw mongoFailure(
      'FailedToParse',
      `Modifiers operate on fields but we found type ${typeName(typeOf(fields))} instead. For example: {$mod: {<field>: ...}} not {${showField(operator, fields)}}`,
    );
  }
}

function unknownModifier(operator: string) {
  return mongoFailure(
    'FailedToParse',
    `Unknown modifier: ${operator}. Expected a valid update modifier or pipeline-style update specified as an array`,
  );
}

const NOWHERE: Surroundings = { matched: undefined, passes: () => false };

/** The value moves when its new place is due; the old one is emptied by then or after. */
function renaming(from: string, to: Value): readonly UpdateStep[] {
  if (typeof to !== 'string') {
    throw mongoFailure(
      'BadValue',
      `The 'to' field for $rename must be a string: ${showField(from, to)}`,
    );
  }
  if (from === to) {
    throw mongoFailure(
      'BadValue',
      `The source and target field for $rename must differ: ${showField(from, to)}`,
    );
  }
  const [source, target] = [updatePath(from), updatePath(to)];
  for (const [path, name] of [
    [source, 'source'],
    [target, 'destination'],
  ] as const) {
    if (path.parts.some(({ kind }) => kind !== 'name')) {
      throw mongoFailure(
        'BadValue',
        `The ${name} field for $rename may not be dynamic: ${path.text}`,
      );
    }
  }
  const move: UpdateStep = {
    path: target,
    onlyOnInsert: false,
    run: (document) => {
      checkNoArray(document, source, 'source');
      let moved: Value | undefined;
      const take: Modifier = {
        creates: false,
        apply: (current) => {
          moved = current;
          return current === undefined ? KEEP : REMOVE;
        },
      };
      modify(document, source, take, NOWHERE);
      if (moved === undefined) return;
      checkNoArray(document, target, 'destination');
      const value = moved;
      modify(document, target, { creates: true, apply: () => value }, NOWHERE);
    },
  };
  return [move];
}

function checkNoArray(document: Document, { text, parts }: UpdatePath, which: string): void {
  let value: Value | undefined = document;
  let called = '';
  for (const part of parts) {
    if (isArray(value)) {
      throw mongoFailure(
        'BadValue',
        `The ${which} field cannot be an array element, '${text}' in doc with ${showField('_id', document.get('_id'))} has an array field called '${called}'`,
      );
    }
    if (part.kind === 'name') called = part.name;
    value = isDocument(value) && part.kind === 'name' ? value.get(part.name) : undefined;
  }
}
