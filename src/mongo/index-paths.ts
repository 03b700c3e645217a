// Where the values of a field are in the index, which depends on where documents have arrays.
import { emptyPath, imagePaths, plainPath } from '../catalog/collection-definition.js';
import type { StoredCollection } from '../catalog/collections.js';
import { type Engine, EVERYTHING, type ValueFilter } from '../engine/engine.js';
import type { IndexPath } from '../engine/indexing.js';
import type { Instant } from '../time/instant.js';
import { KeyBracket } from '../value/bson-key.js';
import { anyArray, anyDocument, type Form } from './conditions.js';

export const ID_PATH = '_id';
/** Where the image of a document has the text of its `_id`. */
export const ID: IndexPath = ['id'];

/** Asks the index of a collection what there is, each thing once. */
export class IndexPaths {
  readonly #engine: Engine;
  readonly #collection: StoredCollection;
  readonly #at: Instant;
  readonly #known = new Map<string, Promise<boolean>>();

  constructor(engine: Engine, collection: StoredCollection, at: Instant) {
    this.#engine = engine;
    this.#collection = collection;
    this.#at = at;
  }

  /** The ways to a field that documents have; with one of them, it is plain. */
  async formsOf(path: string): Promise<readonly Form[]> {
    if (path === ID_PATH) return [ID_FORM];
    const first = await this.#firstArray(path.split('.'));
    if (first === undefined) return [formOf(plainPath(path))];
    return formsFrom(path, first);
  }

  /** Whether the values there have no order in the index: documents, and arrays as elements. */
  async isUnordered(form: Form): Promise<boolean> {
    if (await this.#isAny(anyDocument(form.path))) return true;
    return form.isElement && (await this.#isAny(anyArray(form.path)));
  }

  /** What is missing comes before everything in the index, and ought to come with the nulls. */
  async hasUnlikeNulls({ path }: Form, isByMore: boolean): Promise<boolean> {
    if (!(await this.#isAny({ op: 'missing', path }))) return false;
    if (await this.#isAny({ op: '=', path, value: KeyBracket.minKey })) return true;
    return isByMore && (await this.#isAny({ op: '=', path, value: KeyBracket.null }));
  }

  /** Whether the index can tell which documents have an empty array there. */
  knowsEmpty(path: string): boolean {
    return this.isUsed({ op: 'defined', path: emptyPath(path) });
  }

  /** Whether a condition is answered by the index; not so while that is being built. */
  isUsed(filter: ValueFilter): boolean {
    const request = { ...EVERYTHING, filter, repeats: true };
    return this.#engine.plan(this.#collection.engine, request).indexes.used.length > 0;
  }

  /** The first name on the path that is an array in some document. */
  async #firstArray(names: readonly string[]): Promise<number | undefined> {
    for (let count = 1; count <= names.length; count++) {
      const start = plainPath(names.slice(0, count).join('.'));
      if (await this.#isAny(anyArray(start))) return count - 1;
    }
    return undefined;
  }

  #isAny(filter: ValueFilter): Promise<boolean> {
    const name = JSON.stringify(filter);
    const known = this.#known.get(name) ?? this.#find(filter);
    this.#known.set(name, known);
    return known;
  }

  async #find(filter: ValueFilter): Promise<boolean> {
    const plan = this.#engine.plan(this.#collection.engine, { ...EVERYTHING, filter });
    // While the index is being built nothing is known, and anything is possible.
    if (plan.indexes.used.length === 0) return true;
    // What is dead and not purged yet counts too: that costs, but hides nothing.
    if (plan.isWithin) return !plan.isWithin(0);
    for await (const batch of plan.run(this.#at, ONE)) if (batch.items.length > 0) return true;
    return false;
  }
}

const ONE = { rowsMax: 1, bytesMax: 1 };
const ID_FORM: Form = { path: ID, isPlain: true, isElement: false };

/** All forms in which names before this one are no arrays. */
function formsFrom(path: string, first: number): readonly Form[] {
  return imagePaths(path)
    .map(formOf)
    .filter(({ path: steps }) => !steps.slice(0, first + 2).includes(null));
}

function formOf(path: IndexPath): Form {
  return { path, isPlain: !path.includes(null), isElement: path.at(-1) === null };
}
