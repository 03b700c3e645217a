// What clients and tools ask about the server itself.
import { type Document, documentOf, int32, type Value } from '../../value/bson/value.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import { type Action, mayDo } from '../auth/roles.js';
import { rolesOf } from '../authorize.js';
import type { Call, Reply } from '../call.js';
import { truthOf } from '../fields.js';
import { DOCUMENT_BYTES_MAX } from '../wire/message.js';

/** The version whose language and replies these are. */
export const SERVER_VERSION = '7.0.14';
const VERSION_ARRAY = [7, 0, 14, 0];

export function ping(): Reply {
  return documentOf({});
}

export function gitVersionOf({ mongo }: Call): string {
  return `mayfly ${mongo.version}`;
}

export function buildInfo(call: Call): Reply {
  return documentOf({
    version: SERVER_VERSION,
    gitVersion: gitVersionOf(call),
    modules: [],
    allocator: 'system',
    javascriptEngine: 'none',
    sysInfo: 'deprecated',
    versionArray: VERSION_ARRAY.map((part) => int32(part)),
    openssl: documentOf({ running: process.versions.openssl ?? '' }),
    bits: int32(64),
    debug: false,
    maxBsonObjectSize: int32(DOCUMENT_BYTES_MAX),
    storageEngines: ['mayfly'],
  });
}

export function whatsmyuri({ client }: Call): Reply {
  return documentOf({ you: client.remote });
}

export function connectionStatus(call: Call): Reply {
  const { login } = call.client;
  const users = login ? [documentOf({ user: login.user, db: login.database })] : [];
  const roles = rolesOf(call).map(({ role, db }) => documentOf({ role, db }));
  const authInfo: Document = documentOf({
    authenticatedUsers: users,
    authenticatedUserRoles: roles,
  });
  if (truthOf(call, 'showPrivileges')) {
    authInfo.set('authenticatedUserPrivileges', login ? privilegesOf(call) : []);
  }
  return documentOf({ authInfo });
}

/** Of the last command on this connection. */
export function getLastRequestStatistics({ client }: Call): Reply {
  if (!client.last)
    throw mongoFailure('CommandFailed', 'There was no request on this connection yet');
  return documentOf({
    CommandName: client.last.command,
    RequestCharge: Math.round(client.last.charge * 100) / 100,
    RequestDurationInMilliSeconds: client.last.ms,
  });
}

const ACTIONS: readonly (readonly [Action, readonly string[]])[] = [
  ['look', ['listCollections', 'listIndexes', 'collStats', 'dbStats']],
  ['read', ['find', 'changeStream', 'killCursors']],
  ['write', ['insert', 'update', 'remove']],
  ['schema', ['createCollection', 'dropCollection', 'createIndex', 'dropIndex']],
  ['administer', ['collMod', 'dropDatabase', 'validate']],
  ['users', ['createUser', 'dropUser', 'viewUser', 'grantRole', 'revokeRole']],
];

function privilegesOf(call: Call): readonly Value[] {
  const roles = rolesOf(call);
  const names = call.mongo.catalog.databases().map(({ id }) => id);
  return names.flatMap((db): readonly Value[] => {
    const actions = ACTIONS.flatMap(([action, list]) => (mayDo(roles, action, db) ? list : []));
    if (actions.length === 0) return [];
    return [documentOf({ resource: documentOf({ db, collection: '' }), actions })];
  });
}
