// The built-in roles, and what each allows. Roles are granted in a database; those of `admin` that
// speak of any database, and root, hold everywhere.

export interface Role {
  readonly role: string;
  readonly db: string;
}
/**
 * What a command does: `read` and `write` documents, change a `schema` (collections and indexes),
 * keep `users`, `monitor` or `manage` the server. `login` is for whoever has logged in, `nothing`
 * for everybody.
 */
export type Action =
  | 'nothing'
  | 'login'
  | 'read'
  | 'write'
  | 'schema'
  | 'users'
  | 'monitor'
  | 'manage';

const ALLOWS: Readonly<Record<string, readonly Action[]>> = {
  read: ['read'],
  readWrite: ['read', 'write', 'schema'],
  dbAdmin: ['schema', 'monitor'],
  userAdmin: ['users'],
  dbOwner: ['read', 'write', 'schema', 'users', 'monitor'],
};
const ALLOWS_EVERYWHERE: Readonly<Record<string, readonly Action[]>> = {
  readAnyDatabase: ['read'],
  readWriteAnyDatabase: ['read', 'write', 'schema'],
  dbAdminAnyDatabase: ['schema', 'monitor'],
  userAdminAnyDatabase: ['users'],
  clusterMonitor: ['monitor'],
  hostManager: ['monitor', 'manage'],
  clusterManager: ['monitor', 'manage'],
  clusterAdmin: ['monitor', 'manage', 'schema'],
  backup: ['read', 'monitor'],
  restore: ['write', 'schema', 'users'],
  root: ['read', 'write', 'schema', 'users', 'monitor', 'manage'],
};

export const ROLE_NAMES: readonly string[] = [
  ...Object.keys(ALLOWS),
  ...Object.keys(ALLOWS_EVERYWHERE),
];

export function isKnownRole(role: string): boolean {
  return ROLE_NAMES.includes(role);
}

export function mayDo(roles: readonly Role[], action: Action, database: string): boolean {
  if (action === 'login' || action === 'nothing') return true;
  return roles.some(({ role, db }) => {
    if (ALLOWS_EVERYWHERE[role]?.includes(action)) return db === 'admin';
    return db === database && ALLOWS[role]?.includes(action) === true;
  });
}
