// GET /dbs/{db}/colls/{coll}/docs with A-IM: the change feed, latest version only.
import type { IncomingHttpHeaders } from 'node:http';
import { readFeed as read } from '../../documents/feed.js';
import type { Item } from '../../engine/engine.js';
import { feedCharge } from '../../throughput/charges.js';
import { failure } from '../../value/errors.js';
import { feedEtag, feedStart } from '../feed-position.js';
import { namePath, ownerContainer, rangesIn } from '../find.js';
import { scopeOf } from '../partition-header.js';
import { itemHeaders, type Reply, rowsBody } from '../reply.js';
import { type CosmosRequest, header, pageOf } from '../request.js';
import { containerRid } from '../rid.js';
import { checkSession } from '../session.js';

export async function readFeed(request: CosmosRequest): Promise<Reply> {
  checkMode(header(request.headers, 'a-im') ?? '');
  const container = ownerContainer(request);
  const scope = scopeOf(request.headers, container);
  const { itemsMax } = pageOf(request.headers);
  const from = feedStart(request.headers);
  const rowOf = isWrapped(request.headers) ? wrapped : withLsn;
  const page = await read(request.documents, container, scope, { itemsMax, from }, request.at);
  checkSession(request.headers, container, page.lsn);
  const isNews = page.items.length > 0 || !page.isEnd;
  const charge = feedCharge(page.items);
  const path = namePath(request, container);
  const headers = itemHeaders(container, path, rangesIn(container, scope), page.lsn, charge);
  const etag = feedEtag(page.next);
  headers.push('etag', etag, 'x-ms-item-count', String(page.items.length));
  if (!isNews) return { status: 304, headers, body: undefined };
  headers.push('x-ms-continuation', etag);
  const rows = page.items.map(rowOf);
  return { status: 200, headers, body: rowsBody(containerRid(container), 'Documents', rows) };
}

function checkMode(mode: string): void {
  const name = mode.trim().toLowerCase();
  if (name === 'incremental feed') return;
  if (name === 'full-fidelity feed') {
    const what = `The change feed of all versions (A-IM: ${mode})`;
    throw failure('notSupported', { what, hint: 'There is A-IM: Incremental Feed.' });
  }
  const why = 'It must be Incremental Feed.';
  throw failure('invalidHeader', { header: 'a-im', value: mode, why });
}

const WIRE_FORMAT = 'x-ms-cosmos-changefeed-wire-format-version';

/** Clients that read several modes ask for the newer format in this one, too. */
function isWrapped(headers: IncomingHttpHeaders): boolean {
  const value = header(headers, WIRE_FORMAT);
  if (!value) return false;
  if (value === '2021-09-15') return true;
  const why = 'It must be 2021-09-15.';
  throw failure('invalidHeader', { header: WIRE_FORMAT, value, why });
}

/** What is not part of the document beside it. */
function wrapped({ doc, lsn }: Item): Uint8Array {
  const { _ts: crts } = doc.value as { readonly _ts: number };
  const metadata = Buffer.from(`,"metadata":${JSON.stringify({ lsn, crts })}}`);
  return Buffer.concat([Buffer.from('{"current":'), doc.bytes, metadata]);
}

/** The document with its position behind it. An item copied from a feed may have one of its own. */
function withLsn({ doc, lsn }: Item): Uint8Array | string {
  const bytes = Buffer.from(doc.bytes.buffer, doc.bytes.byteOffset, doc.bytes.byteLength);
  if (bytes.includes('"_lsn"')) {
    const value = doc.value as object;
    if ('_lsn' in value) return JSON.stringify({ ...value, _lsn: lsn });
  }
  return Buffer.concat([bytes.subarray(0, -1), Buffer.from(`,"_lsn":${lsn}}`)]);
}
