// Going down a document along the path of an update, to every place it stands for, creating what is
// missing on the way where the operator wants that.
import { showField } from '../../value/bson/show.js';
import { type Document, isArray, isDocument, type Value } from '../../value/bson/value.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import type { Part, UpdatePath } from './paths.js';

/** What becomes of a value: another one, nothing, or the same as before. */
export const KEEP = Symbol('keep');
export const REMOVE = Symbol('remove');
export type Outcome = Value | typeof KEEP | typeof REMOVE;

export interface Modifier {
  /** Whether a missing value, and the documents around it, are created. */
  readonly creates: boolean;
  readonly apply: (current: Value | undefined, place: Place) => Outcome;
}

/** For error texts. */
export interface Place {
  readonly path: string;
  readonly document: Document;
}

/** What an update knows of the document beside its content. */
export interface Surroundings {
  /** The element that the filter has matched. */
  readonly matched: number | undefined;
  readonly passes: (id: string, element: Value) => boolean;
}

export const PADDING_MAX = 1_500_000;

export function modify(
  document: Document,
  path: UpdatePath,
  modifier: Modifier,
  surroundings: Surroundings,
): void {
  const walk: Walk = { document, path, modifier, surroundings };
  intoDocument(walk, document, 0, '');
}

interface Walk {
  readonly document: Document;
  readonly path: UpdatePath;
  readonly modifier: Modifier;
  readonly surroundings: Surroundings;
}

function intoDocument(walk: Walk, document: Document, step: number, above: string): void {
  const part = walk.path.parts[step] as Part;
  if (part.kind !== 'name') throw notAnArray(walk, above, document);
  const { name } = part;
  const here = above === '' ? name : `${above}.${name}`;
  const outcome = outcomeFor(walk, document.get(name), step, here, name);
  if (outcome === REMOVE) document.delete(name);
  else if (outcome !== KEEP) document.set(name, outcome);
}

function intoArray(walk: Walk, array: Value[], step: number, above: string): void {
  const part = walk.path.parts[step] as Part;
  switch (part.kind) {
    case 'every':
      for (let index = 0; index < array.length; index++)
        intoElement(walk, array, index, step, above);
      return;
    case 'filtered':
      for (let index = 0; index < array.length; index++) {
        if (walk.surroundings.passes(part.id, array[index] as Value)) {
          intoElement(walk, array, index, step, above);
        }
      }
      return;
    case 'matched': {
      const { matched } = walk.surroundings;
      if (matched === undefined) {
        throw mongoFailure(
          'BadValue',
          'The positional operator did not find the match needed from the query.',
        );
      }
      intoElement(walk, array, matched, step, above);
      return;
    }
    default:
      if (part.index >= 0) intoElement(walk, array, part.index, step, above);
      else if (walk.modifier.creates) throw notViable(part.name, above, array);
  }
}

function intoElement(walk: Walk, array: Value[], index: number, step: number, above: string): void {
  const outcome = outcomeFor(walk, array[index], step, `${above}.${index}`, String(index));
  if (outcome === KEEP) return;
  if (index - array.length > PADDING_MAX) {
    throw mongoFailure('BadValue', `can't backfill more than ${PADDING_MAX} elements`);
  }
  while (array.length < index) array.push(null);
  // Taking an element away would move those behind it.
  array[index] = outcome === REMOVE ? null : outcome;
}

function outcomeFor(
  walk: Walk,
  child: Value | undefined,
  step: number,
  here: string,
  name: string,
): Outcome {
  const { path, modifier, document } = walk;
  if (step === path.parts.length - 1) {
    if (child === undefined && !modifier.creates) return KEEP;
    return modifier.apply(child, { path: here, document });
  }
  if (child === undefined) {
    if (!modifier.creates) return KEEP;
    const next = path.parts[step + 1] as Part;
    if (next.kind !== 'name') throw missingArray(here);
    const made: Document = new Map();
    intoDocument(walk, made, step + 1, here);
    return made;
  }
  if (isDocument(child)) intoDocument(walk, child, step + 1, here);
  else if (isArray(child)) intoArray(walk, child as Value[], step + 1, here);
  else if (path.parts[step + 1]?.kind !== 'name') throw notAnArray(walk, name, child);
  else if (modifier.creates) throw notViable(nameOf(path.parts[step + 1]), name, child);
  return KEEP;
}

function nameOf(part: Part | undefined): string {
  return part?.kind === 'name' ? part.name : '$';
}

function notViable(name: string, above: string, value: Value) {
  const element = showField(above.split('.').at(-1) ?? above, value);
  return mongoFailure('PathNotViable', `Cannot create field '${name}' in element {${element}}`);
}

function notAnArray(walk: Walk, above: string, value: Value) {
  const last = walk.path.parts.some(({ kind }) => kind === 'matched');
  if (last && walk.surroundings.matched === undefined) {
    return mongoFailure(
      'BadValue',
      'The positional operator did not find the match needed from the query.',
    );
  }
  return mongoFailure(
    'BadValue',
    `Cannot apply array updates to non-array element ${showField(above, value)}`,
  );
}

function missingArray(path: string) {
  return mongoFailure(
    'BadValue',
    `The path '${path}' must exist in the document in order to apply array updates.`,
  );
}
