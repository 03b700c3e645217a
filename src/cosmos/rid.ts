// Resource ids: base64 (with `-` for `/`) of the numbers of a resource and all above it.
//
//   database    4 bytes, big-endian
//   container   database, 4 bytes big-endian with the top bit set
//   item        container, 8 bytes little-endian; the high nibble of the last byte is the type:
//               0 for items, 5 for ranges, 6 for functions, 7 for triggers, 8 for procedures
//   user        database, 4 bytes big-endian with the top bit clear
//   permission  user, 8 bytes little-endian
//   client encryption key   database, 4 bytes of zero, 4 bytes big-endian, 4 bytes: the number 2
//   offer       3 bytes, little-endian
import type { Belonging } from '../catalog/belongings.js';
import type { Database, Offer, StoredContainer } from '../catalog/resources.js';
import type { Serial } from '../engine/engine.js';

const CONTAINER_BIT = 0x8000_0000;
const RANGE_NIBBLE = 0x50;
const SCRIPT_NIBBLES = { function: 0x60, trigger: 0x70, procedure: 0x80 } as const;
/** Serials have six bytes; an id with a larger number is that of no item. */
const SERIAL_LIMIT = 2n ** 48n;

export function databaseRid(serial: Serial): string {
  return encode(databaseBytes(serial));
}

export function containerRid(container: Pick<StoredContainer, 'database' | 'serial'>): string {
  const known = containerRids.get(container);
  if (known !== undefined) return known;
  const rid = encode(containerBytes(container));
  containerRids.set(container, rid);
  return rid;
}

/** Every request on an item needs it, so it is worked out once. */
const containerRids = new WeakMap<object, string>();

export function itemRid(container: StoredContainer, serial: Serial): string {
  return childRid(container, serial, 0);
}

export function rangeRid(container: StoredContainer, id: number): string {
  return childRid(container, id + 1, RANGE_NIBBLE);
}

export type ScriptKind = keyof typeof SCRIPT_NIBBLES;

export function scriptRid({ kind, database, owner, serial }: Belonging<ScriptKind>): string {
  return childRid({ database, serial: owner }, serial, SCRIPT_NIBBLES[kind]);
}

export function offerRid(offer: Offer): string {
  const bytes = Buffer.alloc(3);
  bytes.writeUIntLE(offer.serial, 0, 3);
  return encode(bytes);
}

export function userRid(user: Pick<Belonging, 'database' | 'serial'>): string {
  return encode(userBytes(user.database, user.serial));
}

export function permissionRid(permission: Belonging<'permission'>): string {
  const { database, owner, serial } = permission;
  const bytes = Buffer.alloc(8);
  bytes.writeUIntLE(serial, 0, 6);
  return encode(Buffer.concat([userBytes(database, owner), bytes]));
}

const ENCRYPTION_KEY_TYPE = 2;

export function encryptionKeyRid(key: Belonging<'encryptionKey'>): string {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(key.serial);
  bytes.writeUInt32BE(ENCRYPTION_KEY_TYPE, 4);
  return encode(Buffer.concat([userBytes(key.database, 0), bytes]));
}

/**
 * The number of a user, permission, key or script whose id this may be; others are numbered
 * elsewhere.
 */
export function parseBelongingRid(text: string): Serial | undefined {
  const bytes = decode(text);
  if (bytes?.length === 8) return bytes.readUInt32BE(4);
  if (bytes?.length !== 16) return undefined;
  if (bytes.readUInt32BE(4) === 0) return bytes.readUInt32BE(8);
  if (Object.values<number>(SCRIPT_NIBBLES).includes(bytes.readUInt8(15))) bytes[15] = 0;
  const number = bytes.readBigUInt64LE(8);
  return number < SERIAL_LIMIT ? Number(number) : undefined;
}

export interface RidParts {
  readonly database: Serial;
  readonly container: Serial | undefined;
  readonly item: Serial | undefined;
}

/**
 * The numbers in a resource id of a database, container or item; undefined when the text is none of
 * these.
 */
export function parseRid(text: string): RidParts | undefined {
  const bytes = decode(text);
  if (!bytes || ![4, 8, 16].includes(bytes.length)) return undefined;
  const container = bytes.length > 4 ? bytes.readUInt32BE(4) : undefined;
  if (container !== undefined && container < CONTAINER_BIT) return undefined;
  const item = bytes.length > 8 ? bytes.readBigUInt64LE(8) : undefined;
  if (item !== undefined && item >= SERIAL_LIMIT) return undefined;
  return {
    database: bytes.readUInt32BE(0),
    container: container === undefined ? undefined : container - CONTAINER_BIT,
    item: item === undefined ? undefined : Number(item),
  };
}

export function parseOfferRid(text: string): Serial | undefined {
  const bytes = decode(text);
  return bytes?.length === 3 ? bytes.readUIntLE(0, 3) : undefined;
}

// Self links, as `_self` holds them.

export const databaseSelf = (database: Pick<Database, 'serial'>): string =>
  `dbs/${databaseRid(database.serial)}/`;
export function containerSelf(container: Pick<StoredContainer, 'database' | 'serial'>): string {
  const known = containerSelves.get(container);
  if (known !== undefined) return known;
  const self = `dbs/${databaseRid(container.database)}/colls/${containerRid(container)}/`;
  containerSelves.set(container, self);
  return self;
}

const containerSelves = new WeakMap<object, string>();

function databaseBytes(serial: Serial): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(serial);
  return bytes;
}

function userBytes(database: Serial, user: Serial): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(database);
  bytes.writeUInt32BE(user, 4);
  return bytes;
}

function containerBytes(container: Pick<StoredContainer, 'database' | 'serial'>): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(container.database);
  bytes.writeUInt32BE(CONTAINER_BIT + container.serial, 4);
  return bytes;
}

function childRid(
  container: Pick<StoredContainer, 'database' | 'serial'>,
  number: number,
  nibble: number,
): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32BE(container.database);
  bytes.writeUInt32BE(CONTAINER_BIT + container.serial, 4);
  bytes.writeUIntLE(number, 8, 6);
  bytes[15] = nibble;
  return encode(bytes);
}

function encode(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('/', '-');
}

function decode(text: string): Buffer | undefined {
  const standard = text.replaceAll('-', '/');
  const bytes = Buffer.from(standard, 'base64');
  return bytes.length > 0 && bytes.toString('base64') === standard ? bytes : undefined;
}
