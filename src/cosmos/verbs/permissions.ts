// /dbs/{db}/users/{user}/permissions: what a user may do, shown with a fresh token every time.
import { isDeepStrictEqual } from 'node:util';
import { belongingVerbs } from '../belonging-verbs.js';
import { readPermission } from '../permission-body.js';
import { tokenSeconds } from '../resource-token.js';
import { permissionResource } from '../resources.js';
import { userOwner } from './users.js';

export const permissions = belongingVerbs({
  kind: 'permission',
  envelope: 'Permissions',
  isRenamed: true,
  owner: userOwner,
  read: readPermission,
  clashes: (body, other) => isDeepStrictEqual(body.scope, other.body.scope),
  resource: (request) => {
    const seconds = tokenSeconds(request.headers);
    return (permission) =>
      permissionResource(permission, request.tokens.mint(permission, request.at, seconds));
  },
});
