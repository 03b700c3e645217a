// GeoJSON on the globe, with the WGS-84 ellipsoid for lengths and areas. What is not a valid
// geometry is undefined to all functions but those that ask for validity.
import { type FunctionTable, fn, type Value } from '../function.js';
import { positionOf } from './arcs.js';
import { withEffort } from './effort.js';
import { type Reading, readGeometry, steradiansOf } from './geo-json.js';
import { geodesicDistance, squareMetresOf } from './geodesy.js';
import { type Geometry, intersects, isWithin, nearestPlaces } from './polygons.js';

export const spatialFunctions: FunctionTable = {
  ST_DISTANCE: ofTwo(distanceBetween),
  ST_WITHIN: ofTwo(isWithin),
  ST_INTERSECTS: ofTwo(intersects),
  ST_AREA: ofOne((reading) => (reading.valid ? areaOf(reading.geometry) : undefined)),
  ST_ISVALID: ofOne((reading) => reading.valid),
  ST_ISVALIDDETAILED: ofOne((reading) =>
    reading.valid ? { valid: true } : { valid: false, reason: reading.reason },
  ),
};

function ofOne(answer: (reading: Reading) => Value) {
  return fn<[object]>(['object'], ([value]) => withEffort(() => answer(readGeometry(value))));
}

function ofTwo(answer: (a: Geometry, b: Geometry) => Value) {
  return fn<[object, object]>(['object', 'object'], ([first, second]) =>
    withEffort(() => {
      const a = readGeometry(first);
      const b = readGeometry(second);
      return a.valid && b.valid ? answer(a.geometry, b.geometry) : undefined;
    }),
  );
}

/**
 * Metres. Between two points it is the geodesic. Otherwise the nearest places are looked for on a
 * sphere, and the geodesic between them may be up to 1 % longer than the shortest one.
 */
function distanceBetween(a: Geometry, b: Geometry): number {
  const nearest = intersects(a, b) ? undefined : nearestPlaces(a, b);
  return nearest ? geodesicDistance(positionOf(nearest[0]), positionOf(nearest[1])) : 0;
}

/** Square metres; points and lines have none. */
function areaOf({ areas }: Geometry): number {
  return squareMetresOf(areas.reduce((sum, area) => sum + steradiansOf(area), 0));
}
