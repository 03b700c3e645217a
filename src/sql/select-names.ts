// What the properties of a SELECT list are called.
import type { SelectItem, SqlExpression } from './ast.js';

/** The alias, else the last step of a path, else `$1`, `$2` and so on. */
export function selectNames(items: readonly SelectItem[]): readonly string[] {
  let unnamed = 0;
  return items.map(({ value, alias }) => alias ?? impliedName(value) ?? `$${++unnamed}`);
}

function impliedName(value: SqlExpression): string | undefined {
  if (value.kind === 'identifier') return value.name;
  if (value.kind === 'member' && value.key.kind === 'string') return value.key.value;
  return undefined;
}
