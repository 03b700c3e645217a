// Computed properties: names that queries may use for an expression over the item.
import {
  asList,
  asObject,
  asString,
  clip,
  field,
  firstRepeated,
  invalid,
  refuse,
  refuseUnknown,
} from './fields.js';

export interface ComputedProperty {
  readonly name: string;
  readonly query: string;
}

const PROPERTIES_MAX = 20;
const NAME_CHARACTERS_MAX = 255;
const QUERY_CHARACTERS_MAX = 512 * 1024;
const SYSTEM_NAMES = ['id', '_rid', '_self', '_etag', '_ts', '_attachments'];

export function readComputedProperties(value: unknown): readonly ComputedProperty[] | undefined {
  const where = 'computedProperties';
  const entries = asList(value, where, PROPERTIES_MAX);
  const properties = entries.map((entry, at) => readProperty(entry, `${where}[${at}]`));
  const repeated = firstRepeated(properties, ({ name }) => name);
  if (repeated !== undefined) {
    throw refuse(`The name '${clip(repeated.name)}' appears twice in '${where}'.`);
  }
  return properties.length === 0 ? undefined : properties;
}

function readProperty(value: unknown, where: string): ComputedProperty {
  const fields = asObject(value, where);
  const name = readName(field(fields, 'name'), `${where}.name`);
  const query = readQuery(field(fields, 'query'), `${where}.query`);
  refuseUnknown(fields, where, ['name', 'query']);
  return { name, query };
}

function readName(value: unknown, where: string): string {
  const name = asString(value, where, NAME_CHARACTERS_MAX);
  if (name === '') throw invalid(where, name, 'it must not be empty.');
  if (!SYSTEM_NAMES.includes(name)) return name;
  throw invalid(where, name, 'it is the name of a system property.');
}

/** Only the outline is checked; what the expression may hold is for the query parser to say. */
function readQuery(value: unknown, where: string): string {
  const query = asString(value, where, QUERY_CHARACTERS_MAX);
  if (/^\s*SELECT\s+VALUE\b.*\bFROM\s+\S/is.test(query)) return query;
  throw invalid(where, query, 'it must have the form SELECT VALUE <expression> FROM <alias>.');
}
