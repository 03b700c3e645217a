// From the names in a path of the control API to what they name.
import type { StoredContainer } from '../catalog/resources.js';
import { failure } from '../value/errors.js';
import type { AdminRequest } from './server.js';

export function findContainer({ catalog, names }: AdminRequest): StoredContainer {
  const [databaseId = '', containerId = ''] = names;
  const database = catalog.database(databaseId);
  if (!database) throw failure('ownerNotFound', { owner: databaseId });
  const container = catalog.container(database, containerId);
  if (!container) throw failure('ownerNotFound', { owner: containerId });
  return container;
}
