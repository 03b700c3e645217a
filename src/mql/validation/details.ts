// Why a document does not match a filter, as the server tells it of validators: the operators that
// were not satisfied, as they were specified, with the value that was considered.
import { decodeDocument } from '../../value/bson/read.js';
import { typeName } from '../../value/bson/types.js';
import {
  type Bytes,
  type Document,
  documentOf,
  int32,
  isArray,
  isDocument,
  Regex,
  typeOf,
  type Value,
} from '../../value/bson/value.js';
import { compileExpression } from '../expression/compile.js';
import { scopeOf } from '../expression/scope.js';
import { compileFilter } from '../filter/filter.js';
import type { Language } from '../language.js';
import { Row, valueAt } from '../row.js';
import { schemaDetails } from './schema-details.js';

interface Subject {
  readonly bytes: Bytes;
  readonly document: Document;
  readonly language: Language;
}
/** One condition of a filter, and what it is called. */
interface Clause {
  readonly operator: string;
  /** The condition as a filter of its own. */
  readonly specifiedAs: Document;
  readonly path?: string;
}

export function validationDetails(filter: Document, bytes: Bytes, language: Language): Document {
  return detailsOf({ bytes, document: decodeDocument(bytes), language }, filter);
}

function detailsOf(subject: Subject, filter: Document): Document {
  const clauses = clausesOf(filter);
  const [only] = clauses;
  if (only && clauses.length === 1) return clauseDetails(subject, only);
  return documentOf({
    operatorName: '$and',
    clausesNotSatisfied: listed(clauses, subject, false),
  });
}

function clausesOf(filter: Document): readonly Clause[] {
  return [...filter].flatMap(([name, operand]): readonly Clause[] => {
    if (name === '$comment') return [];
    if (name.startsWith('$')) return [{ operator: name, specifiedAs: new Map([[name, operand]]) }];
    const isOperators = isDocument(operand) && [...operand.keys()][0]?.startsWith('$');
    if (!isDocument(operand) || !isOperators) {
      const operator = operand instanceof Regex ? '$regex' : '$eq';
      return [{ operator, specifiedAs: new Map([[name, operand]]), path: name }];
    }
    return [...operand]
      .filter(([operator]) => operator !== '$options')
      .map(([operator, value]): Clause => {
        const own = new Map([[operator, value]]);
        if (operator === '$regex' && operand.has('$options')) {
          own.set('$options', operand.get('$options') as Value);
        }
        return { operator, specifiedAs: new Map([[name, own]]), path: name };
      });
  });
}

function isSatisfied({ bytes, language }: Subject, filter: Document): boolean {
  return compileFilter(filter, language).matches(bytes);
}

function listed(clauses: readonly Clause[], subject: Subject, satisfied: boolean): Value[] {
  return clauses.flatMap((clause, index): Value[] => {
    if (isSatisfied(subject, clause.specifiedAs) !== satisfied) return [];
    return [documentOf({ index: int32(index), details: clauseDetails(subject, clause) })];
  });
}

function clauseDetails(subject: Subject, { operator, specifiedAs, path }: Clause): Document {
  const operand = specifiedAs.get(operator);
  switch (operator) {
    case '$and':
    case '$or':
      return documentOf({
        operatorName: operator,
        clausesNotSatisfied: branches(subject, operand, false),
      });
    case '$nor':
      return documentOf({
        operatorName: operator,
        clausesSatisfied: branches(subject, operand, true),
      });
    case '$jsonSchema':
      return schemaDetails(isDocument(operand) ? operand : new Map(), subject.document);
    case '$expr': {
      const expression = compileExpression(operand ?? null, subject.language);
      const result = expression(scopeOf(Row.ofDocument(subject.document))) ?? null;
      const reason = 'expression did not match';
      return documentOf({ operatorName: operator, specifiedAs, reason, expressionResult: result });
    }
    default:
      return fieldDetails(subject, operator, specifiedAs, path ?? '');
  }
}

function branches(subject: Subject, operand: Value | undefined, satisfied: boolean): Value[] {
  const filters = isArray(operand) ? operand.filter(isDocument) : [];
  return filters.flatMap((filter, index): Value[] => {
    if (isSatisfied(subject, filter) !== satisfied) return [];
    return [documentOf({ index: int32(index), details: detailsOf(subject, filter) })];
  });
}

const REASONS: Readonly<Record<string, string>> = {
  $type: 'type did not match',
  $in: 'no matching value found in array',
  $nin: 'matching value found in array',
  $regex: 'regular expression did not match',
  $size: 'array length was not equal to given size',
  $mod: '$mod did not evaluate to expected remainder',
  $elemMatch: 'array did not satisfy the child predicate',
  $all: 'array did not contain all specified values',
  $not: 'child expression matched',
};

function fieldDetails(
  { document }: Subject,
  operator: string,
  specifiedAs: Document,
  path: string,
): Document {
  const value = valueAt(document, path.split('.'), 0);
  const details: Document = documentOf({ operatorName: operator, specifiedAs });
  if (operator === '$exists') {
    details.set('reason', value === undefined ? 'path does not exist' : 'path does exist');
    return details;
  }
  if (value === undefined) return details.set('reason', 'field was missing');
  details.set('reason', REASONS[operator] ?? 'comparison failed');
  details.set('consideredValue', value);
  if (operator === '$type') details.set('consideredType', typeName(typeOf(value)));
  return details;
}
