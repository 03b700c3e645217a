// Makes the shared tables where they are missing, and refuses a database that a newer Mayfly wrote.
import { type Dialect, dialectOf } from './citus.js';
import { codeOf, type Pool } from './connection.js';
import { FORMAT_VERSION, type Schema, sharedTables } from './schema.js';
import { sql } from './sql.js';

const ATTEMPTS_MAX = 10;
/** What `if not exists` says when another server does the same at the same moment. */
const AT_ONCE = ['23505', '42P06', '42P07', '42710', 'XX000'];

/** Answers what kind of server it is. */
export async function prepareSchema(pool: Pool, schema: Schema): Promise<Dialect> {
  const dialect = await dialectOf(pool);
  for (let attempt = 0; ; attempt += 1) {
    try {
      const statements = [...sharedTables(schema), ...dialect.prepare(schema)];
      for (const statement of statements) await pool.askAlone(statement);
      break;
    } catch (error) {
      if (!AT_ONCE.includes(codeOf(error)) || attempt === ATTEMPTS_MAX) throw error;
      await pool.pause(attempt);
    }
  }
  await pool.askAlone(sql`insert into ${schema.meta}(format)
    select ${FORMAT_VERSION}::int where not exists (select from ${schema.meta})`);
  const { rows } = await pool.askAlone(sql`select max(format) from ${schema.meta}`);
  const format = rows[0]?.[0];
  if (format !== FORMAT_VERSION) {
    throw new Error(
      `The schema '${schema.name}' has format ${format}, and this version of Mayfly writes format ${FORMAT_VERSION}.`,
    );
  }
  return dialect;
}
