// Why a document does not satisfy a `$jsonSchema`: the rules that do not hold, down to properties.
import { typeName } from '../../value/bson/types.js';
import {
  type Document,
  documentOf,
  int32,
  isArray,
  isDocument,
  typeOf,
  type Value,
} from '../../value/bson/value.js';
import { compileSchema } from '../filter/json-schema.js';

export function schemaDetails(schema: Document, document: Document): Document {
  return documentOf({
    operatorName: '$jsonSchema',
    ...annotations(schema),
    schemaRulesNotSatisfied: [...rulesBroken(schema, document)],
  });
}

/** Say nothing about a value by themselves. */
const SILENT: readonly string[] = [
  ...['title', 'description', 'exclusiveMinimum', 'exclusiveMaximum'],
];
const REASONS: Readonly<Record<string, string>> = {
  bsonType: 'type did not match',
  type: 'type did not match',
  enum: 'value was not found in enum',
  minimum: 'comparison failed',
  maximum: 'comparison failed',
  multipleOf: 'considered value is not a multiple of the specified value',
  minLength: 'specified string length was not satisfied',
  maxLength: 'specified string length was not satisfied',
  pattern: 'regular expression did not match',
  minItems: 'array did not match specified length',
  maxItems: 'array did not match specified length',
  uniqueItems: 'found a duplicate item',
  minProperties: 'specified number of properties was not satisfied',
  maxProperties: 'specified number of properties was not satisfied',
  not: 'child expression matched',
};

function* rulesBroken(schema: Document, value: Value): Iterable<Document> {
  for (const [keyword, operand] of schema) {
    if (SILENT.includes(keyword) || holds(schema, keyword, operand, value)) continue;
    yield ruleDetails(schema, keyword, operand, value);
  }
}

/** A rule by itself, with the two that change how another is meant. */
function holds(schema: Document, keyword: string, operand: Value, value: Value): boolean {
  const own = new Map([[keyword, operand]]);
  for (const name of ['exclusiveMinimum', 'exclusiveMaximum', 'properties', 'patternProperties']) {
    const beside = schema.get(name);
    const isNeeded = name.startsWith('exclusive')
      ? keyword === name.slice('exclusive'.length).toLowerCase()
      : keyword === 'additionalProperties';
    if (beside !== undefined && isNeeded) own.set(name, anything(name, beside));
  }
  return compileSchema(own)(value);
}

/** Of other properties only the names count here. */
function anything(name: string, beside: Value): Value {
  if (!isDocument(beside) || name.startsWith('exclusive')) return beside;
  return new Map([...beside.keys()].map((key) => [key, new Map<string, Value>()]));
}

function ruleDetails(schema: Document, keyword: string, operand: Value, value: Value): Document {
  const details: Document = documentOf({ operatorName: keyword });
  const specifiedAs = documentOf({ [keyword]: operand });
  const fields = isDocument(value) ? value : new Map<string, Value>();
  switch (keyword) {
    case 'properties':
      details.set('propertiesNotSatisfied', propertiesBroken(operand, fields));
      return details;
    case 'required': {
      const names = isArray(operand) ? operand : [];
      const missing = names.filter((name) => !fields.has(String(name)));
      return details.set('specifiedAs', specifiedAs).set('missingProperties', missing);
    }
    case 'additionalProperties':
      details.set('specifiedAs', specifiedAs);
      return details.set('additionalProperties', extraProperties(schema, fields));
    case 'items':
      details.set('reason', 'At least one item did not match the sub-schema');
      return itemsBroken(details, operand, isArray(value) ? value : []);
    case 'allOf':
    case 'anyOf':
    case 'oneOf':
      return details.set('schemasNotSatisfied', schemasBroken(operand, value));
    default:
      details.set('specifiedAs', specifiedAs);
      details.set('reason', REASONS[keyword] ?? 'rule was not satisfied');
      details.set('consideredValue', value);
      if (/type$/i.test(keyword)) details.set('consideredType', typeName(typeOf(value)));
      return details;
  }
}

function propertiesBroken(operand: Value, fields: Document): Value[] {
  const properties = isDocument(operand) ? [...operand] : [];
  return properties.flatMap(([name, schema]): Value[] => {
    const value = fields.get(name);
    if (value === undefined || !isDocument(schema)) return [];
    const details = [...rulesBroken(schema, value)];
    if (details.length === 0) return [];
    return [documentOf({ propertyName: name, ...annotations(schema), details })];
  });
}

function itemsBroken(details: Document, operand: Value, items: readonly Value[]): Document {
  for (const [index, item] of items.entries()) {
    const schema = isArray(operand) ? operand[index] : operand;
    const broken = isDocument(schema) ? [...rulesBroken(schema, item)] : [];
    if (broken.length > 0) return details.set('itemIndex', int32(index)).set('details', broken);
  }
  return details;
}

function schemasBroken(operand: Value, value: Value): Value[] {
  const schemas = isArray(operand) ? operand.filter(isDocument) : [];
  return schemas.flatMap((schema, index): Value[] => {
    const details = [...rulesBroken(schema, value)];
    return details.length === 0 ? [] : [documentOf({ index: int32(index), details })];
  });
}

function extraProperties(schema: Document, fields: Document): Value[] {
  return [...fields].flatMap(([name, value]): Value[] => {
    const one: Document = new Map([[name, value]]);
    return holds(schema, 'additionalProperties', schema.get('additionalProperties') ?? true, one)
      ? []
      : [name];
  });
}

function annotations(schema: Document): Readonly<Record<string, Value>> {
  const found: Record<string, Value> = {};
  for (const name of ['title', 'description']) {
    const text = schema.get(name);
    if (text !== undefined) found[name] = text;
  }
  return found;
}
