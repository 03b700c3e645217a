// The two query forms that clients need before the SQL language is here: everything, and an
// equality on one property.
//
//   SELECT * FROM name [[AS] alias] [ WHERE alias.property = (string | @parameter) ]
import { failure } from '../value/errors.js';
import { parseJson } from '../value/json.js';

export interface SimpleQuery {
  readonly text: string;
  readonly where: { readonly property: string; readonly value: unknown } | undefined;
}

const QUERY =
  /^\s*select\s+\*\s+from\s+(\w+)(?:\s+(?:as\s+)?(?!where\b)(\w+))?(?:\s+where\s+(\w+)\.(\w+)\s*=\s*(?:"([^"\\]*)"|'([^'\\]*)'|(@\w+)))?\s*;?\s*$/i;
const QUERY_CHARACTERS_MAX = 524_288;

export function parseQuery(body: Buffer): SimpleQuery {
  const spec = parseJson(body) as { query?: unknown; parameters?: unknown } | null;
  const text = spec?.query;
  if (typeof text !== 'string') throw failure('missingProperty', { name: 'query' });
  const match = text.length > QUERY_CHARACTERS_MAX ? null : QUERY.exec(text);
  if (!match) {
    throw failure('notSupported', {
      what: `The query "${text}"`,
      hint: 'This version answers SELECT * FROM c, and equality on one property of offers.',
    });
  }
  const [, source, alias = source, root, property, double, single, parameter] = match;
  if (property === undefined) return { text, where: undefined };
  if (root !== alias) {
    throw failure('invalidInput', { why: `Identifier '${root}' could not be resolved.` });
  }
  const value =
    parameter === undefined ? (double ?? single) : parameterValue(spec?.parameters, parameter);
  return { text, where: { property, value } };
}

function parameterValue(parameters: unknown, name: string): unknown {
  const list: readonly unknown[] = Array.isArray(parameters) ? parameters : [];
  for (const entry of list) {
    if (typeof entry === 'object' && entry !== null && 'name' in entry && entry.name === name) {
      return 'value' in entry ? entry.value : undefined;
    }
  }
  throw failure('invalidInput', { why: `The parameter '${name}' is not given.` });
}
