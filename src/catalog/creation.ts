// The records that databases and containers begin with and leave: each with its throughput, if that
// is its own.
import type { Serial } from '../engine/engine.js';
import { type CatalogChange, nameOf, offerChange } from './catalog-store.js';
import type { ContainerDefinition } from './definition/container-definition.js';
import type { Database, StoredContainer } from './resources.js';
import type { Throughput } from './throughput.js';

/** The index of a new container; each policy after its first has a number of its own. */
export const FIRST_INDEX = 1;

export function databaseCreation(
  id: string,
  throughput: Throughput | undefined,
): readonly CatalogChange[] {
  const database: CatalogChange = {
    name: nameOf.database(id),
    record: () => ({ kind: 'database', id }),
  };
  if (!throughput) return [database];
  const owner = ([serial = 0]: readonly Serial[]) => ({ database: serial });
  return [database, offerChange(nameOf.databaseOffer(id), owner, throughput)];
}

export function containerCreation(
  { serial: database }: Database,
  definition: ContainerDefinition,
  { ranges, engineId }: { readonly engineId: string } & Pick<StoredContainer, 'ranges'>,
  throughput: Throughput | undefined,
): readonly CatalogChange[] {
  const record = {
    kind: 'container',
    database,
    definition,
    ranges,
    engineId,
    indexVersion: FIRST_INDEX,
  } as const;
  const container: CatalogChange = {
    name: nameOf.container(database, definition.id),
    record: () => record,
  };
  if (!throughput) return [container];
  const owner = ([serial = 0]: readonly Serial[]) => ({ database, container: serial });
  const name = nameOf.containerOffer(database, definition.id);
  return [container, offerChange(name, owner, throughput)];
}

export function containerRemoval({
  database,
  definition,
}: StoredContainer): readonly CatalogChange[] {
  return [
    { name: nameOf.container(database, definition.id), remove: true },
    { name: nameOf.containerOffer(database, definition.id), remove: true },
  ];
}
