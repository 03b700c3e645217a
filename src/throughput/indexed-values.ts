// How many values of a document an index holds, for its price.
import { type Indexing, type RuleNode, ruleTree } from '../engine/indexing.js';

export function indexedValues(indexing: Indexing, value: unknown): number {
  const { rules, composites, words, points } = indexing;
  const more = composites.length + words.length + points.length;
  if (rules.length === 0) return more;
  return more + countFrom(value, ruleTree(indexing), false);
}

/** Walks the document along with the rules, of which a deeper one beats a shallower. */
function countFrom(value: unknown, node: RuleNode | undefined, inherited: boolean): number {
  const below = node?.below ?? inherited;
  if (typeof value !== 'object' || value === null) return (node?.here ?? below) ? 1 : 0;
  // Where nothing below can be included there is nothing to count.
  if (!below && (node === undefined || node.children.size === 0)) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    const element = node?.children.get(null);
    for (const each of value) count += countFrom(each, element, below);
    return count;
  }
  for (const name of Object.keys(value)) {
    const child = node?.children.get(name);
    // What no rule is about is not looked at: some properties are made on demand.
    if (!child && !below) continue;
    count += countFrom((value as Readonly<Record<string, unknown>>)[name], child, below);
  }
  return count;
}
