// The indexes that clients have made, by their names: which of them are over a field, and how the
// one that the engine uses is called.
import {
  type CollectionIndex,
  ID_INDEX,
  imagePaths,
  isWildcard,
  wildcardStart,
} from '../catalog/collection-definition.js';
import type { StoredCollection } from '../catalog/collections.js';
import type { OrderBy } from '../engine/engine.js';
import { isIndexed, samePath } from '../engine/indexing.js';
import { ID, ID_PATH } from './index-paths.js';

interface Choice {
  readonly collection: StoredCollection;
  /** The only index to use, by its name. */
  readonly only: string | undefined;
}

/** Whether an index is over the field, and may be used. */
export function isKnown({ collection, only }: Choice, path: string): boolean {
  if (only !== undefined && !pathsOf(collection, only).some((each) => covers(each, path))) {
    return false;
  }
  if (path === ID_PATH) return true;
  const [plain] = imagePaths(path);
  if (!plain || !isIndexed(collection.engine.indexing, plain)) return false;
  return usable(collection).some(({ keys }) => keys.some((key) => covers(key.path, path)));
}

function covers(indexed: string, path: string): boolean {
  if (!isWildcard(indexed)) return indexed === path;
  const start = wildcardStart(indexed);
  return start === '' || path === start || path.startsWith(`${start}.`);
}

/** What is hidden is kept, and not used; others than these have no values in order. */
function usable({ definition }: StoredCollection): readonly CollectionIndex[] {
  return definition.indexes.filter(
    ({ hidden, keys }) =>
      !hidden && keys.every(({ kind }) => typeof kind === 'number' || kind === 'hashed'),
  );
}

function pathsOf({ definition }: StoredCollection, name: string): readonly string[] {
  if (name === ID_INDEX) return [ID_PATH];
  const index = definition.indexes.find((each) => each.name === name);
  return index?.keys.map(({ path }) => path) ?? [];
}

/** The field whose values have this path. */
export function fieldOf(path: OrderBy['path']): string {
  if (samePath(path, ID)) return ID_PATH;
  return path
    .slice(1)
    .filter((step) => step !== null)
    .join('.');
}

/** The name of the index that is meant, or of the first over these fields or beginning so. */
export function indexOver({ collection, only }: Choice, names: readonly string[]): string {
  if (only !== undefined) return only;
  const indexes = usable(collection);
  const begins = indexes.find(({ keys }) => names.every((name, at) => keys[at]?.path === name));
  const [first = ID_PATH] = names;
  const holds = indexes.find(({ keys }) => keys.some(({ path }) => covers(path, first)));
  if (!begins && first === ID_PATH && names.length === 1) return ID_INDEX;
  return (begins ?? holds)?.name ?? ID_INDEX;
}
