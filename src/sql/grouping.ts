// What a SELECT with GROUP BY or aggregates may name: grouping expressions, aggregates, constants.
import type { Expression, Projection } from '../query/logical.js';
import type { SelectQuery } from './ast.js';
import { SqlError } from './sql-error.js';

export function checkGrouping(
  query: SelectQuery,
  project: Projection,
  groupBy: readonly Expression[],
): void {
  const keys = new Set(groupBy.map((key) => JSON.stringify(key)));
  if (project.kind === 'value' && isGrouped(project.value, keys)) return;
  const text =
    groupBy.length > 0
      ? 'Property references in the SELECT clause must be in the GROUP BY clause or inside an aggregate.'
      : 'Property references beside an aggregate need a GROUP BY clause.';
  throw new SqlError('SC2040', text, query.select.span);
}

function isGrouped(expression: Expression, keys: ReadonlySet<string>): boolean {
  if (keys.has(JSON.stringify(expression))) return true;
  if (expression.kind === 'aggregate' || expression.kind === 'constant') return true;
  if (expression.kind === 'path' || expression.kind === 'documentId') return false;
  return partsOf(expression).every((part) => isGrouped(part, keys));
}

function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'array':
      return expression.items;
    case 'object':
      return expression.entries.map(({ value }) => value);
    case 'and':
    case 'or':
      return expression.all;
    case 'member':
      return [expression.of, expression.key];
    case 'in':
      return [expression.value, ...expression.list];
    case 'like':
      return [expression.value, expression.pattern];
    case 'conditional':
      return [expression.condition, expression.then, expression.otherwise];
    case 'call':
      return expression.args;
    case 'compare':
    case 'number':
    case 'concatenate':
    case 'coalesce':
      return [expression.left, expression.right];
    case 'not':
    case 'negate':
    case 'plus':
    case 'complement':
      return [expression.of];
    // A subquery of its own rows; what it takes from this query is the row that stands for the
    // group.
    default:
      return [];
  }
}
