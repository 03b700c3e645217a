// The built-in roles, and what each allows. Roles are granted in a database; those of `admin` that
// speak of any database, and root, hold everywhere.

export interface Role {
  readonly role: string;
  readonly db: string;
}
/**
 * What a command does: `look` at what collections there are, `read` and `write` documents, change a
 * `schema` (collections and indexes), `administer` a database, keep `users`, `monitor` or `manage`
 * the server. `login` is for whoever has logged in, `nothing` for everybody.
 */
export type Action =
  | 'nothing'
  | 'login'
  | 'look'
  | 'read'
  | 'write'
  | 'schema'
  | 'administer'
  | 'users'
  | 'monitor'
  | 'manage';

const READ: readonly Action[] = ['look', 'read'];
const READ_WRITE: readonly Action[] = [...READ, 'write', 'schema'];
const ADMINISTER: readonly Action[] = ['look', 'schema', 'administer', 'monitor'];

const ALLOWS: Readonly<Record<string, readonly Action[]>> = {
  read: READ,
  readWrite: READ_WRITE,
  dbAdmin: ADMINISTER,
  userAdmin: ['users'],
  dbOwner: [...READ_WRITE, ...ADMINISTER, 'users'],
};
/** Granted in `admin`, and good for all databases. */
const ALLOWS_EVERYWHERE: Readonly<Record<string, readonly Action[]>> = {
  readAnyDatabase: READ,
  readWriteAnyDatabase: READ_WRITE,
  dbAdminAnyDatabase: ADMINISTER,
  userAdminAnyDatabase: ['users'],
  clusterMonitor: ['look', 'monitor'],
  hostManager: ['monitor', 'manage'],
  clusterManager: ['monitor', 'manage'],
  clusterAdmin: ['look', 'monitor', 'manage', 'schema', 'administer'],
  backup: [...READ, 'monitor'],
  restore: ['look', 'write', 'schema', 'administer', 'users'],
  root: [...READ_WRITE, ...ADMINISTER, 'users', 'manage'],
};
const ADMIN = 'admin';

/** The roles that can be granted in a database. */
export function rolesIn(database: string): readonly string[] {
  const own = Object.keys(ALLOWS);
  return database === ADMIN ? [...own, ...Object.keys(ALLOWS_EVERYWHERE)] : own;
}

export function mayDo(roles: readonly Role[], action: Action, database: string): boolean {
  if (action === 'login' || action === 'nothing') return true;
  return roles.some(({ role, db }) => {
    if (ALLOWS_EVERYWHERE[role]?.includes(action)) return db === ADMIN;
    return db === database && ALLOWS[role]?.includes(action) === true;
  });
}

/** Whether a database is there for somebody who may do something in it. */
export function maySee(roles: readonly Role[], database: string): boolean {
  return maySeeAll(roles) || roles.some(({ db }) => db === database);
}

export function maySeeAll(roles: readonly Role[]): boolean {
  return roles.some(({ role, db }) => db === ADMIN && role in ALLOWS_EVERYWHERE);
}
