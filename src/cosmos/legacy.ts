// Containers without a partition key, from the time before 2018-12-31. Since then they have a
// system key, `/_partitionKey`, which their items lack. Older versions of the API see neither the
// key nor the items that were given one later.
import type { IncomingHttpHeaders } from 'node:http';
import type { StoredContainer } from '../catalog/resources.js';
import { header } from './request.js';
import { containerResource } from './resources.js';

const FIRST_WITH_SYSTEM_KEYS = '2018-12-31';

export function isBeforeSystemKeys(headers: IncomingHttpHeaders): boolean {
  const version = header(headers, 'x-ms-version');
  return version !== undefined && version < FIRST_WITH_SYSTEM_KEYS;
}

/** How a container is shown to the version of the API that the request speaks. */
export function shownContainer(headers: IncomingHttpHeaders) {
  if (!isBeforeSystemKeys(headers)) return containerResource;
  return (container: StoredContainer) => {
    const { partitionKey, ...rest } = containerResource(container);
    return partitionKey.systemKey ? rest : { ...rest, partitionKey };
  };
}
