// What scripts ask of their collection, carried out in their transaction. A refusal is an answer,
// too: the script is told its number and may go on.
import { patchItem } from '../documents/patch.js';
import { queryCharge, queryItems } from '../documents/query.js';
import { readItem } from '../documents/read.js';
import type { Transaction } from '../documents/transaction.js';
import { deleteItem, type WriteKind, writeItem } from '../documents/write.js';
import type { Answer, Operation } from '../script/messages.js';
import { itemReadCharge } from '../throughput/charges.js';
import { failure, MayflyError } from '../value/errors.js';
import { memberObject, type Parsed, type ParsedObject, parseJson } from '../value/json.js';
import { extractPartitionKey, samePartitionKey } from '../value/partition-key.js';
import { composeItem, SYSTEM_PROPERTIES } from './item-body.js';
import { itemPatch } from './item-patch.js';
import { checkItemId } from './names.js';
import { parsePatch } from './patch-body.js';
import { languageOf } from './query-functions.js';
import { lowerQuery, parseQueryBody } from './query-request.js';
import {
  BODY_BYTES_MAX,
  type CosmosRequest,
  PAGE_ITEMS_DEFAULT,
  PAGE_ITEMS_MAX,
} from './request.js';
import { checkCollection, documentOf, type ScriptPlace } from './script-links.js';

interface Input {
  readonly link: string;
  readonly query?: unknown;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
}
/** JSON texts. */
interface Given {
  readonly value?: string;
  readonly options?: string;
}

/** What the service allows, as its scripts are told; ours have no such limit. */
const COLLECTION_MB_MAX = 10_240;

export class ScriptHost {
  readonly #request: CosmosRequest;
  readonly #place: ScriptPlace;
  readonly #transaction: Transaction;
  /** What the operations so far have cost. */
  charge = 0;

  constructor(request: CosmosRequest, place: ScriptPlace, transaction: Transaction) {
    this.#request = request;
    this.#place = place;
    this.#transaction = transaction;
  }

  async carryOut({ number, name, input }: Operation): Promise<Answer> {
    try {
      const parsed = { value: parseJson(Buffer.from(input)), text: input };
      return { number, ...(await this.#perform(name, parsed)) };
    } catch (error) {
      // A script that was overtaken by another writer begins anew instead.
      if (!(error instanceof MayflyError) || error.code === 'scriptConflict') throw error;
      return { number, error: { number: error.kind.status, message: error.message } };
    }
  }

  #perform(name: string, parsed: Parsed): Promise<Given> {
    const input = parsed.value as Input;
    checkOptions(input.options);
    switch (name) {
      case 'create':
      case 'upsert':
        checkCollection(input.link, this.#place);
        return this.#write(name, parsed, withId(this.#request, parsed, input.options));
      case 'replace':
        return this.#write(name, parsed, bodyOf(parsed));
      case 'patch':
        return this.#patch(input);
      case 'read':
        return this.#read(input);
      case 'delete':
        return this.#delete(input);
      case 'query':
        return this.#query(input);
      default:
        throw new Error(`scripts know no operation '${name}'`);
    }
  }

  async #write(kind: WriteKind, { value }: Parsed, body: ParsedObject): Promise<Given> {
    const { container, partition } = this.#place;
    const { link, options } = value as Input;
    const bytes = Buffer.byteLength(body.members) + '{}'.length;
    if (bytes > BODY_BYTES_MAX) throw failure('tooLarge', { bytes, limit: BODY_BYTES_MAX });
    const id = checkItemId(body.value);
    if (kind === 'replace') {
      const address = await this.#idOf(link);
      if (id !== address) throw failure('idChanged', { body: id, address });
    }
    const found = extractPartitionKey(body.value, container.engine.partitionPaths);
    if (!('key' in found) || !samePartitionKey(found.key, partition)) {
      throw failure('scriptKeyForeign');
    }
    const { item, charge } = await writeItem(
      this.#transaction.documents,
      container,
      {
        kind,
        key: { partition, id },
        ttl: Object.hasOwn(body.value, 'ttl') ? body.value.ttl : undefined,
        compose: (serial, etag, seconds) => composeItem(container, body, serial, etag, seconds),
        conditions: conditionsIn(options),
      },
      this.#request.at,
    );
    this.charge += charge;
    return { value: textOf(item.doc.bytes), options: JSON.stringify({ etag: item.etag }) };
  }

  async #patch({ link, body = {}, options }: Input): Promise<Given> {
    const { container, partition } = this.#place;
    const { documents, at } = this.#request;
    const context = { now: at, random: () => documents.entropy.fraction() };
    const patch = parsePatch(Buffer.from(JSON.stringify(body)));
    const { item, charge } = await patchItem(
      this.#transaction.documents,
      container,
      {
        key: { partition, id: await this.#idOf(link) },
        conditions: conditionsIn(options),
        ...itemPatch(container, partition, patch, context),
      },
      at,
    );
    this.charge += charge;
    return { value: textOf(item.doc.bytes), options: JSON.stringify({ etag: item.etag }) };
  }

  async #read({ link, options }: Input): Promise<Given> {
    const item = await this.#find(link);
    this.charge += itemReadCharge(item);
    if (!item) throw failure('notFound');
    // The service answers with the number of HTTP's "not modified".
    if (options.ifNoneMatch === item.etag) throw failure('notModified');
    return { value: textOf(item.doc.bytes), options: JSON.stringify({ etag: item.etag }) };
  }

  async #delete({ link, options }: Input): Promise<Given> {
    const { container, partition } = this.#place;
    const { documents } = this.#transaction;
    const key = { partition, id: await this.#idOf(link) };
    const conditions = conditionsIn(options);
    const { charge } = await deleteItem(documents, container, key, conditions, this.#request.at);
    this.charge += charge;
    return {};
  }

  async #query({ link, query, options }: Input): Promise<Given> {
    checkCollection(link, this.#place);
    const { container, partition } = this.#place;
    const { at, abandoned } = this.#request;
    const spec = typeof query === 'string' ? { query } : query;
    const body = parseQueryBody(Buffer.from(JSON.stringify(spec)));
    const { hints, userFunctions } = languageOf(this.#request, container);
    const page = await queryItems(
      this.#transaction.documents,
      container,
      { partition, span: undefined },
      {
        query: lowerQuery(body, hints),
        name: body.name,
        itemsMax: pageSize(options.pageSize),
        continuation: continuationIn(options),
        tokenBytesMax: Number.POSITIVE_INFINITY,
        at,
        abandoned,
        isTimed: false,
        userFunctions,
      },
    );
    this.charge += queryCharge(page, 1, continuationIn(options) === undefined);
    const { continuation } = page;
    const rows = page.rows.map((row) => (typeof row === 'string' ? row : textOf(row)));
    const { engine } = container;
    const { bytes } = await this.#request.documents.engine.stats(engine);
    const told = {
      continuation,
      currentCollectionSizeInMB: Math.ceil(bytes / 1024 / 1024),
      maxCollectionSizeInMB: COLLECTION_MB_MAX,
    };
    return { value: `[${rows.join(',')}]`, options: JSON.stringify(told) };
  }

  async #find(link: string) {
    const { container } = this.#place;
    const { documents } = this.#transaction;
    const locator = documentOf(link, this.#place);
    const { item } = await readItem(documents, container, locator, this.#request.at);
    return item;
  }

  async #idOf(link: string): Promise<string> {
    const locator = documentOf(link, this.#place);
    if (typeof locator === 'object') return locator.id;
    const item = await this.#find(link);
    if (!item) throw failure('notFound');
    return item.key.id;
  }
}

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();

const bodyOf = (parsed: Parsed): ParsedObject => memberObject(parsed, 'body', SYSTEM_PROPERTIES);

/** Documents get an id, unless the script wants to be told that one has none. */
function withId(
  { documents }: CosmosRequest,
  parsed: Parsed,
  options: Input['options'],
): ParsedObject {
  const body = bodyOf(parsed);
  if (Object.hasOwn(body.value, 'id') || options.disableAutomaticIdGeneration === true) return body;
  const id = documents.entropy.uuid();
  const members = body.members === '' ? `"id":"${id}"` : `"id":"${id}",${body.members}`;
  return { value: { id, ...body.value }, members };
}

const REFUSED_OPTIONS = ['preTriggerInclude', 'postTriggerInclude', 'preTrigger', 'postTrigger'];

/** Accepting what does nothing would mislead. */
function checkOptions(options: Input['options']): void {
  for (const name of REFUSED_OPTIONS) {
    if (options[name] === undefined) continue;
    throw failure('notSupported', { what: `The option '${name}' inside scripts`, hint: '' });
  }
  const { indexAction } = options;
  if (indexAction === undefined || /^(default|include)$/i.test(String(indexAction))) return;
  const what = `The index action '${String(indexAction)}'`;
  throw failure('notSupported', { what, hint: '' });
}

function conditionsIn({ etag, ifMatch }: Input['options']) {
  const wanted = etag ?? ifMatch;
  return { ifMatch: typeof wanted === 'string' ? wanted : undefined, ifNoneMatch: undefined };
}

function pageSize(size: unknown): number {
  if (size === undefined || size === -1) return PAGE_ITEMS_DEFAULT;
  if (typeof size === 'number' && Number.isInteger(size) && size > 0) {
    return Math.min(size, PAGE_ITEMS_MAX);
  }
  throw failure('invalidPageSize', { value: String(size) });
}

function continuationIn({ continuation }: Input['options']): string | undefined {
  return typeof continuation === 'string' && continuation !== '' ? continuation : undefined;
}
