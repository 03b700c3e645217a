// An indexing policy as rules for an engine.
import type { CompositeIndex, Indexing, IndexPath, IndexRule } from '../engine/indexing.js';
import { parsePath } from '../value/path.js';
import { parseIndexPath } from './definition/index-path.js';
import type { IndexingPolicy } from './definition/indexing-policy.js';

/**
 * Ours, the same for every item or never asked for: not worth an entry unless a policy names them.
 */
const UNINTERESTING: readonly string[] = ['_rid', '_self', '_attachments'];
/** Indexed whatever the paths say. */
const ALWAYS: readonly string[] = ['id', '_ts'];

export function indexingOf(policy: IndexingPolicy, version: number): Indexing {
  return {
    version,
    rules: indexRules(policy),
    composites: compositesOf(policy),
    words: (policy.fullTextIndexes ?? []).map(({ path }) => parsePath(path) as IndexPath),
    points: (policy.spatialIndexes ?? []).flatMap(({ path }) => pointPath(path)),
    lazy: policy.indexingMode === 'lazy',
  };
}

function compositesOf(policy: IndexingPolicy): readonly CompositeIndex[] {
  return (policy.compositeIndexes ?? []).map((paths) =>
    paths.map(({ path, order }) => ({
      path: parsePath(path) ?? [],
      descending: order === 'descending',
    })),
  );
}

/** Of what lies below the path, or in arrays, there are no entries; searches do without them. */
function pointPath(text: string): readonly IndexPath[] {
  return ruleOf(text, true)
    .map(({ path }) => path)
    .filter((path) => path.length > 0 && !path.includes(null));
}

function indexRules(policy: IndexingPolicy): readonly IndexRule[] {
  if (policy.indexingMode === 'none') return [];
  const named = (name: string, include: boolean) => ({ path: [name], below: false, include });
  return [
    ...UNINTERESTING.map((name) => named(name, false)),
    ...policy.excludedPaths.flatMap(({ path }) => ruleOf(path, false)),
    ...policy.includedPaths.flatMap(({ path }) => ruleOf(path, true)),
    // As rules for what is below, these do not make the index note the items that lack them: none
    // do.
    ...ALWAYS.map((name) => ({ ...named(name, true), below: true })),
  ];
}

/** A tuple path indexes its parts; a composite of them is a matter of its own. */
function ruleOf(text: string, include: boolean): readonly IndexRule[] {
  const parsed = parseIndexPath(text);
  if ('failedAt' in parsed) return [];
  const steps: IndexPath = parsed.steps.map((step) => ('property' in step ? step.property : null));
  const below = parsed.end === 'below';
  if (!parsed.tuple) return [{ path: steps, below, include }];
  return parsed.tuple.map((part) => ({ path: [...steps, ...part], below, include }));
}
