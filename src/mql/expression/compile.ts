// From a value to an expression: paths, variables, operators, documents, arrays and constants.
import { BsonType } from '../../value/bson/types.js';
import {
  DateTime,
  type Document,
  isArray,
  isDocument,
  Singleton,
  Timestamp,
  type Value,
} from '../../value/bson/value.js';
import { mongoFailure, mongoLocation } from '../../value/mongo-errors.js';
import { fieldPath } from '../filter/path.js';
import type { Language } from '../language.js';
import { valueAt } from '../row.js';
import { folded } from './arguments.js';
import { arithmeticOperators } from './arithmetic.js';
import { arrayOperators } from './arrays.js';
import { conversionOperators } from './conversions.js';
import { dateOperators } from './dates.js';
import { functionOperators } from './functions.js';
import { iterationOperators } from './iteration.js';
import { logicOperators } from './logic.js';
import { objectExpression, objectOperators } from './objects.js';
import { patternOperators } from './patterns.js';
import { type Compiler, constant, constantOf, type Expression, type Operators } from './scope.js';
import { setOperators } from './sets.js';
import { statisticOperators } from './statistics.js';
import { stringOperators } from './strings.js';

const OPERATORS: Operators = {
  ...arithmeticOperators,
  ...functionOperators,
  ...logicOperators,
  ...arrayOperators,
  ...iterationOperators,
  ...objectOperators,
  ...setOperators,
  ...stringOperators,
  ...patternOperators,
  ...dateOperators,
  ...conversionOperators,
  ...statisticOperators,
};

/** All there are, for the documentation and its test. */
export const OPERATOR_NAMES: readonly string[] = Object.keys(OPERATORS);

export function compileExpression(value: Value, language: Language): Expression {
  return compilerFor(language).compile(value);
}

/** The slots of one compiler and of those inside of it are counted together. */
export function compilerFor(language: Language): Compiler {
  return scopedCompiler(language, new Map(), { next: 0 });
}

/** What `$$REMOVE` and the answers of `$redact` are told apart by. */
export const REDACT = {
  DESCEND: new Singleton(BsonType.undefined),
  PRUNE: new Singleton(BsonType.undefined),
  KEEP: new Singleton(BsonType.undefined),
} as const;

const EXPRESSION_DEPTH_MAX = 150;

function scopedCompiler(
  language: Language,
  variables: ReadonlyMap<string, number>,
  slots: { next: number },
): Compiler {
  let depth = 0;
  const compiler: Compiler = {
    language,
    compile: (value) => {
      if (++depth > EXPRESSION_DEPTH_MAX) {
        throw mongoFailure('Overflow', 'an expression is nested too deeply');
      }
      const expression = compileValue(value, compiler, variables);
      depth--;
      return expression;
    },
    binding: (names) => {
      const bound = names.map(() => slots.next++);
      const known = new Map(variables);
      names.forEach((name, at) => {
        known.set(name, bound[at] as number);
      });
      return { inner: scopedCompiler(language, known, slots), slots: bound };
    },
  };
  return compiler;
}

function compileValue(
  value: Value,
  compiler: Compiler,
  variables: ReadonlyMap<string, number>,
): Expression {
  if (typeof value === 'string') {
    return value.startsWith('$') ? reference(value, compiler.language, variables) : constant(value);
  }
  if (isArray(value)) {
    const elements = value.map((element) => compiler.compile(element));
    return folded(elements, (values) => values.map((element) => element ?? null));
  }
  if (isDocument(value)) return compileDocument(value, compiler);
  return constant(value);
}

function compileDocument(document: Document, compiler: Compiler): Expression {
  const [first] = document.keys();
  if (first?.startsWith('$')) {
    if (document.size > 1) {
      throw mongoLocation(
        15983,
        `an expression specification must contain exactly one field, the name of the expression. Found ${document.size} fields`,
      );
    }
    const operator = Object.hasOwn(OPERATORS, first) ? OPERATORS[first] : undefined;
    if (!operator) throw unrecognized(first);
    return operator(document.get(first) as Value, compiler, first);
  }
  const fields = [...document].map(([name, value]) => {
    checkFieldName(name);
    return [name, compiler.compile(value)] as const;
  });
  return objectExpression(fields);
}

export function unrecognized(name: string) {
  return mongoFailure('InvalidPipelineOperator', `Unrecognized expression '${name}'`);
}

function checkFieldName(name: string): void {
  if (name.includes('.')) {
    throw mongoLocation(
      16412,
      `FieldPath field names may not contain '.'. Consider using $getField or $setField.`,
    );
  }
  if (name.startsWith('$')) throw dollarName();
}

function dollarName() {
  return mongoLocation(
    16410,
    "FieldPath field names may not start with '$'. Consider using $getField or $setField.",
  );
}

/** `$a.b` is a field of `$$CURRENT`; `$$name.a.b` is one of a variable. */
function reference(
  text: string,
  language: Language,
  variables: ReadonlyMap<string, number>,
): Expression {
  if (text.startsWith('$$')) {
    const [name = '', ...path] = text.slice(2).split('.');
    checkPath(path, text);
    return member(variable(name, language, variables), path);
  }
  const path = text.slice(1).split('.');
  if (text === '$') throw mongoLocation(16872, "'$' by itself is not a valid FieldPath");
  checkPath(path, text);
  const current = variables.get('CURRENT');
  if (current !== undefined) return member(({ slots }) => slots[current], path);
  const steps = fieldPath(text.slice(1));
  return ({ row }) => row.at(steps, path);
}

const PATH_PARTS_MAX = 200;

export function checkPath(path: readonly string[], text: string): void {
  if (path.length > PATH_PARTS_MAX) {
    throw mongoFailure('Overflow', `FieldPath is too long: ${text.slice(0, 40)}`);
  }
  for (const name of path) {
    if (name === '') {
      if (text.endsWith('.')) throw mongoLocation(40353, "FieldPath must not end with a '.'.");
      throw mongoLocation(15998, 'FieldPath field names may not be empty strings.');
    }
    if (name.startsWith('$')) throw dollarName();
  }
}

function member(of: Expression, path: readonly string[]): Expression {
  if (path.length === 0) return of;
  const known = constantOf(of);
  const read = (value: Value | undefined): Value | undefined => {
    if (isDocument(value)) return valueAt(value, path, 0);
    if (!isArray(value)) return undefined;
    return value.flatMap((element) => {
      const found = isDocument(element) ? valueAt(element, path, 0) : undefined;
      return found === undefined ? [] : [found];
    });
  };
  return known ? constant(read(known.value)) : (scope) => read(of(scope));
}

function variable(
  name: string,
  language: Language,
  variables: ReadonlyMap<string, number>,
): Expression {
  const slot = variables.get(name);
  if (slot !== undefined) return ({ slots }) => slots[slot];
  switch (name) {
    case 'ROOT':
    case 'CURRENT':
      return ({ row }) => row.document;
    case 'REMOVE':
      return constant(undefined);
    case 'NOW':
      return constant(new DateTime(language.now));
    case 'CLUSTER_TIME':
      return constant(new Timestamp(Math.floor(language.now / 1000), 1));
    case 'DESCEND':
    case 'PRUNE':
    case 'KEEP':
      return constant(REDACT[name]);
    default:
      // Read at the time of evaluation: inner pipelines are compiled once for many outer rows.
      if (language.variables.has(name)) return () => language.variables.get(name);
      throw mongoLocation(17276, `Use of undefined variable: ${name}`);
  }
}
