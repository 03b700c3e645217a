// Users and their roles. Roles are the built-in ones; new ones cannot be made.
import { compileFilter } from '../../mql/filter/filter.js';
import {
  Binary,
  type Document,
  documentOf,
  int32,
  isArray,
  isDocument,
  type Value,
} from '../../value/bson/value.js';
import { encodeDocument } from '../../value/bson/write.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import { type Role, rolesIn } from '../auth/roles.js';
import { MECHANISMS, type Mechanism } from '../auth/scram.js';
import type { User } from '../auth/users.js';
import { authorize } from '../authorize.js';
import type { Call, Reply } from '../call.js';
import {
  arrayOf,
  checkFields,
  collectionOf,
  documentOfField,
  missingField,
  textOf,
  truthOf,
} from '../fields.js';
import { base64 } from '../index-spec.js';
import { PLAIN_LANGUAGE, readBase64 } from '../shape.js';
import { notSupported } from './find.js';

const USER_FIELDS: readonly string[] = [
  ...['pwd', 'customData', 'roles', 'mechanisms', 'digestPassword'],
  ...['authenticationRestrictions'],
];

export async function createUser(call: Call): Promise<Reply> {
  checkFields(call, USER_FIELDS);
  refuseRestrictions(call);
  const password = textOf(call, 'pwd');
  if (password === undefined) throw missingField('createUser.pwd');
  if (password === '') throw mongoFailure('BadValue', 'Password cannot be empty');
  const roles = rolesOf(call, 'roles');
  if (!roles) throw missingField('createUser.roles');
  const customData = documentOfField(call, 'customData');
  await call.mongo.users.create(
    {
      user: collectionOf(call),
      database: call.database,
      roles,
      ...(customData ? { customData: base64(customData) } : {}),
    },
    { password, mechanisms: mechanismsOf(call) },
    call.at,
  );
  return documentOf({});
}

export async function updateUser(call: Call): Promise<Reply> {
  checkFields(call, USER_FIELDS);
  refuseRestrictions(call);
  const user = call.mongo.users.require(collectionOf(call), call.database);
  if (!USER_FIELDS.some((name) => call.command.has(name))) {
    throw mongoFailure('BadValue', 'Must specify at least one field to update in updateUser');
  }
  const password = textOf(call, 'pwd');
  const roles = rolesOf(call, 'roles');
  const customData = documentOfField(call, 'customData');
  await call.mongo.users.change(
    user,
    { ...(roles ? { roles } : {}), ...(customData ? { customData: base64(customData) } : {}) },
    password === undefined ? undefined : { password, mechanisms: mechanismsOf(call) },
    call.at,
  );
  return documentOf({});
}

export async function dropUser(call: Call): Promise<Reply> {
  checkFields(call, []);
  const { users } = call.mongo;
  await users.remove(users.require(collectionOf(call), call.database), call.at);
  return documentOf({});
}

export async function dropAllUsers(call: Call): Promise<Reply> {
  checkFields(call, []);
  const { users } = call.mongo;
  const there = users.in(call.database);
  for (const user of there) await users.remove(user, call.at);
  return documentOf({ n: int32(there.length) });
}

export async function grantRoles(call: Call): Promise<Reply> {
  checkFields(call, ['roles']);
  const user = call.mongo.users.require(collectionOf(call), call.database);
  const roles = [...user.roles];
  for (const role of rolesOf(call, 'roles') ?? []) {
    if (!roles.some((each) => isSame(each, role))) roles.push(role);
  }
  await call.mongo.users.change(user, { roles }, undefined, call.at);
  return documentOf({});
}

export async function revokeRoles(call: Call): Promise<Reply> {
  checkFields(call, ['roles']);
  const user = call.mongo.users.require(collectionOf(call), call.database);
  const gone = rolesOf(call, 'roles') ?? [];
  const roles = user.roles.filter((role) => !gone.some((each) => isSame(each, role)));
  await call.mongo.users.change(user, { roles }, undefined, call.at);
  return documentOf({});
}

export function usersInfo(call: Call): Reply {
  checkFields(call, [
    'showCredentials',
    'showPrivileges',
    'showAuthenticationRestrictions',
    'showCustomData',
    'filter',
  ]);
  if (!asked(call).every((wanted) => isOneself(call, wanted))) authorize(call, 'users');
  if (truthOf(call, 'showCredentials')) throw notSupported('usersInfo.showCredentials');
  const { users } = call.mongo;
  const filter = documentOfField(call, 'filter');
  const matches = filter ? compileFilter(filter, PLAIN_LANGUAGE).matches : () => true;
  const showsData = truthOf(call, 'showCustomData', true);
  const found = asked(call).flatMap((wanted) => {
    if (wanted === 'all') return users.in(undefined);
    if (wanted === 'here') return users.in(call.database);
    const user = users.find(wanted.user, wanted.db);
    return user ? [user] : [];
  });
  const described = found.map((user) => describe(user, showsData));
  return documentOf({ users: described.filter((row) => matches(encodeDocument(row))) });
}

type Asked = 'all' | 'here' | { readonly user: string; readonly db: string };

function asked(call: Call): readonly Asked[] {
  const given = call.command.get(call.name);
  const one = (value: Value | undefined): Asked => {
    if (typeof value === 'string') return { user: value, db: call.database };
    if (!isDocument(value)) return 'here';
    if (value.has('forAllDBs')) return 'all';
    return { user: String(value.get('user')), db: String(value.get('db') ?? call.database) };
  };
  return isArray(given) ? given.map(one) : [one(given)];
}

/** Everybody may look at the own entry. */
function isOneself({ client: { login } }: Call, wanted: Asked): boolean {
  if (wanted === 'all' || wanted === 'here') return false;
  return wanted.user === login?.user && wanted.db === login.database;
}

function describe(user: User, showsData: boolean): Document {
  const uuid = Buffer.from(user.uuid.replaceAll('-', ''), 'hex');
  return documentOf({
    _id: `${user.database}.${user.user}`,
    userId: new Binary(4, uuid),
    user: user.user,
    db: user.database,
    ...(showsData && user.customData ? { customData: readBase64(user.customData) } : {}),
    roles: user.roles.map(({ role, db }) => documentOf({ role, db })),
    mechanisms: MECHANISMS.filter((each) => user.credentials[each] !== undefined),
  });
}

/** The built-in roles are told on demand, as by a server. */
export function rolesInfo(call: Call): Reply {
  checkFields(call, ['showPrivileges', 'showBuiltinRoles', 'showAuthenticationRestrictions']);
  const given = call.command.get('rolesInfo');
  const named = (isArray(given) ? given : [given]).flatMap((each) => {
    if (typeof each === 'string') return [{ role: each, db: call.database }];
    if (!isDocument(each)) return [];
    return [{ role: String(each.get('role')), db: String(each.get('db')) }];
  });
  const all = truthOf(call, 'showBuiltinRoles')
    ? rolesIn(call.database).map((role) => ({ role, db: call.database }))
    : [];
  const found = named.length > 0 ? named.filter(({ role, db }) => rolesIn(db).includes(role)) : all;
  const roles = found.map(({ role, db }) =>
    documentOf({ _id: `${db}.${role}`, role, db, isBuiltin: true, roles: [], inheritedRoles: [] }),
  );
  return documentOf({ roles });
}

function rolesOf(call: Call, name: string): readonly Role[] | undefined {
  return arrayOf(call, name)?.map((each): Role => {
    if (typeof each === 'string') return { role: each, db: call.database };
    const [role, db] = isDocument(each) ? [each.get('role'), each.get('db')] : [];
    if (typeof role === 'string' && typeof db === 'string') return { role, db };
    throw mongoFailure('BadValue', 'Role names must be either strings or objects');
  });
}

function mechanismsOf(call: Call): readonly Mechanism[] {
  const given = arrayOf(call, 'mechanisms');
  if (!given) return MECHANISMS;
  return given.map((each) => {
    const known = MECHANISMS.find((mechanism) => mechanism === each);
    if (known) return known;
    throw mongoFailure('BadValue', `Unknown auth mechanism '${String(each)}'`);
  });
}

function refuseRestrictions(call: Call): void {
  if ((arrayOf(call, 'authenticationRestrictions') ?? []).length > 0) {
    throw notSupported(`${call.name}.authenticationRestrictions`);
  }
  if (!truthOf(call, 'digestPassword', true)) throw notSupported(`${call.name}.digestPassword`);
}

function isSame(a: Role, b: Role): boolean {
  return a.role === b.role && a.db === b.db;
}
