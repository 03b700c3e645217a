// /dbs/{db}/clientencryptionkeys: keys that clients encrypt with, wrapped so that only they can.
import { readEncryptionKey } from '../../catalog/definition/encryption-key.js';
import { belongingVerbs } from '../belonging-verbs.js';
import { encryptionKeyResource } from '../resources.js';
import { databaseOwner } from './users.js';

export const encryptionKeys = belongingVerbs({
  kind: 'encryptionKey',
  envelope: 'ClientEncryptionKeys',
  isRenamed: false,
  owner: databaseOwner,
  read: (_, body) => readEncryptionKey(body),
  resource: () => encryptionKeyResource,
});
