// Which expressions of a SELECT clause are aggregates, and which merely contain one.
import { type AggregateName, aggregates } from '../query/functions/aggregates.js';
import type { SqlExpression } from './ast.js';

export interface FoundAggregate {
  readonly name: AggregateName;
  readonly value: SqlExpression;
}

/** The aggregate that an expression is, as a whole. */
export function aggregateIn(expression: SqlExpression): FoundAggregate | undefined {
  if (expression.kind !== 'call' || expression.udf) return undefined;
  const name = expression.name.toUpperCase();
  const [value] = expression.args;
  if (!Object.hasOwn(aggregates, name) || value === undefined) return undefined;
  return { name: name as AggregateName, value };
}

/** Aggregates of subqueries are their own business. */
export function containsAggregate(expression: SqlExpression): boolean {
  return aggregateIn(expression) !== undefined || partsOf(expression).some(containsAggregate);
}

function partsOf(expression: SqlExpression): readonly SqlExpression[] {
  switch (expression.kind) {
    case 'member':
      return [expression.of, expression.key];
    case 'array':
      return expression.items;
    case 'object':
      return expression.entries.map(({ value }) => value);
    case 'unary':
      return [expression.operand];
    case 'binary':
      return [expression.left, expression.right];
    case 'conditional':
      return [expression.condition, expression.then, expression.otherwise];
    case 'between':
      return [expression.value, expression.low, expression.high];
    case 'in':
      return [expression.value, ...expression.list];
    case 'like':
      return [expression.value, expression.pattern];
    case 'call':
      return expression.args;
    default:
      return [];
  }
}
