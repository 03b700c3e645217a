// The hints a container's definition gives to its queries, worked out once per definition.
import type { ContainerDefinition } from '../catalog/definition/container-definition.js';
import type { Expression } from '../query/logical.js';
import type { Hints } from '../sql/hints.js';
import { lowerSql } from '../sql/lower.js';
import { parseSql } from '../sql/parser.js';
import { SqlError } from '../sql/sql-error.js';
import { failure } from '../value/errors.js';
import { type Path, parsePath } from '../value/path.js';

const known = new WeakMap<ContainerDefinition, Hints>();

export function hintsOf(definition: ContainerDefinition): Hints {
  const hints = known.get(definition) ?? makeHints(definition);
  known.set(definition, hints);
  return hints;
}

/** A computed property is one deterministic expression over the item: SELECT VALUE … FROM c. */
export function checkComputedProperties(definition: ContainerDefinition): void {
  for (const { name, query } of definition.computedProperties ?? []) {
    const problem = problemOf(query);
    if (problem === undefined) continue;
    const why = `The query of the computed property '${name}' is invalid: ${problem} The query is '${query}'.`;
    throw failure('definitionInvalid', { why });
  }
}

function problemOf(query: string): string | undefined {
  try {
    const tree = parseSql(query);
    const plain =
      tree.select.kind === 'value' &&
      tree.from.length === 1 &&
      !tree.where &&
      !tree.distinct &&
      !tree.top &&
      !tree.offset &&
      tree.groupBy.length + tree.orderBy.length === 0;
    const lowered = lowerSql(tree, new Map());
    if (!plain || lowered.grouped || lowered.sources[0]?.kind !== 'document') {
      return 'It must be SELECT VALUE with one expression FROM the container, and no other clause.';
    }
    return undefined;
  } catch (error) {
    if (error instanceof SqlError) return error.message;
    throw error;
  }
}

function makeHints(definition: ContainerDefinition): Hints {
  const computed = new Map<string, Expression>();
  for (const { name, query } of definition.computedProperties ?? []) {
    const { project } = lowerSql(parseSql(query), new Map());
    if (project.kind === 'value') computed.set(name, project.value);
  }
  const embeddings = definition.vectorEmbeddingPolicy?.vectorEmbeddings ?? [];
  const metrics = new Map<string, string>();
  for (const { path, distanceFunction } of embeddings) {
    if (distanceFunction) metrics.set(JSON.stringify(parsePath(path)), distanceFunction);
  }
  return {
    computed,
    distanceFunction: (path: Path) => metrics.get(JSON.stringify(path)),
  };
}
