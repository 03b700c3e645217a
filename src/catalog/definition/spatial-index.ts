// Spatial indexes and the geometry they are computed in: the round earth, or a bounded plane.
import {
  asArray,
  asChoice,
  asList,
  asNumber,
  asObject,
  clip,
  field,
  firstRepeated,
  present,
  refuse,
  refuseUnknown,
} from './fields.js';
import { asIndexPath, indexPathKey, isRoot } from './index-path.js';

export type GeospatialType = 'Geography' | 'Geometry';
export interface GeospatialConfig {
  readonly type: GeospatialType;
}
export type SpatialType = 'Point' | 'LineString' | 'Polygon' | 'MultiPolygon';
export interface BoundingBox {
  readonly xmin: number;
  readonly ymin: number;
  readonly xmax: number;
  readonly ymax: number;
}
export interface SpatialIndex {
  readonly path: string;
  readonly types: readonly SpatialType[];
  readonly boundingBox?: BoundingBox;
}

const GEOSPATIAL_TYPES = ['Geography', 'Geometry'] as const;
const SPATIAL_TYPES = ['Point', 'LineString', 'Polygon', 'MultiPolygon'] as const;

export function readGeospatialConfig(value: unknown): GeospatialConfig {
  if (value === undefined) return { type: 'Geography' };
  const fields = asObject(value, 'geospatialConfig');
  const type = field(fields, 'type') ?? 'Geography';
  refuseUnknown(fields, 'geospatialConfig', ['type']);
  return { type: asChoice(type, 'geospatialConfig.type', GEOSPATIAL_TYPES) };
}

export function readSpatialIndexes(
  value: unknown,
  geospatial: GeospatialType,
): readonly SpatialIndex[] {
  const where = 'indexingPolicy.spatialIndexes';
  const entries = asList(value, where);
  const indexes = entries.map((entry, at) => readIndex(entry, `${where}[${at}]`, geospatial));
  const repeated = firstRepeated(indexes, ({ path }) => indexPathKey(asIndexPath(path, where)));
  if (repeated === undefined) return indexes;
  throw refuse(`The path '${clip(repeated.path)}' appears twice in '${where}'.`);
}

function readIndex(value: unknown, where: string, geospatial: GeospatialType): SpatialIndex {
  const fields = asObject(value, where);
  const path = readPath(field(fields, 'path'), `${where}.path`);
  const types = readTypes(field(fields, 'types'), `${where}.types`);
  const box = field(fields, 'boundingBox');
  if (box === undefined && geospatial === 'Geometry') {
    throw refuse(
      `The spatial index on '${clip(path)}' has no boundingBox, which is required ` +
        'when the type of geospatialConfig is Geometry.',
    );
  }
  if (box !== undefined && geospatial === 'Geography') {
    throw refuse(
      `The spatial index on '${clip(path)}' has a boundingBox, which is not allowed ` +
        'when the type of geospatialConfig is Geography.',
    );
  }
  const boundingBox = box === undefined ? undefined : readBox(box, `${where}.boundingBox`);
  refuseUnknown(fields, where, ['path', 'types', 'boundingBox']);
  return present({ path, types, boundingBox });
}

function readPath(value: unknown, where: string): string {
  const path = asIndexPath(value, where);
  if (!isRoot(path) && path.tuple === undefined) return value as string;
  throw refuse(
    `The path '${clip(value as string)}' of '${where}' must lead to one property, as "/place/?".`,
  );
}

/** An index that names no types takes them all. */
function readTypes(value: unknown, where: string): readonly SpatialType[] {
  if (value === undefined) return SPATIAL_TYPES;
  const entries = asArray(value, where);
  if (entries.length === 0) throw refuse(`'${where}' is empty: an index has at least one type.`);
  const types = entries.map((entry, at) => asChoice(entry, `${where}[${at}]`, SPATIAL_TYPES));
  const repeated = firstRepeated(types, (type) => type);
  if (repeated === undefined) return types;
  throw refuse(`The type ${repeated} appears twice in '${where}'.`);
}

function readBox(value: unknown, where: string): BoundingBox {
  const fields = asObject(value, where);
  const edge = (name: keyof BoundingBox) => asNumber(field(fields, name), `${where}.${name}`);
  const box = { xmin: edge('xmin'), ymin: edge('ymin'), xmax: edge('xmax'), ymax: edge('ymax') };
  refuseUnknown(fields, where, ['xmin', 'ymin', 'xmax', 'ymax']);
  if (box.xmin < box.xmax && box.ymin < box.ymax) return box;
  throw refuse(
    `'${where}' is empty: xmin ${box.xmin} must be below xmax ${box.xmax}, ` +
      `and ymin ${box.ymin} below ymax ${box.ymax}.`,
  );
}
