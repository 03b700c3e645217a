// What a command asks of a collection: filter, collation, variables, hint, read once.
import { ID_INDEX } from '../catalog/collection-definition.js';
import type { StoredCollection } from '../catalog/collections.js';
import { compileCollation } from '../mql/collation.js';
import { compileLet } from '../mql/expression/let.js';
import { type CompiledFilter, compileFilter } from '../mql/filter/filter.js';
import type { Collation, Language } from '../mql/language.js';
import { compileProjection } from '../mql/projection/project.js';
import { compileSort, nearestFirst } from '../mql/sort.js';
import { type Document, isDocument, type Value } from '../value/bson/value.js';
import { mongoFailure } from '../value/mongo-errors.js';
import type { Call } from './call.js';
import { asDocument } from './fields.js';
import { checkCollectionName, findCollection } from './namespace.js';
import type { Shaping } from './rows.js';
import { shapeOf } from './shape.js';

export interface Question {
  readonly name: string;
  readonly collection: StoredCollection | undefined;
  readonly language: Language;
  readonly filter: CompiledFilter;
  readonly hint: Hint | undefined;
}
/** An index to use, or the order of creation. */
export type Hint = { readonly index: string } | { readonly natural: 1 | -1 };

/** `field` is where the filter is. */
export function questionOf(call: Call, name: string, field: string): Question {
  checkCollectionName(call.database, name);
  const collection = findCollection(call, call.database, name);
  const language = languageOf(call, collection, call.command);
  const filter = asDocument(call.command.get(field), `${call.name}.${field}`) ?? new Map();
  return {
    name,
    collection,
    language,
    filter: compileFilter(filter, language),
    hint: hintOf(call.command.get('hint'), collection),
  };
}

/** Sort and projection of a command that has them, under these names. */
export function shapingOf(call: Call, question: Question, projected: string): Shaping {
  const { language, filter } = question;
  const sort = asDocument(call.command.get('sort'), `${call.name}.sort`);
  const projection = asDocument(call.command.get(projected), `${call.name}.${projected}`);
  return {
    sort:
      sort && sort.size > 0
        ? compileSort(sort, language, filter.textScore)
        : filter.distance && nearestFirst(filter.distance),
    projection:
      projection && projection.size > 0
        ? compileProjection(projection, language, 'find', filter)
        : undefined,
  };
}

export function namespaceOf({ database }: Call, name: string): string {
  return `${database}.${name}`;
}

/** Of a command or a single statement: both may have a collation and variables. */
export function languageOf(
  { mongo, at }: Call,
  collection: StoredCollection | undefined,
  given: Document,
  variables: Value | undefined = given.get('let'),
): Language {
  const language: Language = {
    now: at,
    collation: collationOf(given.get('collation')),
    variables: NO_VARIABLES,
    random: () => mongo.entropy.fraction(),
    text: collection && shapeOf(collection).text,
  };
  if (!isDocument(variables) || variables.size === 0) return language;
  return { ...language, variables: compileLet(variables, language) };
}

const NO_VARIABLES: ReadonlyMap<string, Value> = new Map();

function collationOf(given: Value | undefined): Collation | undefined {
  const spec = asDocument(given, 'collation');
  return spec && spec.size > 0 ? compileCollation(spec) : undefined;
}

export function hintOf(
  hint: Value | undefined,
  collection: StoredCollection | undefined,
): Hint | undefined {
  if (hint === undefined || (isDocument(hint) && hint.size === 0)) return undefined;
  if (typeof hint !== 'string' && !isDocument(hint)) {
    throw mongoFailure('FailedToParse', 'Hint must be a string or an object');
  }
  if (isDocument(hint) && hint.has('$natural')) {
    return { natural: plain(hint.get('$natural') ?? null) === '-1' ? -1 : 1 };
  }
  const visible = (collection?.definition.indexes ?? []).filter(({ hidden }) => !hidden);
  const names = visible.map((index) => ({
    name: index.name,
    keys: index.keys.map(({ path, kind }) => `${path} ${kind}`).join(),
  }));
  const all = [{ name: ID_INDEX, keys: '_id 1' }, ...names];
  const asked = isDocument(hint)
    ? [...hint].map(([path, kind]) => `${path} ${plain(kind)}`).join()
    : hint;
  const found = all.find(({ name, keys }) => (isDocument(hint) ? keys : name) === asked);
  if (found) return { index: found.name };
  // A collection that is not there has no documents to find, by whatever index.
  if (!collection) return undefined;
  throw mongoFailure('BadValue', 'hint provided does not correspond to an existing index');
}

function plain(kind: Value): string {
  return typeof kind === 'object' && kind !== null && 'value' in kind
    ? String(kind.value)
    : String(kind);
}
