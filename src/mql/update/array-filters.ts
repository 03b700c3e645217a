// `arrayFilters`: conditions on elements, each under a name that paths refer to as `$[name]`.
import { showValue } from '../../value/bson/show.js';
import { type Document, isArray, isDocument, type Value } from '../../value/bson/value.js';
import { encodeDocument } from '../../value/bson/write.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import { compileFilter } from '../filter/filter.js';
import type { Language } from '../language.js';
import type { UpdatePath } from './paths.js';

export type ArrayFilters = ReadonlyMap<string, (element: Value) => boolean>;

export function compileArrayFilters(filters: readonly Value[], language: Language): ArrayFilters {
  const compiled = new Map<string, (element: Value) => boolean>();
  for (const filter of filters) {
    if (!isDocument(filter)) throw mongoFailure('TypeMismatch', 'Array filters must be objects');
    const id = identifierOf(filter);
    if (compiled.has(id)) {
      throw mongoFailure(
        'FailedToParse',
        `Found multiple array filters with the same top-level field name ${id}`,
      );
    }
    const { matches } = compileFilter(filter, language);
    compiled.set(id, (element) => matches(encodeDocument(new Map([[id, element]]))));
  }
  return compiled;
}

/** Every name that paths use has a filter, and every filter is used. */
export function checkArrayFilters(
  filters: ArrayFilters,
  paths: readonly UpdatePath[],
  update: Document,
): void {
  const used = new Set<string>();
  for (const { text, parts } of paths) {
    for (const part of parts) {
      if (part.kind !== 'filtered') continue;
      if (!filters.has(part.id)) {
        throw mongoFailure(
          'BadValue',
          `No array filter found for identifier '${part.id}' in path '${text}'`,
        );
      }
      used.add(part.id);
    }
  }
  const unused = [...filters.keys()].find((id) => !used.has(id));
  if (unused !== undefined) {
    throw mongoFailure(
      'FailedToParse',
      `The array filter for identifier '${unused}' was not used in the update ${showValue(update)}`,
    );
  }
}

function identifierOf(filter: Document): string {
  const ids = new Set(identifiersIn(filter));
  const [id, other] = ids;
  if (id === undefined) {
    throw mongoFailure(
      'FailedToParse',
      'Cannot use an expression without a top-level field name in arrayFilters',
    );
  }
  if (other !== undefined) {
    throw mongoFailure(
      'FailedToParse',
      `Error parsing array filter :: caused by :: Expected a single top-level field name, found '${id}' and '${other}'`,
    );
  }
  if (!/^[a-z][a-zA-Z0-9]*$/.test(id)) {
    throw mongoFailure(
      'BadValue',
      `Error parsing array filter :: caused by :: The top-level field name must be an alphanumeric string beginning with a lowercase letter, found '${id}'`,
    );
  }
  return id;
}

function identifiersIn(filter: Document): readonly string[] {
  return [...filter].flatMap(([name, value]) => {
    if (!name.startsWith('$')) return [name.split('.')[0] as string];
    return isArray(value) ? value.filter(isDocument).flatMap(identifiersIn) : [];
  });
}
