// From the document of a filter to its tree. Operators are looked up in tables: one per family.

import { toDouble } from '../../value/bson/numbers.js';
import { readInt32 } from '../../value/bson/read.js';
import {
  type Bytes,
  type Document,
  isArray,
  isDocument,
  isNumber,
  Regex,
  UNDEFINED,
  type Value,
} from '../../value/bson/value.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import { compileExpression } from '../expression/compile.js';
import { scopeOf } from '../expression/scope.js';
import type { Language } from '../language.js';
import { Row } from '../row.js';
import { textNode } from '../text.js';
import { arrayOperators } from './arrays.js';
import { bitOperators } from './bits.js';
import { comparisonOperators } from './comparisons.js';
import { elementOperators, isTruthy } from './elements.js';
import { evaluationOperators, regexField } from './evaluations.js';
import { geoOperators } from './geo.js';
import { schemaNode } from './json-schema.js';
import {
  allOf,
  type DocumentTest,
  EVERYTHING,
  type FieldOperators,
  isOperators,
  NOTHING,
  type Node,
  type Parser,
  type WholeOperators,
} from './tree.js';

export function parseFilter(filter: Document, language: Language): Node {
  const parser: Parser = {
    filter: (inner) => parseAll(inner, language, parser),
    operators: (path, operators) => parseOperators(path, operators, language, parser),
  };
  return parser.filter(filter);
}

const FIELD_OPERATORS: FieldOperators = {
  ...comparisonOperators,
  ...elementOperators,
  ...arrayOperators,
  ...evaluationOperators,
  ...bitOperators,
  ...geoOperators,
};

const WHOLE_OPERATORS: WholeOperators = {
  $and: (operand, _, parser) => allOf(clausesOf('$and', operand, parser)),
  $or: (operand, _, parser) => ({ kind: 'or', of: clausesOf('$or', operand, parser) }),
  $nor: (operand, _, parser) => ({ kind: 'nor', of: clausesOf('$nor', operand, parser) }),
  $comment: () => EVERYTHING,
  $alwaysTrue: () => EVERYTHING,
  $alwaysFalse: () => NOTHING,
  $expr: (operand, language) => {
    const expression = compileExpression(operand, language);
    const test: DocumentTest = (bytes, document) =>
      isTruthy(expression(scopeOf(Row.ofBytes(documentAt(bytes, document)))));
    return { kind: 'whole', operator: '$expr', operand, test };
  },
  $sampleRate: (operand, { random }) => {
    const rate = isNumber(operand) ? toDouble(operand) : Number.NaN;
    if (!(rate >= 0 && rate <= 1)) {
      throw mongoFailure('BadValue', 'argument to $sampleRate must be a number from 0 to 1');
    }
    return { kind: 'whole', operator: '$sampleRate', operand, test: () => random() < rate };
  },
  $text: textNode,
  $jsonSchema: schemaNode,
  $where: () => {
    throw mongoFailure(
      'BadValue',
      '$where is not supported: there is no server-side JavaScript here',
    );
  },
};

function documentAt(bytes: Bytes, at: number): Bytes {
  return at === 0 ? bytes : bytes.subarray(at, at + readInt32(bytes, at));
}

function clausesOf(operator: string, operand: Value, parser: Parser): readonly Node[] {
  if (!isArray(operand)) throw mongoFailure('BadValue', `${operator} must be an array`);
  if (operand.length === 0) {
    throw mongoFailure('BadValue', '$and/$or/$nor must be a nonempty array');
  }
  return operand.map((clause) => {
    if (isDocument(clause)) return parser.filter(clause);
    throw mongoFailure('BadValue', '$or/$and/$nor entries need to be full objects');
  });
}

function parseAll(filter: Document, language: Language, parser: Parser): Node {
  const nodes: Node[] = [];
  for (const [name, value] of filter) {
    if (name.startsWith('$')) {
      const operator = Object.hasOwn(WHOLE_OPERATORS, name) ? WHOLE_OPERATORS[name] : undefined;
      if (!operator) {
        throw mongoFailure(
          'BadValue',
          `unknown top level operator: ${name}. If you have a field name that starts with a '$' symbol, consider using $getField or $setField.`,
        );
      }
      nodes.push(operator(value, language, parser));
    } else nodes.push(parseField(name, value, parser));
  }
  return allOf(nodes);
}

function parseField(path: string, value: Value, parser: Parser): Node {
  if (value instanceof Regex) return regexField(path, value);
  if (isOperators(value)) return parser.operators(path, value);
  if (value === UNDEFINED) throw mongoFailure('BadValue', 'cannot compare to undefined');
  return parser.operators(path, new Map([['$eq', value]]));
}

function parseOperators(
  path: string,
  operators: Document,
  language: Language,
  parser: Parser,
): Node {
  const nodes: Node[] = [];
  for (const [operator, operand] of operators) {
    if (operator === '$not') {
      nodes.push({ kind: 'not', of: negated(path, operand, parser) });
      continue;
    }
    const parse = Object.hasOwn(FIELD_OPERATORS, operator) ? FIELD_OPERATORS[operator] : undefined;
    if (!parse) throw mongoFailure('BadValue', `unknown operator: ${operator}`);
    nodes.push(parse({ path, operator, operand, siblings: operators, language, parser }));
  }
  return allOf(nodes);
}

function negated(path: string, operand: Value, parser: Parser): Node {
  if (operand instanceof Regex) return regexField(path, operand);
  if (!isDocument(operand)) throw mongoFailure('BadValue', '$not needs a regex or a document');
  if (operand.size === 0) throw mongoFailure('BadValue', '$not cannot be empty');
  return parser.operators(path, operand);
}
