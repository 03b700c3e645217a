// How the documents that a filter asks for are found: by id, by an index, or one after the other.
// Whatever an index says is asked again of the document, so it may say too much and never too
// little.
import { emptyPath, ID_INDEX } from '../catalog/collection-definition.js';
import type { StoredCollection } from '../catalog/collections.js';
import { ONE_PLACE } from '../documents/collection-write.js';
import {
  type Engine,
  EVERYTHING,
  type ItemKey,
  type OrderBy,
  type ScanRequest,
  type ValueFilter,
} from '../engine/engine.js';
import { namedPaths, samePath } from '../engine/indexing.js';
import type { FieldNode, Node } from '../mql/filter/tree.js';
import type { Instant } from '../time/instant.js';
import { isArray, Regex } from '../value/bson/value.js';
import { keyText } from '../value/bson-key.js';
import { everyOf, type Form, type Interval, joined } from './conditions.js';
import { ID, ID_PATH, IndexPaths } from './index-paths.js';
import { fieldOf, indexOver, isKnown } from './made-indexes.js';
import { type Group, type Wanted, wantedOf } from './wanted.js';

export interface Access {
  /** What is read of indexes; none where all documents are looked at, or none can match. */
  readonly scans: readonly IndexScan[];
  /** One after the other; more than one may lead to the same document. */
  readonly requests: readonly ScanRequest[];
  readonly isOrdered: boolean;
  /** The name of the index, `_id_`, or undefined where all documents are looked at. */
  readonly index: string | undefined;
  readonly mayRepeat: boolean;
  /** The order that the requests are in, each by itself; they have to be merged by it. */
  readonly mergedBy: SortKey | undefined;
  /** Whether counting what the requests find counts the documents that match. */
  readonly isCount: boolean;
}
/** A scan of one index, as `explain` tells it. */
export interface IndexScan {
  readonly index: string;
  /** By the path of the field. */
  readonly bounds: ReadonlyMap<string, readonly Interval[]>;
  readonly isMultiKey: boolean;
  readonly isDescending: boolean;
  readonly isPoint: boolean;
}

/** A key of a sort, where it is by fields alone. */
export interface SortKey {
  readonly path: string;
  readonly descending: boolean;
}

export interface Finding {
  readonly engine: Engine;
  readonly collection: StoredCollection;
  readonly at: Instant;
  /** Whether texts are compared in a way that the index does not know. */
  readonly hasCollation: boolean;
  /** The only index to use, by its name. */
  readonly only: string | undefined;
}
interface Search extends Finding {
  readonly paths: IndexPaths;
}

export const FULL_SCAN: Access = {
  scans: [],
  requests: [EVERYTHING],
  isOrdered: false,
  index: undefined,
  mayRepeat: false,
  mergedBy: undefined,
  isCount: false,
};
/** So many scans take the place of looking at all documents, and no more. */
const REQUESTS_MAX = 200;
/** Ways are told apart by these numbers of keys. */
const SIZES: readonly number[] = [4, 32, 256, 2048, 16_384];
/** With fewer keys sorting is better than reading everything in order. */
const FEW = 16_384;

export async function accessFor(
  finding: Finding,
  tree: Node,
  sort: readonly SortKey[],
): Promise<Access> {
  const { engine, collection, at, only, hasCollation } = finding;
  const id = only === undefined || only === ID_INDEX ? idFilter(finding, tree) : undefined;
  if (id && collection.definition.shardKey.length === 0) {
    const request = { ...EVERYTHING, partition: ONE_PLACE, filter: id };
    return { ...FULL_SCAN, scans: [ID_POINT], requests: [request], index: ID_INDEX };
  }
  const search: Search = { ...finding, paths: new IndexPaths(engine, collection, at) };
  const wanted = wantedOf(tree, hasCollation);
  const order = await orderFor(search, sort);
  const found = await bestOf(search, wanted, order);
  if (found && !(await isBetterInOrder(search, found, sort))) return found;
  const inOrder = await mergedAccess(search, sort);
  return inOrder ?? found ?? (await hintedAccess(search)) ?? FULL_SCAN;
}

const ID_POINT: IndexScan = {
  index: ID_INDEX,
  bounds: new Map(),
  isMultiKey: false,
  isDescending: false,
  isPoint: true,
};

/** The one document that a filter can only mean, in a collection that is not sharded. */
export function pointOf(
  collection: StoredCollection,
  tree: Node,
  hasCollation: boolean,
): ItemKey | undefined {
  if (collection.definition.shardKey.length > 0) return undefined;
  const id = idFilter({ hasCollation }, tree);
  return id?.op === '=' ? { partition: ONE_PLACE, id: String(id.value) } : undefined;
}

/** One document of an unsharded collection, found as a point read finds it. */
function idFilter(
  { hasCollation }: Pick<Finding, 'hasCollation'>,
  tree: Node,
): ValueFilter | undefined {
  if (hasCollation) return undefined;
  const field = conjunctsOf(tree).find(
    ({ path, operator }) => path.text === ID_PATH && operator === '$eq',
  );
  if (!field || isArray(field.operand) || field.operand instanceof Regex) return undefined;
  return { op: '=', path: ID, value: keyText(field.operand) };
}

/** All conditions that must hold, if they are on fields. */
function conjunctsOf(tree: Node): readonly FieldNode[] {
  if (tree.kind === 'field') return [tree];
  return tree.kind === 'and' ? tree.of.flatMap(conjunctsOf) : [];
}

/** The way with the fewest keys to all documents that are wanted; undefined: there is none. */
async function bestOf(
  search: Search,
  wanted: Wanted,
  order: readonly OrderBy[] | undefined,
): Promise<Access | undefined> {
  const plain: PlainGroup[] = [];
  const others: Access[] = [];
  for (const group of wanted.groups) {
    if (!isKnown(search, group.path)) continue;
    const forms = await search.paths.formsOf(group.path);
    const [form] = forms;
    const isPlain = forms.length === 1 && form?.isPlain === true;
    if (isPlain && form && group.entered.length === 0) plain.push({ group, form });
    // Only one of several conditions leads the way where elements may differ: each is tried.
    else
      for (const led of ledByEach(group)) addTo(others, arrayAccess(search, led, forms, isPlain));
  }
  for (const parts of wanted.unions) addTo(others, await unionOf(search, parts));
  const isWhole = wanted.isWhole && wanted.unions.length === 0;
  const isAll = isWhole && plain.length === wanted.groups.length;
  const straight = plainAccess(search, plain, order, isAll);
  const isOnly = isWhole && wanted.groups.length === 1;
  const all = [straight, ...others.map((each) => (isOnly ? each : uncounted(each)))];
  return fewest(
    search,
    all.filter((each) => each !== undefined),
  );
}

function addTo(list: Access[], access: Access | undefined): void {
  if (access) list.push(access);
}

function uncounted(access: Access): Access {
  return access.isCount ? { ...access, isCount: false } : access;
}

interface PlainGroup {
  readonly group: Group;
  readonly form: Form;
}

/** Through no arrays: the engine is told everything at once, and finds its way. */
function plainAccess(
  search: Search,
  plain: readonly PlainGroup[],
  order: readonly OrderBy[] | undefined,
  isAll: boolean,
): Access | undefined {
  if (plain.length === 0 && !order) return undefined;
  const { engine, collection } = search;
  const bounds = new Map<string, readonly Interval[]>();
  const filters: ValueFilter[] = [];
  for (const { group, form } of plain) {
    const told = group.told.map((each) => each.at(form));
    const known = told.filter((each) => each !== undefined);
    if (known.length < told.length) return nothing(search, group);
    filters.push(...known);
    bounds.set(group.path, joined(group.told.map((each) => each.bounds)));
  }
  const filter = filters.length > 0 ? ({ op: 'and', all: filters } as const) : undefined;
  const asked = { ...EVERYTHING, filter, order: order ?? [], anyTies: true };
  const plan = engine.plan(collection.engine, asked);
  const [used] = plan.indexes.used;
  if (!used) return undefined;
  const isOrdered = order !== undefined && order.length > 0 && plan.ordered;
  const names = used.map(({ path }) => fieldOf(path));
  const index = indexOver(search, names);
  const scan = {
    index,
    bounds: new Map([...bounds].filter(([path]) => names.includes(path))),
    isMultiKey: false,
    isDescending: isOrdered && order[0]?.descending === true,
    isPoint: false,
  };
  return {
    ...FULL_SCAN,
    scans: [scan],
    requests: [isOrdered ? asked : { ...asked, order: [] }],
    isOrdered,
    index,
    isCount: isAll && plan.exact && !isOrdered,
  };
}

/** A condition that no document fulfils: not even one has to be read. */
function nothing(search: Search, group: Group): Access {
  const index = indexOver(search, [group.path]);
  const scan = { ...ID_POINT, index, isPoint: false };
  return { ...FULL_SCAN, scans: [scan], requests: [], index };
}

/** A document may be found by any of its elements, so the conditions are followed on all forms. */
function arrayAccess(
  search: Search,
  group: Group,
  forms: readonly Form[],
  isPlain: boolean,
): Access | undefined {
  const fitting = forms.filter((form) => group.entered.every((name) => isEntered(form, name)));
  if (isPlain || fitting.length === 0) return nothing(search, group);
  const requests: ScanRequest[] = [];
  for (const form of fitting) {
    const filter = filterFor(group, form);
    if (!filter) continue;
    if (!search.paths.isUsed(filter)) return undefined;
    requests.push({ ...EVERYTHING, filter, repeats: true });
  }
  const index = indexOver(search, [group.path]);
  const isSingle = !group.path.includes('.') && group.told.length === 1;
  return {
    ...FULL_SCAN,
    scans: [
      {
        index,
        bounds: new Map([[group.path, boundsOf(group, fitting)]]),
        isMultiKey: true,
        isDescending: false,
        isPoint: false,
      },
    ],
    requests,
    index,
    mayRepeat: true,
    // A document has an array there or not, and each of its elements once.
    isCount: isSingle && requests.every(({ filter }) => filter?.op === '='),
  };
}

function ledByEach(group: Group): readonly Group[] {
  return group.told.map((first) => ({
    ...group,
    told: [first, ...group.told.filter((each) => each !== first)],
  }));
}

/** Conditions hold together where they are about one value, and else each by itself. */
function filterFor(group: Group, form: Form): ValueFilter | undefined {
  const [first] = group.told;
  if (first?.isLoose || !isOneValue(group, form)) return first?.at(form);
  const told = group.told.map((each) => each.at(form));
  const known = told.filter((each) => each !== undefined);
  return known.length < told.length ? undefined : everyOf(form.path, known);
}

/** Every array on the way is entered for one element. */
function isOneValue({ entered }: Group, form: Form): boolean {
  return namesEntered(form).every((name) => entered.includes(name));
}

function boundsOf(group: Group, forms: readonly Form[]): readonly Interval[] {
  const isOne = forms.every((form) => isOneValue(group, form));
  return isOne ? joined(group.told.map(({ bounds }) => bounds)) : (group.told[0]?.bounds ?? []);
}

function isEntered(form: Form, name: number): boolean {
  return namesEntered(form).includes(name);
}

/** The names of a path that are arrays in this form, by their place. */
function namesEntered({ path }: Form): readonly number[] {
  const names: number[] = [];
  let name = -2;
  for (const step of path) {
    if (step === null) names.push(name);
    else name += 1;
  }
  return names;
}

/** One scan after the other, if each part of a union has one. */
async function unionOf(search: Search, parts: readonly Wanted[]): Promise<Access | undefined> {
  const all: Access[] = [];
  for (const part of parts) {
    const access = await bestOf(search, part, undefined);
    if (!access) return undefined;
    all.push(access);
  }
  const requests = all.flatMap((access) => access.requests);
  if (requests.length > REQUESTS_MAX) return undefined;
  const [first] = all;
  return {
    ...FULL_SCAN,
    scans: all.flatMap(({ scans }) => scans),
    requests,
    index: first?.index ?? ID_INDEX,
    mayRepeat: true,
  };
}

function fewest(search: Search, all: readonly Access[]): Access | undefined {
  const [first, ...more] = all;
  if (!first || more.length === 0) return first;
  return all
    .map((access) => ({ access, keys: keysOf(search, access) }))
    .reduce((best, each) => (each.keys < best.keys ? each : best)).access;
}

/** About how many keys are read; infinite beyond what is quickly told. */
function keysOf({ engine, collection }: Search, { requests }: Access): number {
  let keys = 0;
  for (const request of requests) {
    const plan = engine.plan(collection.engine, request);
    keys += SIZES.find((size) => plan.isWithin?.(size) === true) ?? Infinity;
  }
  return keys;
}

/** The order of the index is that of the language, but for documents as values and for arrays. */
async function orderFor(
  search: Search,
  sort: readonly SortKey[],
): Promise<readonly OrderBy[] | undefined> {
  if (sort.length === 0 || search.hasCollation) return undefined;
  const named = namedPaths(search.collection.engine.indexing);
  const order: OrderBy[] = [];
  for (const { path, descending } of sort) {
    if (!isKnown(search, path)) return undefined;
    const [form, ...others] = await search.paths.formsOf(path);
    if (!form || others.length > 0) return undefined;
    if (path !== ID_PATH) {
      // Elsewhere the index does not know what lacks the field.
      if (!named.some((each) => samePath(each, form.path))) return undefined;
      if (await search.paths.isUnordered(form)) return undefined;
      if (await search.paths.hasUnlikeNulls(form, sort.length > 1)) return undefined;
    }
    order.push({ path: form.path, descending });
  }
  return order;
}

/** Whether a sort over arrays had rather read everything in order than sort what is found. */
async function isBetterInOrder(
  search: Search,
  found: Access,
  sort: readonly SortKey[],
): Promise<boolean> {
  return sort.length === 1 && !found.isOrdered && keysOf(search, found) > FEW;
}

/**
 * A field with arrays in order: each form is in order by itself. A document comes first by its
 * least element, or by its greatest on the way down, and that is what it is sorted by.
 */
async function mergedAccess(search: Search, sort: readonly SortKey[]): Promise<Access | undefined> {
  const [key, ...more] = sort;
  if (!key || more.length > 0 || search.hasCollation || !isKnown(search, key.path))
    return undefined;
  const { path, descending } = key;
  const forms = await search.paths.formsOf(path);
  const plain = forms.find(({ isPlain }) => isPlain);
  if (!plain || forms.length < 2 || !search.paths.knowsEmpty(path)) return undefined;
  const missing = { op: 'missing', path: plain.path } as const;
  if (!search.paths.isUsed(missing)) return undefined;
  const requests: ScanRequest[] = [
    { ...EVERYTHING, filter: missing },
    { ...EVERYTHING, filter: { op: 'defined', path: emptyPath(path) } },
  ];
  for (const form of forms) {
    if (await search.paths.isUnordered(form)) return undefined;
    const isText: ValueFilter = { op: '>=', path: form.path, value: '' };
    const order = [{ path: form.path, descending }];
    const request = { ...EVERYTHING, filter: isText, order, repeats: true };
    const plan = search.engine.plan(search.collection.engine, request);
    if (!plan.ordered || plan.indexes.used.length === 0) return undefined;
    requests.push(request);
  }
  const index = indexOver(search, [path]);
  const scan = { ...ID_POINT, index, isMultiKey: true, isDescending: descending, isPoint: false };
  return {
    ...FULL_SCAN,
    scans: [scan],
    requests,
    index,
    isOrdered: true,
    mayRepeat: true,
    mergedBy: key,
  };
}

/** An index that the client insists on is read from one end to the other. */
async function hintedAccess(search: Search): Promise<Access | undefined> {
  const { only, collection } = search;
  if (only === undefined) return undefined;
  const index = collection.definition.indexes.find(({ name }) => name === only);
  const [key] = index?.keys ?? [{ path: ID_PATH, kind: 1 as const }];
  if (!key || typeof key.kind === 'string') return undefined;
  const sort = [{ path: key.path, descending: key.kind === -1 }];
  const order = await orderFor(search, sort);
  const whole = order ? plainAccess(search, [], order, false) : await mergedAccess(search, sort);
  return whole && { ...whole, isOrdered: false };
}
