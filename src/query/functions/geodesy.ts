// Measures on the WGS-84 ellipsoid: the length of the shortest line between two positions, and the
// area inside a ring of them.

/** In degrees, longitude first as in GeoJSON. */
export type Position = readonly [longitude: number, latitude: number];

/**
 * Metres between two positions along the geodesic, by the inverse method of T. Vincenty (1975),
 * which is right to a millimetre. It does not settle for positions that are nearly opposite each
 * other; these are measured on a sphere instead, which may be 0.6 % off.
 */
export function geodesicDistance(from: Position, to: Position): number {
  return vincentyDistance(from, to) ?? haversineDistance(from, to);
}

/**
 * The part of the full circle of directions (in steradians, of 4π) to the left of a closed ring,
 * from 0 to 2π; or, if that is more than half of the globe, minus the part to its right. The last
 * position is not repeated. Latitudes become authalic ones first, so that steradians are in
 * proportion to areas on the ellipsoid. Only the sides are not quite right: they are great circles
 * of the authalic sphere, not geodesics; with sides of 1000 km the area is right to 0.01 %.
 */
export function signedSteradians(ring: readonly Position[]): number {
  let belowRing = 0;
  let turn = 0;
  ring.forEach((from, at) => {
    const to = ring[(at + 1) % ring.length] ?? from;
    const width = wrapRadians(radians(to[0] - from[0]));
    const low = Math.tan(authalicLatitude(from[1]) / 2);
    const high = Math.tan(authalicLatitude(to[1]) / 2);
    belowRing += 2 * Math.atan2(Math.tan(width / 2) * (low + high), 1 + low * high);
    turn += width;
  });
  // A ring around a pole leaves the cap, which is what the strip down to the equator lacks.
  const left = (Math.abs(turn) > Math.PI ? 2 * Math.PI : 0) - belowRing;
  return wrap(left, 4 * Math.PI);
}

/** Square metres on the ellipsoid for one steradian. */
export function squareMetresOf(steradians: number): number {
  return (steradians * EQUATOR_RADIUS * EQUATOR_RADIUS * POLE_AUTHALIC) / 2;
}

const EQUATOR_RADIUS = 6_378_137;
const FLATTENING = 1 / 298.257223563;
const POLE_RADIUS = EQUATOR_RADIUS * (1 - FLATTENING);
const MEAN_RADIUS = (2 * EQUATOR_RADIUS + POLE_RADIUS) / 3;
const ECCENTRICITY = Math.sqrt(FLATTENING * (2 - FLATTENING));
const POLE_AUTHALIC = authalic(1);

/** A change of longitude that moves a position by less than a tenth of a millimetre. */
const SETTLED_RADIANS = 1e-12;
const ROUNDS_MAX = 100;

function vincentyDistance(from: Position, to: Position): number | undefined {
  if (from[0] === to[0] && from[1] === to[1]) return 0;
  const longitudes = wrapRadians(radians(to[0] - from[0]));
  const [sin1, cos1] = reducedLatitude(from[1]);
  const [sin2, cos2] = reducedLatitude(to[1]);
  let lambda = longitudes;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const sinLambda = Math.sin(lambda);
    const cosLambda = Math.cos(lambda);
    const sinSigma = Math.hypot(cos2 * sinLambda, cos1 * sin2 - sin1 * cos2 * cosLambda);
    if (sinSigma === 0) return 0;
    const cosSigma = sin1 * sin2 + cos1 * cos2 * cosLambda;
    const sigma = Math.atan2(sinSigma, cosSigma);
    const sinAlpha = (cos1 * cos2 * sinLambda) / sinSigma;
    const cosSquaredAlpha = 1 - sinAlpha * sinAlpha;
    // On the equator the azimuth is a quarter turn, and the middle of the line has no meaning.
    const cosMiddle = cosSquaredAlpha > 0 ? cosSigma - (2 * sin1 * sin2) / cosSquaredAlpha : 0;
    const c = (FLATTENING / 16) * cosSquaredAlpha * (4 + FLATTENING * (4 - 3 * cosSquaredAlpha));
    const bend = cosMiddle + c * cosSigma * (2 * cosMiddle * cosMiddle - 1);
    const next = longitudes + (1 - c) * FLATTENING * sinAlpha * (sigma + c * sinSigma * bend);
    if (Math.abs(next - lambda) < SETTLED_RADIANS) {
      return arcLength({ sigma, sinSigma, cosSigma, cosSquaredAlpha, cosMiddle });
    }
    if (Math.abs(next) > Math.PI) return undefined;
    lambda = next;
  }
  return undefined;
}

interface GeodesicArc {
  readonly sigma: number;
  readonly sinSigma: number;
  readonly cosSigma: number;
  readonly cosSquaredAlpha: number;
  readonly cosMiddle: number;
}

/** Vincenty's series for the length, once the longitude on the auxiliary sphere is known. */
function arcLength(arc: GeodesicArc): number {
  const { sigma, sinSigma, cosSigma, cosSquaredAlpha, cosMiddle } = arc;
  const squares = (EQUATOR_RADIUS / POLE_RADIUS) ** 2 - 1;
  const u = cosSquaredAlpha * squares;
  const a = 1 + (u / 16384) * (4096 + u * (-768 + u * (320 - 175 * u)));
  const b = (u / 1024) * (256 + u * (-128 + u * (74 - 47 * u)));
  const doubled = 2 * cosMiddle * cosMiddle - 1;
  const third = cosMiddle * (4 * sinSigma * sinSigma - 3) * (4 * cosMiddle * cosMiddle - 3);
  const correction = b * sinSigma * (cosMiddle + (b / 4) * (cosSigma * doubled - (b / 6) * third));
  return POLE_RADIUS * a * (sigma - correction);
}

function haversineDistance(from: Position, to: Position): number {
  const height = Math.sin(radians(to[1] - from[1]) / 2) ** 2;
  const width = Math.sin(radians(to[0] - from[0]) / 2) ** 2;
  const cosines = Math.cos(radians(from[1])) * Math.cos(radians(to[1]));
  return 2 * MEAN_RADIUS * Math.asin(Math.min(1, Math.sqrt(height + cosines * width)));
}

/** The sine and cosine of the latitude on the auxiliary sphere. */
function reducedLatitude(latitude: number): readonly [number, number] {
  const angle = Math.atan((1 - FLATTENING) * Math.tan(radians(latitude)));
  return [Math.sin(angle), Math.cos(angle)];
}

/** The latitude, in radians, below which the sphere of equal area has the same share of it. */
function authalicLatitude(latitude: number): number {
  const sine = authalic(Math.sin(radians(latitude))) / POLE_AUTHALIC;
  return Math.asin(Math.max(-1, Math.min(1, sine)));
}

/**
 * The area between the equator and a latitude, in units of π times the equator's radius squared.
 */
function authalic(sine: number): number {
  const e = ECCENTRICITY * sine;
  return (1 - ECCENTRICITY ** 2) * (sine / (1 - e * e) + Math.atanh(e) / ECCENTRICITY);
}

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180;
}

function wrapRadians(angle: number): number {
  return wrap(angle, 2 * Math.PI);
}

/** The nearest equivalent of a value to zero. */
function wrap(value: number, period: number): number {
  return value - period * Math.round(value / period);
}
