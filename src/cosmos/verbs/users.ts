// /dbs/{db}/users: those for whom permissions are kept.

import { failure } from '../../value/errors.js';
import { belongingVerbs, findBelonging, type Owner } from '../belonging-verbs.js';
import { ownerDatabase } from '../find.js';
import { refuseOthers } from '../names.js';
import type { CosmosRequest } from '../request.js';
import { userResource } from '../resources.js';
import { databaseRid, userRid } from '../rid.js';

export const users = belongingVerbs({
  kind: 'user',
  envelope: 'Users',
  isRenamed: true,
  owner: databaseOwner,
  read: (_, body) => {
    refuseOthers(body, 'a user', ['id']);
    return {};
  },
  resource: () => userResource,
});

export function databaseOwner(request: CosmosRequest): Owner {
  const { serial } = ownerDatabase(request);
  return { database: serial, serial, rid: databaseRid(serial) };
}

/** The user of a request about permissions. */
export function userOwner(request: CosmosRequest): Owner {
  const { serial: database } = ownerDatabase(request);
  const name = request.address.names[1] ?? '';
  const user = findBelonging(request, 'user', database, name);
  if (!user) throw failure('ownerNotFound', { owner: name });
  return { database, serial: user.serial, rid: userRid(user) };
}
