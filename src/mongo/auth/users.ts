// Who may log in: the account, whose passwords are its keys, and users that were created. And what
// they may do, by the built-in roles.
import type { Collections } from '../../catalog/collections.js';
import type { Keys } from '../../http/keys.js';
import type { Entropy } from '../../time/entropy.js';
import type { Instant } from '../../time/instant.js';
import { mongoFailure, mongoLocation } from '../../value/mongo-errors.js';
import { type Role, rolesIn } from './roles.js';
import {
  type CredentialSet,
  fakeCredentials,
  MECHANISMS,
  type Mechanism,
  makeCredentials,
  saltBytesOf,
} from './scram.js';

/** Somebody who has proved to be a user. */
export interface Login {
  readonly user: string;
  readonly database: string;
  /** As they are now. */
  roles(): readonly Role[];
}
export interface User {
  readonly user: string;
  readonly database: string;
  readonly uuid: string;
  readonly roles: readonly Role[];
  readonly credentials: Readonly<Partial<Record<Mechanism, CredentialSet>>>;
  /** BSON, in base64. */
  readonly customData?: string;
}

/** The account's name, and the one that connection strings of the official emulator have. */
export const ACCOUNT_NAMES: readonly string[] = ['mayfly', 'localhost'];
const SECRET_BYTES = 32;
const USERS_MAX = 10_000;
const ADMIN = 'admin';

export class Users {
  readonly #collections: Collections;
  readonly #entropy: Entropy;
  readonly #passwords: readonly { readonly key: string; readonly roles: readonly Role[] }[];
  /** Of the account, made when they are first asked for. */
  readonly #ofAccount = new Map<string, Promise<CredentialSet>>();
  readonly #secret: Uint8Array;

  constructor(collections: Collections, entropy: Entropy, keys: Keys) {
    this.#collections = collections;
    this.#entropy = entropy;
    this.#secret = entropy.bytes(SECRET_BYTES);
    const root = [{ role: 'root', db: ADMIN }];
    const reader = [
      { role: 'readAnyDatabase', db: ADMIN },
      { role: 'clusterMonitor', db: ADMIN },
    ];
    const given = [
      { key: keys.primary, roles: root },
      { key: keys.secondary, roles: root },
      { key: keys.primaryReadOnly, roles: reader },
      { key: keys.secondaryReadOnly, roles: reader },
    ];
    this.#passwords = given.filter((each): each is { key: string; roles: Role[] } => !!each.key);
  }

  find(user: string, database: string): User | undefined {
    const record = this.#collections.record('mongoUser', idOf(user, database));
    return record?.value as User | undefined;
  }

  in(database: string | undefined): readonly User[] {
    const all = this.#collections.records('mongoUser').map(({ value }) => value as User);
    return all.filter((each) => database === undefined || each.database === database);
  }

  mechanismsOf(user: string, database: string): readonly Mechanism[] | undefined {
    const found = this.find(user, database);
    if (found) return MECHANISMS.filter((each) => found.credentials[each] !== undefined);
    return isAccount(user) ? MECHANISMS : undefined;
  }

  /** Those of nobody look like those of somebody. */
  async credentialsOf(
    mechanism: Mechanism,
    user: string,
    database: string,
  ): Promise<CredentialSet> {
    const own = this.find(user, database)?.credentials[mechanism];
    if (own) return own;
    if (!isAccount(user) || this.find(user, database)) {
      return fakeCredentials(mechanism, user, this.#secret);
    }
    const name = `${mechanism} ${user}`;
    const known = this.#ofAccount.get(name);
    if (known) return known;
    const passwords = this.#passwords.map(({ key }) => key);
    const salt = this.#entropy.bytes(saltBytesOf(mechanism));
    const made = makeCredentials(mechanism, user, passwords, salt);
    this.#ofAccount.set(name, made);
    return made;
  }

  /** Whoever has proved to know the password of that number. */
  login(user: string, database: string, password: number): Login {
    if (this.find(user, database)) {
      return { user, database, roles: () => this.find(user, database)?.roles ?? [] };
    }
    const roles = this.#passwords[password]?.roles ?? [];
    return { user, database, roles: () => roles };
  }

  async create(user: Omit<User, 'uuid' | 'credentials'>, given: NewPassword, at: Instant) {
    if (this.find(user.user, user.database) || isAccount(user.user)) {
      throw mongoLocation(51003, `User "${idOf(user.user, user.database, '@')}" already exists`);
    }
    if (this.in(undefined).length >= USERS_MAX) {
      throw mongoFailure('OperationFailed', `There are ${USERS_MAX} users, which is the maximum.`);
    }
    checkRoles(user.roles);
    const credentials = await this.#credentials(user.user, given);
    await this.#write({ ...user, uuid: this.#entropy.uuid(), credentials }, at);
  }

  async change(
    user: User,
    change: Partial<Pick<User, 'roles' | 'customData'>>,
    given: NewPassword | undefined,
    at: Instant,
  ): Promise<void> {
    checkRoles(change.roles ?? []);
    const credentials = given ? await this.#credentials(user.user, given) : user.credentials;
    await this.#write({ ...user, ...change, credentials }, at);
  }

  remove({ user, database }: User, at: Instant): Promise<void> {
    const id = idOf(user, database);
    return this.#collections.writeRecord({ kind: 'mongoUser', id, value: undefined }, at);
  }

  /** A user that is there, or the error that says it is not. */
  require(user: string, database: string): User {
    const found = this.find(user, database);
    if (found) return found;
    throw mongoFailure('UserNotFound', `Could not find user "${user}" for db "${database}"`);
  }

  async #credentials(user: string, { password, mechanisms }: NewPassword) {
    const credentials: Partial<Record<Mechanism, CredentialSet>> = {};
    for (const mechanism of mechanisms) {
      const salt = this.#entropy.bytes(saltBytesOf(mechanism));
      credentials[mechanism] = await makeCredentials(mechanism, user, [password], salt);
    }
    return credentials;
  }

  #write(value: User, at: Instant): Promise<void> {
    const id = idOf(value.user, value.database);
    return this.#collections.writeRecord({ kind: 'mongoUser', id, value }, at);
  }
}

export interface NewPassword {
  readonly password: string;
  readonly mechanisms: readonly Mechanism[];
}

function isAccount(user: string): boolean {
  return ACCOUNT_NAMES.includes(user);
}

function idOf(user: string, database: string, between = '.'): string {
  return between === '@' ? `${user}@${database}` : `${database}${between}${user}`;
}

function checkRoles(roles: readonly Role[]): void {
  for (const { role, db } of roles) {
    if (rolesIn(db).includes(role)) continue;
    throw mongoFailure('RoleNotFound', `Could not find role: ${role}@${db}`);
  }
}
