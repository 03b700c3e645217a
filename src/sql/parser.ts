// From the text of a query to its syntax tree. Whatever cannot be read is refused with a SqlError.
import type { SelectQuery } from './ast.js';
import { QueryParser } from './clauses.js';

export function parseSql(text: string): SelectQuery {
  return new QueryParser(text).parseText();
}
