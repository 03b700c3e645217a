// How the documents that a filter asks for are found: by id, by an index, or one after the other.
// Whatever an index says is asked again of the document, so it may say too much and never too
// little.
import { imagePaths, plainPath } from '../catalog/collection-definition.js';
import type { StoredCollection } from '../catalog/collections.js';
import { ONE_PLACE } from '../documents/collection-write.js';
import {
  type Engine,
  EVERYTHING,
  type Filter,
  type ItemKey,
  type OrderBy,
  type ScanRequest,
  type ValueFilter,
} from '../engine/engine.js';
import { type IndexPath, isIndexed, samePath } from '../engine/indexing.js';
import type { FieldNode, Node } from '../mql/filter/tree.js';
import type { Instant } from '../time/instant.js';
import {
  CodeWithScope,
  DbPointer,
  isArray,
  isDocument,
  MAX_KEY,
  MIN_KEY,
  Regex,
  UNDEFINED,
  type Value,
} from '../value/bson/value.js';
import { KeyBracket, keyText } from '../value/bson-key.js';
import type { Scalar } from '../value/partition-key.js';

export interface Access {
  /** One after the other; more than one may lead to the same document. */
  readonly requests: readonly ScanRequest[];
  readonly isOrdered: boolean;
  /** The name of the index, `_id_`, or undefined where all documents are looked at. */
  readonly index: string | undefined;
  readonly mayRepeat: boolean;
}

/** A key of a sort, where it is by fields alone. */
export interface SortKey {
  readonly path: string;
  readonly descending: boolean;
}

interface Finding {
  readonly engine: Engine;
  readonly collection: StoredCollection;
  readonly at: Instant;
  /** Whether texts are compared in a way that the index does not know. */
  readonly hasCollation: boolean;
}

export const FULL_SCAN: Access = {
  requests: [EVERYTHING],
  isOrdered: false,
  index: undefined,
  mayRepeat: false,
};

export async function accessFor(
  finding: Finding,
  tree: Node,
  sort: readonly SortKey[],
): Promise<Access> {
  const fields = conjunctsOf(tree);
  const partition = finding.collection.definition.shardKey.length === 0 ? ONE_PLACE : undefined;
  const id = partition && idFilter(finding, fields);
  if (id) {
    const request = { ...EVERYTHING, partition, filter: id };
    return { requests: [request], isOrdered: false, index: ID_INDEX, mayRepeat: false };
  }
  const plain: ValueFilter[] = [];
  const through: FieldNode[] = [];
  for (const field of fields) {
    const path = field.path.text;
    const filters = filtersFor(finding, field, path === '_id' ? ID : plainPath(path));
    if (filters.length === 0 || !isKnown(finding, path)) continue;
    if (path === '_id' || !(await hasArrays(finding, path))) plain.push(...filters);
    else if (field.operator === '$eq' || field.operator === '$in') through.push(field);
  }
  const order = await orderFor(finding, sort);
  if (plain.length > 0 || (order && through.length === 0)) {
    return plainAccess(finding, plain, order);
  }
  const [first] = through;
  return first ? arrayAccess(finding, first) : FULL_SCAN;
}

export const ID_INDEX = '_id_';
/** Where the image of a document has the text of its `_id`. */
const ID: IndexPath = ['id'];

/** All conditions that must hold, if they are on fields. */
function conjunctsOf(tree: Node): readonly FieldNode[] {
  if (tree.kind === 'field') return [tree];
  return tree.kind === 'and' ? tree.of.flatMap(conjunctsOf) : [];
}

/** The one document that a filter can only mean, in a collection that is not sharded. */
export function pointOf(
  collection: StoredCollection,
  tree: Node,
  hasCollation: boolean,
): ItemKey | undefined {
  if (collection.definition.shardKey.length > 0 || hasCollation) return undefined;
  const id = idFilter({ hasCollation }, conjunctsOf(tree));
  return id?.op === '=' ? { partition: ONE_PLACE, id: String(id.value) } : undefined;
}

/** One document of an unsharded collection, found as a point read finds it. */
function idFilter(
  finding: Pick<Finding, 'hasCollation'>,
  fields: readonly FieldNode[],
): ValueFilter | undefined {
  const field = fields.find(({ path, operator }) => path.text === '_id' && operator === '$eq');
  if (!field || isArray(field.operand) || field.operand instanceof Regex) return undefined;
  if (finding.hasCollation) return undefined;
  return { op: '=', path: ID, value: keyText(field.operand) };
}

function plainAccess(
  { engine, collection }: Finding,
  filters: readonly ValueFilter[],
  order: readonly OrderBy[] | undefined,
): Access {
  const filter: Filter | undefined = filters.length > 0 ? { op: 'and', all: filters } : undefined;
  const request = { ...EVERYTHING, filter, order: order ?? [] };
  const plan = engine.plan(collection.engine, request);
  const paths = plan.indexes.used[0]?.map(({ path }) => path);
  const isOrdered = order !== undefined && order.length > 0 && plan.ordered;
  const index = paths && indexOver(collection, paths);
  return {
    requests: [isOrdered ? request : { ...request, order: [] }],
    isOrdered,
    index,
    mayRepeat: false,
  };
}

/** A document may be found by any of its elements, so one condition is followed on all paths. */
function arrayAccess(finding: Finding, { path, operator, operand }: FieldNode): Access {
  const values = operator === '$in' && isArray(operand) ? operand : [operand];
  const requests = imagePaths(path.text).flatMap((form) =>
    values.map((value) => {
      const text = exactText(finding, value) ?? '';
      return { ...EVERYTHING, filter: { op: '=', path: form, value: text } as const };
    }),
  );
  const index = indexOver(finding.collection, [plainPath(path.text)]);
  return { requests, isOrdered: false, index, mayRepeat: true };
}

function isKnown({ collection }: Finding, path: string): boolean {
  if (path === '_id') return true;
  return imagePaths(path).length > 0 && isIndexed(collection.engine.indexing, plainPath(path));
}

/** The name of the first index over these paths, or beginning with them. */
function indexOver(
  { definition }: StoredCollection,
  paths: readonly IndexPath[],
): string | undefined {
  const [first] = paths;
  if (first && samePath(first, ID)) return ID_INDEX;
  const found = definition.indexes.find(({ keys }) =>
    paths.every((path, at) => keys[at] && samePath(plainPath(keys[at].path), path)),
  );
  const anywhere = definition.indexes.find(({ keys }) =>
    keys.some(({ path }) => path === '$**' || (first && samePath(plainPath(path), first))),
  );
  return (found ?? anywhere)?.name;
}

/** Whether some document has an array at the path or on the way to it. */
async function hasArrays(finding: Finding, path: string): Promise<boolean> {
  const names = path.split('.');
  for (let count = 1; count <= names.length; count++) {
    const start = plainPath(names.slice(0, count).join('.'));
    if (await isAnyAt(finding, start, [])) return true;
  }
  return false;
}

/** Of arrays and documents the index has the type alone, so any of them stands for all. */
async function isAnyAt(
  { engine, collection, at }: Finding,
  path: IndexPath,
  value: readonly [] | Readonly<Record<string, never>>,
): Promise<boolean> {
  const filter = { op: '=', path, value: value as unknown as Scalar } as const;
  const plan = engine.plan(collection.engine, { ...EVERYTHING, filter });
  // While the index is being built nothing is known, and arrays are possible.
  if (plan.indexes.used.length === 0) return true;
  for await (const batch of plan.run(at, ONE)) if (batch.items.length > 0) return true;
  return false;
}

const ONE = { rowsMax: 1, bytesMax: 1 };

/** The order of the index is that of the language, but for documents as values. */
async function orderFor(
  finding: Finding,
  sort: readonly SortKey[],
): Promise<readonly OrderBy[] | undefined> {
  if (sort.length === 0 || finding.hasCollation) return undefined;
  const order: OrderBy[] = [];
  for (const { path, descending } of sort) {
    if (!isKnown(finding, path)) return undefined;
    if (path === '_id') order.push({ path: ID, descending });
    else {
      if (await hasArrays(finding, path)) return undefined;
      if (await isAnyAt(finding, plainPath(path), {})) return undefined;
      order.push({ path: plainPath(path), descending });
    }
  }
  return order;
}

/** What the index may be told of a condition; nothing where it would say too little. */
function filtersFor(
  finding: Finding,
  { operator, operand }: FieldNode,
  path: IndexPath,
): readonly ValueFilter[] {
  if (operator === '$in') {
    const texts = isArray(operand) ? operand.map((each) => exactText(finding, each)) : [];
    const isAll = texts.every((text) => text !== undefined);
    return isAll && texts.length > 0 ? [{ op: 'in', path, values: texts as string[] }] : [];
  }
  const text = exactText(finding, operand);
  if (text === undefined) return [];
  const [bracket = ''] = text;
  const bound = text.slice(0, bracket === KeyBracket.number ? NUMBER_UNITS : BOUND_UNITS_MAX);
  switch (operator) {
    case '$eq':
      return [{ op: '=', path, value: text }];
    case '$gt':
    case '$gte':
      return [
        { op: '>=', path, value: bound },
        { op: '<', path, value: following(bracket) },
      ];
    case '$lt':
    case '$lte':
      return [
        { op: '<=', path, value: `${bound}${LAST_UNIT}` },
        { op: '>=', path, value: bracket },
      ];
    default:
      return [];
  }
}

/** Bracket and double; what is above the double does not count here. */
const NUMBER_UNITS = 17;
/** Longer texts are cut in the index, and come in the order of their beginnings only. */
const BOUND_UNITS_MAX = 250;
const LAST_UNIT = '\uffff';

function following(bracket: string): string {
  return String.fromCharCode(bracket.charCodeAt(0) + 1);
}

/** Values that are equal to nothing but themselves, and have a text in the image. */
function exactText({ hasCollation }: Finding, value: Value): string | undefined {
  if (value === null || value === UNDEFINED || value === MIN_KEY || value === MAX_KEY) return;
  if (isArray(value) || isDocument(value) || value instanceof Regex) return undefined;
  // Their order is another one in the index.
  if (value instanceof DbPointer || value instanceof CodeWithScope) return undefined;
  if (hasCollation && typeof value === 'string') return undefined;
  return keyText(value);
}
