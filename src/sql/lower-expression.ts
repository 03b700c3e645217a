// Expressions of the syntax tree in their logical form.
import { findFunction } from '../query/functions/all.js';
import { type AggregateName, type Expression, type Query, ROOT } from '../query/logical.js';
import { userFunction } from '../query/user-functions.js';
import { failure } from '../value/errors.js';
import type { BinaryOperator, SelectQuery, Span, SqlExpression } from './ast.js';
import type { Hints } from './hints.js';
import { type LowerState, parameterValue, resolve, type Scope, unresolved } from './scope.js';
import { SqlError } from './sql-error.js';

type LowerQuery = (query: SelectQuery) => Query;

export function lowerExpression(
  expression: SqlExpression,
  scope: Scope,
  state: LowerState,
  lowerQuery: LowerQuery,
): Expression {
  const lower = (inner: SqlExpression) => lowerExpression(inner, scope, state, lowerQuery);
  switch (expression.kind) {
    case 'number':
    case 'string':
    case 'boolean':
      return { kind: 'constant', value: expression.value };
    case 'null':
      return { kind: 'constant', value: null };
    case 'undefined':
      return { kind: 'constant', value: undefined };
    case 'parameter':
      return { kind: 'constant', value: parameterValue(expression.name, expression.span, state) };
    case 'identifier': {
      const slot = resolve(scope, expression.name);
      if (slot === undefined) throw unresolved(expression.name, expression.span);
      return { kind: 'path', slot, path: [] };
    }
    case 'member':
      return member(lower(expression.of), lower(expression.key), state.hints);
    case 'array':
      return { kind: 'array', items: expression.items.map(lower) };
    case 'object': {
      const entries = expression.entries.map(({ name, value }) => ({ name, value: lower(value) }));
      return { kind: 'object', entries };
    }
    case 'call':
      return lowerCall(expression, scope, state.hints, lower);
    case 'subquery': {
      const query = lowerQuery(expression.query);
      if (query.project.kind !== 'document') {
        return { kind: 'subquery', mode: expression.mode, query };
      }
      throw new SqlError('SC2042', "'SELECT *' is not allowed in this subquery.", expression.span);
    }
    default:
      return lowerOperator(expression, lower);
  }
}

type Operator = Extract<
  SqlExpression,
  { kind: 'unary' | 'binary' | 'conditional' | 'between' | 'in' | 'like' }
>;

function lowerOperator(
  expression: Operator,
  lower: (expression: SqlExpression) => Expression,
): Expression {
  switch (expression.kind) {
    case 'unary': {
      const of = lower(expression.operand);
      if (expression.operator === 'NOT') return { kind: 'not', of };
      if (expression.operator === '~') return { kind: 'complement', of };
      return negated(of, expression.operator === '-');
    }
    case 'binary':
      return lowerBinary(expression, lower);
    case 'conditional': {
      const { condition, otherwise } = expression;
      return {
        kind: 'conditional',
        condition: lower(condition),
        // biome-ignore lint/suspicious/noThenProperty: a branch of a conditional, never awaited
        then: lower(expression.then),
        otherwise: lower(otherwise),
      };
    }
    case 'between': {
      const value = lower(expression.value);
      const all: readonly Expression[] = [
        { kind: 'compare', operator: '>=', left: value, right: lower(expression.low) },
        { kind: 'compare', operator: '<=', left: value, right: lower(expression.high) },
      ];
      return maybeNot(expression.negated, { kind: 'and', all });
    }
    case 'in': {
      const list = expression.list.map(lower);
      return maybeNot(expression.negated, { kind: 'in', value: lower(expression.value), list });
    }
    case 'like':
      return maybeNot(expression.negated, {
        kind: 'like',
        value: lower(expression.value),
        pattern: lower(expression.pattern),
        escape: expression.escape,
      });
    default:
      throw new Error(`unknown expression ${expression satisfies never}`);
  }
}

function maybeNot(negate: boolean, of: Expression): Expression {
  return negate ? { kind: 'not', of } : of;
}

/** Signed numbers are constants, as indexes want them. */
function negated(of: Expression, negative: boolean): Expression {
  if (of.kind === 'constant' && typeof of.value === 'number') {
    return { kind: 'constant', value: negative ? -of.value : of.value };
  }
  return { kind: negative ? 'negate' : 'plus', of };
}

function member(of: Expression, key: Expression, hints: Hints): Expression {
  const step = key.kind === 'constant' ? key.value : undefined;
  const isStep = typeof step === 'string' || typeof step === 'number';
  if (of.kind !== 'path' || !isStep) return { kind: 'member', of, key };
  const computed =
    of.slot === ROOT && of.path.length === 0 ? hints.computed.get(String(step)) : undefined;
  if (computed) return computed;
  return { kind: 'path', slot: of.slot, path: [...of.path, step] };
}

function lowerBinary(
  expression: Extract<SqlExpression, { kind: 'binary' }>,
  lower: (expression: SqlExpression) => Expression,
): Expression {
  const { operator } = expression;
  if (operator === 'AND' || operator === 'OR') {
    const all = chainOf(expression, operator).map(lower);
    return { kind: operator === 'AND' ? 'and' : 'or', all };
  }
  const [left, right] = [lower(expression.left), lower(expression.right)];
  switch (operator) {
    case '||':
      return { kind: 'concatenate', left, right };
    case '??':
      return { kind: 'coalesce', left, right };
    case '=':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=':
      return { kind: 'compare', operator, left, right };
    default:
      return { kind: 'number', operator, left, right };
  }
}

/** A AND B AND C … as one list, without recursing once per operand. */
function chainOf(expression: SqlExpression, operator: BinaryOperator): readonly SqlExpression[] {
  const operands: SqlExpression[] = [];
  const waiting: SqlExpression[] = [expression];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (next.kind === 'binary' && next.operator === operator) waiting.push(next.right, next.left);
    else operands.push(next);
  }
  return operands;
}

const AGGREGATES: readonly string[] = [
  'COUNT',
  'COUNTIF',
  'SUM',
  'AVG',
  'MIN',
  'MAX',
  'MAKELIST',
  'MAKESET',
] satisfies readonly AggregateName[];
const ONLY_IN_RANK = ['FULLTEXTSCORE', 'RRF'];

function lowerCall(
  call: Extract<SqlExpression, { kind: 'call' }>,
  scope: Scope,
  hints: Hints,
  lower: (expression: SqlExpression) => Expression,
): Expression {
  const name = call.name.toUpperCase();
  if (call.udf) return { kind: 'call', ...ownFunction(call, hints), args: call.args.map(lower) };
  if (AGGREGATES.includes(name)) return lowerAggregate(call, name as AggregateName, scope, lower);
  if (name === 'DOCUMENTID') {
    checkArity(call, [1, 1]);
    lower(call.args[0] as SqlExpression);
    return { kind: 'documentId' };
  }
  if (ONLY_IN_RANK.includes(name)) {
    throw new SqlError('SC2240', `${name} is only allowed in ORDER BY RANK.`, call.span);
  }
  const fn = findFunction(name);
  if (!fn) {
    const text = `'${call.name}' is not a recognized built-in function name.`;
    throw new SqlError('SC2005', text, call.span);
  }
  checkArity(call, fn.arity);
  const args = call.args.map(lower);
  return {
    kind: 'call',
    name,
    fn,
    args: name === 'VECTORDISTANCE' ? withMetric(args, hints) : args,
  };
}

/** A container's own function, by exactly this name. */
function ownFunction(call: Extract<SqlExpression, { kind: 'call' }>, { functions }: Hints) {
  if (!functions) {
    const what = `Calling the user-defined function 'udf.${call.name}' here`;
    throw failure('notSupported', { what, hint: 'Functions can be called in queries over items.' });
  }
  if (functions.has(call.name)) return userFunction(call.name);
  const text = `'udf.${call.name}' is not a recognized user-defined function name.`;
  throw new SqlError('SC2005', text, call.span);
}

/** A distance is measured as the container's policy says, unless the query says it otherwise. */
function withMetric(args: readonly Expression[], hints: Hints): readonly Expression[] {
  if (args.length > 3) return args;
  const metrics = args
    .slice(0, 2)
    .map((arg) =>
      arg.kind === 'path' && arg.slot === ROOT ? hints.distanceFunction(arg.path) : undefined,
    );
  const distanceFunction = metrics.find((metric) => metric !== undefined);
  if (distanceFunction === undefined) return args;
  const exhaustive: Expression = args[2] ?? { kind: 'constant', value: false };
  const options: Expression = { kind: 'constant', value: { distanceFunction } };
  return [...args.slice(0, 2), exhaustive, options];
}

function lowerAggregate(
  call: Extract<SqlExpression, { kind: 'call' }>,
  name: AggregateName,
  scope: Scope,
  lower: (expression: SqlExpression) => Expression,
): Expression {
  checkArity(call, [1, 1]);
  if (scope.insideAggregate) {
    throw new SqlError('SC2101', 'Aggregates cannot be nested.', call.span);
  }
  if (!scope.aggregates) {
    const text = `The aggregate ${name} is only allowed in the SELECT clause.`;
    throw new SqlError('SC2102', text, call.span);
  }
  scope.insideAggregate = true;
  const value = lower(call.args[0] as SqlExpression);
  scope.insideAggregate = false;
  scope.aggregates.push({ name, value });
  return { kind: 'aggregate', index: scope.aggregates.length - 1 };
}

function checkArity(
  call: { readonly name: string; readonly args: readonly unknown[]; readonly span: Span },
  [min, max]: readonly [number, number],
): void {
  const given = call.args.length;
  if (given >= min && given <= max) return;
  const wanted = min === max ? `${min}` : `${min} to ${max}`;
  const text = `The ${call.name} function requires ${wanted} argument(s), but ${given} were given.`;
  throw new SqlError('SC2050', text, call.span);
}
