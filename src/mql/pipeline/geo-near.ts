// `$geoNear`: rows with their distance from a point, the nearest first.
import { toDouble } from '../../value/bson/numbers.js';
import {
  type Document,
  isArray,
  isDocument,
  isNumber,
  type Value,
} from '../../value/bson/value.js';
import { mongoFailure, mongoLocation } from '../../value/mongo-errors.js';
import { compileFilter } from '../filter/filter.js';
import { measureFrom } from '../filter/geo.js';
import { needShape, type Shape, shapeOf } from '../geometry.js';
import { Row, valueAt } from '../row.js';
import { batched, sortWithPauses } from './flow.js';
import { needDocument, replaced } from './simple.js';
import type { Stage, StageContext, Stages } from './stage.js';

export const geoStages: Stages = {
  $geoNear: (operand, context) => nearest(needDocument(operand, '$geoNear'), context),
};

const FIELDS = new Set([
  ...['near', 'distanceField', 'spherical', 'maxDistance', 'minDistance', 'query'],
  ...['distanceMultiplier', 'includeLocs', 'key'],
]);

interface Found {
  readonly distance: number;
  readonly location: Value;
}

function nearest(spec: Document, { language, host }: StageContext): Stage {
  const unknown = [...spec.keys()].find((name) => !FIELDS.has(name));
  if (unknown !== undefined) {
    throw mongoFailure('BadValue', `Unknown argument to $geoNear: ${unknown}`);
  }
  const near = spec.get('near');
  const field = spec.get('distanceField');
  if (near === undefined || typeof field !== 'string') {
    throw mongoLocation(5860400, "$geoNear requires 'near' and a string 'distanceField'");
  }
  const query = spec.get('query') ?? new Map();
  if (!isDocument(query)) throw mongoFailure('TypeMismatch', "$geoNear 'query' must be an object");
  const { matches } = compileFilter(query, language);
  const key = spec.get('key') ?? host.geoPath();
  if (typeof key !== 'string') {
    throw mongoFailure(
      'IndexNotFound',
      '$geoNear requires a 2d or 2dsphere index, but none were found',
    );
  }
  const isPair = !isDocument(near) || !near.has('coordinates');
  const measure = measureFrom(needShape(near, '$geoNear'), isPair, spec.get('spherical') === true);
  const min = limit(spec, 'minDistance', 0);
  const max = limit(spec, 'maxDistance', Number.POSITIVE_INFINITY);
  const factor = limit(spec, 'distanceMultiplier', 1);
  const locations = spec.get('includeLocs');
  return async function* (input, run) {
    const found: { readonly row: Row; readonly distance: number }[] = [];
    for await (const batch of input) {
      for (const row of batch) {
        const place = matches(row.bytes) ? closest(row, key.split('.'), measure) : undefined;
        if (!place || place.distance < min || place.distance > max) continue;
        run.memory.hold(row.size, '$geoNear');
        const distance = place.distance * factor;
        const measured = replaced(row.document, field.split('.'), distance);
        const document =
          typeof locations === 'string'
            ? replaced(measured, locations.split('.'), place.location)
            : measured;
        const meta = { ...row.meta, geoDistance: distance, geoPoint: place.location };
        found.push({ row: Row.ofDocument(document, meta), distance });
        if (run.pace.isDue) await run.pace.rest();
      }
    }
    const sorted = await sortWithPauses(found, (a, b) => a.distance - b.distance, run);
    yield* batched(sorted.map(({ row }) => row));
  };
}

function closest(
  row: Row,
  names: readonly string[],
  measure: (shape: Shape) => number,
): Found | undefined {
  const value = valueAt(row.document, names, 0);
  const whole = shapeOf(value);
  const candidates = whole ? [value] : isArray(value) ? value : [];
  let best: Found | undefined;
  for (const location of candidates) {
    const shape = shapeOf(location);
    const distance = shape ? measure(shape) : Number.POSITIVE_INFINITY;
    if (location === undefined || !Number.isFinite(distance)) continue;
    if (!best || distance < best.distance) best = { distance, location };
  }
  return best;
}

function limit(spec: Document, name: string, otherwise: number): number {
  const value = spec.get(name);
  if (value === undefined) return otherwise;
  if (isNumber(value) && toDouble(value) >= 0) return toDouble(value);
  throw mongoFailure('TypeMismatch', `${name} must be a nonnegative number`);
}
