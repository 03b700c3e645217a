// Writes a syntax tree as text in one normal form: keywords in upper case, strings in double
// quotes, every operator in parentheses. Reading the text again gives the same tree.
import type { Collection, FromSource, OrderItem, SelectQuery, SqlExpression } from './ast.js';
import { isName } from './lexer.js';

export function printSql(query: SelectQuery): string {
  const clauses = ['SELECT'];
  if (query.distinct) clauses.push('DISTINCT');
  if (query.top !== undefined) clauses.push('TOP', printExpression(query.top));
  clauses.push(printSelection(query.select));
  if (query.from.length > 0) clauses.push('FROM', query.from.map(printSource).join(' JOIN '));
  if (query.where !== undefined) clauses.push('WHERE', printExpression(query.where));
  if (query.groupBy.length > 0) clauses.push('GROUP BY', printList(query.groupBy));
  if (query.orderBy.length > 0) {
    clauses.push('ORDER BY', query.orderBy.map(printOrderItem).join(', '));
  }
  if (query.rank !== undefined) {
    clauses.push('ORDER BY RANK', printExpression(query.rank.value));
    if (!query.rank.descending) clauses.push('ASC');
  }
  if (query.offset !== undefined) clauses.push('OFFSET', printExpression(query.offset));
  if (query.limit !== undefined) clauses.push('LIMIT', printExpression(query.limit));
  return clauses.join(' ');
}

/** The names of identifiers, functions and parameters are written as they are. */
export function printExpression(expression: SqlExpression): string {
  switch (expression.kind) {
    case 'identifier':
    case 'parameter':
      return expression.name;
    case 'number':
      return printNumber(expression.value);
    case 'string':
      return JSON.stringify(expression.value);
    case 'boolean':
      return String(expression.value);
    case 'null':
    case 'undefined':
      return expression.kind;
    case 'member':
      return printMember(expression);
    case 'array':
      return `[${printList(expression.items)}]`;
    case 'object':
      return `{${expression.entries.map(printEntry).join(', ')}}`;
    case 'call':
      return `${expression.udf ? 'udf.' : ''}${expression.name}(${printList(expression.args)})`;
    case 'subquery': {
      const word = expression.mode === 'scalar' ? '' : expression.mode.toUpperCase();
      return `${word}(${printSql(expression.query)})`;
    }
    default:
      return `(${printOperation(expression)})`;
  }
}

type Kind<K extends SqlExpression['kind']> = Extract<SqlExpression, { readonly kind: K }>;

function printSelection(select: SelectQuery['select']): string {
  switch (select.kind) {
    case 'star':
      return '*';
    case 'value':
      return `VALUE ${printExpression(select.value)}`;
    case 'list':
      return select.items
        .map(({ value, alias }) => printExpression(value) + printAlias(alias))
        .join(', ');
    default:
      return select satisfies never;
  }
}

function printAlias(alias: string | undefined): string {
  return alias === undefined ? '' : ` AS ${alias}`;
}

function printSource({ iterate, alias, collection }: FromSource): string {
  const printed = printCollection(collection);
  return iterate ? `${alias} IN ${printed}` : printed + printAlias(alias);
}

function printCollection(collection: Collection): string {
  if (collection.kind === 'subquery') return `(${printSql(collection.query)})`;
  const steps = collection.steps.map((step) =>
    typeof step === 'string' && isName(step) ? `.${step}` : `[${JSON.stringify(step)}]`,
  );
  return collection.root + steps.join('');
}

function printList(expressions: readonly SqlExpression[]): string {
  return expressions.map(printExpression).join(', ');
}

function printOrderItem({ value, descending }: OrderItem): string {
  return printExpression(value) + (descending ? ' DESC' : '');
}

/** The shortest form that reads back as the same number, minus zero included. */
function printNumber(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

/** After a number, a dot would be read as its decimal point and a sign as applying to all of it. */
function printMember({ of, key, dotted }: Kind<'member'>): string {
  const left = of.kind === 'number' ? `(${printExpression(of)})` : printExpression(of);
  if (dotted && key.kind === 'string' && isName(key.value)) return `${left}.${key.value}`;
  return `${left}[${printExpression(key)}]`;
}

function printEntry({ name, value }: Kind<'object'>['entries'][number]): string {
  return `${JSON.stringify(name)}: ${printExpression(value)}`;
}

function printOperation(
  operation: Kind<'unary' | 'binary' | 'conditional' | 'between' | 'in' | 'like'>,
): string {
  switch (operation.kind) {
    case 'unary': {
      const operand = printExpression(operation.operand);
      return operation.operator === 'NOT' ? `NOT ${operand}` : operation.operator + operand;
    }
    case 'binary': {
      const { left, operator, right } = operation;
      return `${printExpression(left)} ${operator} ${printExpression(right)}`;
    }
    case 'conditional': {
      const { condition, then, otherwise } = operation;
      return [condition, '?', then, ':', otherwise].map(printPart).join(' ');
    }
    case 'between': {
      const { value, negated, low, high } = operation;
      return [value, ...not(negated), 'BETWEEN', low, 'AND', high].map(printPart).join(' ');
    }
    case 'in': {
      const { value, negated, list } = operation;
      return [value, ...not(negated), 'IN', `(${printList(list)})`].map(printPart).join(' ');
    }
    case 'like': {
      const { value, negated, pattern } = operation;
      const end =
        operation.escape === undefined ? [] : ['ESCAPE', JSON.stringify(operation.escape)];
      return [value, ...not(negated), 'LIKE', pattern, ...end].map(printPart).join(' ');
    }
    default:
      return operation satisfies never;
  }
}

function not(negated: boolean): readonly string[] {
  return negated ? ['NOT'] : [];
}

function printPart(part: SqlExpression | string): string {
  return typeof part === 'string' ? part : printExpression(part);
}
