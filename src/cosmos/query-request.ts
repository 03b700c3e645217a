// The body of a query request: text and parameters, parsed and lowered; and how its errors are
// told.
import type { Query } from '../query/logical.js';
import type { SelectQuery } from '../sql/ast.js';
import { type Hints, NO_HINTS } from '../sql/hints.js';
import { lowerSql } from '../sql/lower.js';
import { parseSql } from '../sql/parser.js';
import { printSql } from '../sql/print.js';
import { SqlError } from '../sql/sql-error.js';
import { failure } from '../value/errors.js';
import { parseJson } from '../value/json.js';

export interface QueryBody {
  readonly text: string;
  readonly parameters: ReadonlyMap<string, unknown>;
  /**
   * Names the query in continuation tokens: text and parameters, but not the filter. Clients that
   * resume an ordered query over several partitions narrow the filter and still send the token.
   */
  readonly name: () => string;
}

export function parseQueryBody(body: Buffer): QueryBody {
  const spec = parseJson(body);
  if (typeof spec !== 'object' || spec === null || !('query' in spec)) {
    throw failure('missingProperty', { name: 'query' });
  }
  const { query: text, parameters } = spec as { query: unknown; parameters?: unknown };
  if (typeof text !== 'string') {
    throw failure('invalidInput', {
      why: `The query must be a text, not ${JSON.stringify(text)}.`,
    });
  }
  const { unfiltered } = telling(() => cached(text));
  return {
    text,
    parameters: parametersOf(parameters),
    name: () => JSON.stringify([unfiltered, parameters ?? null]),
  };
}

export function parseQuery(body: QueryBody): SelectQuery {
  return telling(() => cached(body.text).tree);
}

export function lowerQuery(body: QueryBody, hints: Hints = NO_HINTS): Query {
  return telling(() => lowerSql(cached(body.text).tree, body.parameters, hints));
}

/**
 * The condition of a patch: `FROM c WHERE …` about one item. Its tree is not kept, for it has no
 * parameters, and so every text is another.
 */
export function lowerCondition(text: string, hints: Hints): Query {
  const why = "A condition is 'FROM c WHERE …' and has no other clauses.";
  if (!/^\s*from\b/i.test(text)) throw failure('patchSyntax', { why });
  return telling(() => {
    const tree = parseSql(`SELECT VALUE 1 ${text}`);
    const query = lowerSql(tree, new Map(), hints);
    const others = tree.groupBy.length + tree.orderBy.length;
    if (others > 0 || tree.rank || tree.offset || query.derived) {
      throw failure('patchSyntax', { why });
    }
    return query;
  });
}

/** The error body of the service: code, message, and where in the text. */
function telling<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    const { code, message, span } = error;
    const location = { start: span.start, end: span.end };
    const errors = [{ severity: 'Error', location, code, message }];
    throw failure('queryInvalid', { errors: JSON.stringify({ errors }) });
  }
}

const CACHED_MAX = 200;
interface Parsed {
  readonly tree: SelectQuery;
  /** The text without its filter. */
  readonly unfiltered: string;
}
const texts = new Map<string, Parsed>();

/** Programs send the same few texts again and again; parameters are not part of them. */
function cached(text: string): Parsed {
  const known = texts.get(text);
  if (known) return known;
  const tree = parseSql(text);
  const parsed = { tree, unfiltered: printSql({ ...tree, where: undefined }) };
  if (texts.size >= CACHED_MAX) texts.delete(texts.keys().next().value ?? '');
  texts.set(text, parsed);
  return parsed;
}

function parametersOf(list: unknown): ReadonlyMap<string, unknown> {
  if (list === undefined || list === null) return new Map();
  if (!Array.isArray(list)) {
    throw failure('invalidInput', { why: 'The parameters must be an array of {name, value}.' });
  }
  return new Map(
    list.map((entry: unknown) => {
      const { name, value } = (entry ?? {}) as { name?: unknown; value?: unknown };
      if (typeof name !== 'string' || !name.startsWith('@')) {
        const why = `The name of a parameter must begin with @, which ${JSON.stringify(entry)} does not.`;
        throw failure('invalidInput', { why });
      }
      return [name, value] as const;
    }),
  );
}
