// Values of documents as SQL over the `x` column.
import type { IndexPath } from '../indexing.js';
import { quoted, raw, type Sql, sql } from './sql.js';
import { storableText } from './text.js';

/** The value at a path: names lead into objects only, as `->` with a text does; NULL is absence. */
export function valueSql(path: IndexPath, from: Sql = raw('d.x')): Sql {
  return path.reduce<Sql>((value, step) => sql`${value}->${stepSql(step ?? '')}`, from);
}

/** The same as text: of a text itself, of everything else its JSON. */
export function textSql(path: IndexPath, from: Sql = raw('d.x')): Sql {
  return sql`${valueSql(path.slice(0, -1), from)}->>${stepSql(path.at(-1) ?? '')}`;
}

function stepSql(step: string): Sql {
  return quoted(storableText(step));
}
