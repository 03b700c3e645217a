// The body of a batch: operations as a JSON array or as rows, each of which becomes a step or the
// refusal of one.
//
//   [{"operationType":"Create","resourceBody":{…},"partitionKey":"[\"a\"]"},
//    {"operationType":"Replace","id":"1","resourceBody":{…},"ifMatch":"\"etag\""}, …]
import { ITEM_ID_BYTES_MAX, type StoredContainer } from '../catalog/resources.js';
import type { Step } from '../documents/batch.js';
import type { Conditions, WriteKind } from '../documents/write.js';
import type { CallContext } from '../query/function.js';
import { failure, MayflyError } from '../value/errors.js';
import { memberText, type Parsed, parseElements } from '../value/json.js';
import { type PartitionKey, samePartitionKey } from '../value/partition-key.js';
import type { BatchForm } from './batch-answer.js';
import { readOperations } from './hybrid-row/batch-rows.js';
import { HYBRID_ROW_VERSION } from './hybrid-row/row.js';
import { composeItem, nestedItem } from './item-body.js';
import { itemPatch } from './item-patch.js';
import { checkItemId } from './names.js';
import { checkPartitionKey, fullPartitionKeyOf } from './partition-header.js';
import { parsePatch } from './patch-body.js';

const OPERATIONS_MAX = 100;
const MEMBERS = new Set([
  'operationType',
  'id',
  'partitionKey',
  'resourceBody',
  'ifMatch',
  'ifNoneMatch',
  'minimalReturnPreference',
]);

export interface BatchOperation {
  readonly step: Step;
  readonly partition: PartitionKey | undefined;
  /** Answered without the item that was written. */
  readonly minimal: boolean;
}

export interface ParsedBatch {
  readonly operations: readonly Parsed[];
  readonly form: BatchForm;
}

/** Refuses the whole request where it is no list of operations. */
export function parseOperations(body: Buffer): ParsedBatch {
  const form = body[0] === HYBRID_ROW_VERSION ? 'rows' : 'json';
  const operations = form === 'rows' ? readOperations(body) : parseElements(body);
  if (operations.length === 0) {
    throw failure('invalidInput', { why: 'A batch must have at least one operation.' });
  }
  if (operations.length > OPERATIONS_MAX) {
    throw failure('batchTooLong', { count: operations.length, limit: OPERATIONS_MAX });
  }
  for (const { value } of operations) {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) continue;
    throw failure('invalidInput', { why: 'Every operation of a batch must be a JSON object.' });
  }
  return { operations, form };
}

/** `shared` is the key that the request has for all its operations. */
export function operationOf(
  container: StoredContainer,
  operation: Parsed,
  shared: PartitionKey | undefined,
  context: CallContext,
): BatchOperation {
  let partition: PartitionKey | undefined;
  let minimal = false;
  try {
    const fields = operation.value as Readonly<Record<string, unknown>>;
    refuseUnknownMembers(fields);
    minimal = minimalOf(fields);
    partition = partitionOf(container, fields, shared);
    return { step: stepOf(container, operation, fields, partition, context), partition, minimal };
  } catch (error) {
    if (!(error instanceof MayflyError)) throw error;
    return { step: { kind: 'refused', error }, partition, minimal };
  }
}

/** A misspelt precondition must not become a write without one. */
function refuseUnknownMembers(fields: Readonly<Record<string, unknown>>): void {
  const unknown = Object.keys(fields).find((name) => !MEMBERS.has(name));
  if (unknown === undefined) return;
  throw failure('notSupported', { what: `'${unknown}' in an operation of a batch`, hint: '' });
}

function partitionOf(
  container: StoredContainer,
  fields: Readonly<Record<string, unknown>>,
  shared: PartitionKey | undefined,
): PartitionKey {
  const text = textField(fields, 'partitionKey');
  if (text === undefined && shared) return shared;
  const own = fullPartitionKeyOf(text, container);
  if (shared && !samePartitionKey(own, shared)) throw failure('partitionKeyMismatch');
  return own;
}

function stepOf(
  container: StoredContainer,
  operation: Parsed,
  fields: Readonly<Record<string, unknown>>,
  partition: PartitionKey,
  context: CallContext,
): Step {
  const conditions = {
    ifMatch: textField(fields, 'ifMatch') || undefined,
    ifNoneMatch: textField(fields, 'ifNoneMatch') || undefined,
  };
  const type = textField(fields, 'operationType');
  switch (type) {
    case 'Create':
      return writeStep(container, operation, 'create', partition, conditions);
    case 'Upsert':
      return writeStep(container, operation, 'upsert', partition, conditions);
    case 'Replace':
      return writeStep(container, operation, 'replace', partition, conditions);
    case 'Read':
      return { kind: 'read', key: { partition, id: addressedId(fields) }, conditions };
    case 'Delete':
      return { kind: 'delete', key: { partition, id: addressedId(fields) }, conditions };
    case 'Patch':
      return patchStep(container, operation, partition, conditions, context);
    case undefined:
      throw failure('missingProperty', { name: 'operationType' });
    default:
      throw failure('invalidInput', { why: `There is no operation type '${type}'.` });
  }
}

function writeStep(
  container: StoredContainer,
  operation: Parsed,
  kind: WriteKind,
  partition: PartitionKey,
  conditions: Conditions,
): Step {
  const fields = operation.value as Readonly<Record<string, unknown>>;
  needBody(fields);
  const body = nestedItem(operation);
  const { value } = body;
  const id = checkItemId(value);
  const address = kind === 'replace' ? addressedId(fields) : (textField(fields, 'id') ?? id);
  if (id !== address) throw failure('idChanged', { body: id, address });
  checkPartitionKey(partition, container, value);
  const ttl = Object.hasOwn(value, 'ttl') ? value.ttl : undefined;
  return {
    kind: 'write',
    write: {
      kind,
      key: { partition, id },
      ttl,
      compose: (serial, etag, seconds) => composeItem(container, body, serial, etag, seconds),
      conditions,
    },
  };
}

function patchStep(
  container: StoredContainer,
  operation: Parsed,
  partition: PartitionKey,
  conditions: Conditions,
  context: CallContext,
): Step {
  const fields = operation.value as Readonly<Record<string, unknown>>;
  needBody(fields);
  const body = parsePatch(Buffer.from(memberText(operation, 'resourceBody')));
  const key = { partition, id: addressedId(fields) };
  return {
    kind: 'patch',
    patch: { key, conditions, ...itemPatch(container, partition, body, context) },
  };
}

function needBody(fields: Readonly<Record<string, unknown>>): void {
  if (Object.hasOwn(fields, 'resourceBody')) return;
  throw failure('missingProperty', { name: 'resourceBody' });
}

/** No item can have an id that is too long, so none is there. */
function addressedId(fields: Readonly<Record<string, unknown>>): string {
  const id = textField(fields, 'id');
  if (id === undefined) throw failure('missingProperty', { name: 'id' });
  if (Buffer.byteLength(id) > ITEM_ID_BYTES_MAX) throw failure('notFound');
  return id;
}

function minimalOf(fields: Readonly<Record<string, unknown>>): boolean {
  const value = fields.minimalReturnPreference ?? false;
  if (typeof value === 'boolean') return value;
  throw failure('invalidInput', { why: 'minimalReturnPreference must be true or false.' });
}

function textField(fields: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = Object.hasOwn(fields, name) ? (fields[name] ?? undefined) : undefined;
  if (value === undefined || typeof value === 'string') return value;
  throw failure('invalidInput', { why: `${name} in an operation of a batch must be a string.` });
}
