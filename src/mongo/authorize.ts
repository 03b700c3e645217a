// Whether the one who gives a command may do what it does, there where it does it.
import { type MongoError, mongoFailure } from '../value/mongo-errors.js';
import { type Action, mayDo, type Role } from './auth/roles.js';
import type { Call } from './call.js';

/** As they are now: what is granted or revoked counts at the next command. */
export function rolesOf({ client }: Call): readonly Role[] {
  return client.login?.roles() ?? [];
}

export function authorize(call: Call, action: Action, database = call.database): void {
  if (!mayDo(rolesOf(call), action, database)) throw unauthorized(call, database);
}

export function unauthorized(call: Call, database = call.database): MongoError {
  return mongoFailure(
    'Unauthorized',
    `not authorized on ${database} to execute command { ${call.name}: ${shown(call)} }`,
  );
}

function shown({ command, name }: Call): string {
  const value = command.get(name);
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : '1';
}
