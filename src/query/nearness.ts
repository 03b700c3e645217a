// What spatial conditions say about where an item is: within some angle of a place. Enough for an
// index of points, and looked at again on the item.
import { placeCircle } from './functions/geo-json.js';
import type { CompareOperator, Expression } from './logical.js';

export interface Nearness {
  readonly of: Expression;
  readonly centre: readonly [longitude: number, latitude: number];
  readonly radians: number;
}

/** The least radius of curvature of the ellipsoid: no metre spans a larger angle than there. */
const RADIUS_LEAST = 6_335_439;
/** Distances to lines and areas may be told too large by 1 %, never too small. */
const SLACK = 1e-9;

type Call = Extract<Expression, { kind: 'call' }>;

/** ST_DISTANCE(…) < metres, with one side given. */
export function nearnessOfDistance(
  call: Call,
  operator: CompareOperator,
  metres: unknown,
): Nearness | undefined {
  if (call.name !== 'ST_DISTANCE' || (operator !== '<' && operator !== '<=')) return undefined;
  if (typeof metres !== 'number' || !(metres >= 0)) return undefined;
  const [first, second] = call.args;
  return around(first, second, metres) ?? around(second, first, metres);
}

/** ST_WITHIN(property, area), or ST_INTERSECTS with one side given. */
export function nearnessOfCall({ name, args }: Call): Nearness | undefined {
  const [first, second] = args;
  if (name === 'ST_WITHIN') return around(first, second, 0);
  if (name === 'ST_INTERSECTS') return around(first, second, 0) ?? around(second, first, 0);
  return undefined;
}

function around(
  of: Expression | undefined,
  given: Expression | undefined,
  metres: number,
): Nearness | undefined {
  if (of?.kind !== 'path') return undefined;
  const value = given && constantOf(given);
  if (typeof value !== 'object' || value === null) return undefined;
  const circle = placeCircle(value);
  if (!circle) return undefined;
  return { of, centre: circle.centre, radians: circle.radians + metres / RADIUS_LEAST + SLACK };
}

/** Objects and arrays in the text of a query are written of constants. */
function constantOf(expression: Expression): unknown {
  switch (expression.kind) {
    case 'constant':
      return expression.value;
    case 'array':
      return expression.items.map(constantOf);
    case 'object':
      return Object.fromEntries(
        expression.entries.map(({ name, value }) => [name, constantOf(value)]),
      );
    default:
      return undefined;
  }
}
