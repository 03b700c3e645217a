// The one way to call a built-in function: with the kinds of its arguments checked first.
import { stopwatch } from '../../time/clock.js';
import type { ArgumentKind, CallContext, QueryFunction } from '../function.js';

/**
 * The value of a call. Undefined, without asking the function, if an argument is not of the kind it
 * takes. The number of arguments is checked where the query is compiled, not here.
 */
export function invoke(
  { takes, call }: QueryFunction,
  args: readonly unknown[],
  context: CallContext,
): unknown {
  const last = takes.length - 1;
  for (let at = 0; at < args.length; at++) {
    const kind = takes[Math.min(at, last)];
    if (kind !== undefined && !isOfKind(kind, args[at])) return undefined;
  }
  const { spent } = context;
  if (!spent) return call(args as readonly never[], context);
  const took = stopwatch();
  const value = call(args as readonly never[], context);
  spent.functionMs += took();
  return value;
}

function isOfKind(kind: ArgumentKind, value: unknown): boolean {
  switch (kind) {
    case 'maybe':
      return true;
    case 'any':
      return value !== undefined;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'number':
    case 'string':
    case 'boolean':
      return typeof value === kind;
    default:
      return kind satisfies never;
  }
}
