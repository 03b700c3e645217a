// The body of an item: the client's JSON as it was sent, and the system properties behind it, in
// one text. It is stored and served as these bytes.
import type { StoredContainer } from '../catalog/resources.js';
import type { Etag, Serial } from '../engine/engine.js';
import { type Doc, docFromBoth } from '../value/doc.js';
import { memberObject, type Parsed, type ParsedObject, parseObject } from '../value/json.js';
import { containerSelf, itemRid } from './rid.js';

/** Clients send them back when they replace what they read; they are ours to write. */
export const SYSTEM_PROPERTIES: ReadonlySet<string> = new Set([
  '_rid',
  '_self',
  '_etag',
  '_attachments',
  '_ts',
]);

export function parseItem(body: Buffer): ParsedObject {
  return parseObject(body, SYSTEM_PROPERTIES);
}

/** The item in the body of an operation that is one of several in a request. */
export function nestedItem(operation: Parsed): ParsedObject {
  return memberObject(operation, 'resourceBody', SYSTEM_PROPERTIES);
}

/** Takes over the parsed value and adds the system properties to it, too. */
export function composeItem(
  container: StoredContainer,
  item: ParsedObject,
  serial: Serial,
  etag: Etag,
  writtenSeconds: number,
): Doc {
  const rid = itemRid(container, serial);
  const system = {
    _rid: rid,
    _self: `${containerSelf(container)}docs/${rid}/`,
    _etag: etag,
    _attachments: 'attachments/',
    _ts: writtenSeconds,
  };
  // Nothing in these needs to be escaped but the quotes of the etag.
  const text =
    `{${item.members},"_rid":"${rid}","_self":"${system._self}",` +
    `"_etag":${JSON.stringify(etag)},"_attachments":"attachments/","_ts":${writtenSeconds}}`;
  return docFromBoth(Buffer.from(text), Object.assign(item.value, system));
}
