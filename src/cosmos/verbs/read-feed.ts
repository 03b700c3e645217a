// GET /dbs/{db}/colls/{coll}/docs with A-IM: the change feed, of latest versions or of all.
import type { IncomingHttpHeaders } from 'node:http';
import type { StoredContainer } from '../../catalog/resources.js';
import { readFeed as read } from '../../documents/feed.js';
import type { Item } from '../../engine/engine.js';
import { bytesOf } from '../../throughput/charges.js';
import { failure } from '../../value/errors.js';
import { changeReply } from '../change-page.js';
import { feedEtag, feedStart } from '../feed-position.js';
import { ownerContainer } from '../find.js';
import { scopeOf } from '../partition-header.js';
import type { Reply } from '../reply.js';
import { type CosmosRequest, header, pageOf } from '../request.js';
import { readVersions } from './read-versions.js';

export function readFeed(request: CosmosRequest): Promise<Reply> {
  const { headers } = request;
  const mode = header(headers, 'a-im') ?? '';
  const container = ownerContainer(request);
  // An older format had other envelopes; those who ask for none get the one there is.
  const wrapped = isWrapped(headers);
  switch (mode.trim().toLowerCase()) {
    case 'incremental feed':
      return readLatest(request, container, wrapped ? withMetadata : withLsn);
    case 'full-fidelity feed':
      return readVersions(request, container);
    default: {
      const why = 'It must be Incremental Feed or Full-Fidelity Feed.';
      throw failure('invalidHeader', { header: 'a-im', value: mode, why });
    }
  }
}

async function readLatest(
  request: CosmosRequest,
  container: StoredContainer,
  rowOf: (item: Item) => Uint8Array | string,
): Promise<Reply> {
  const scope = scopeOf(request.headers, container);
  const { itemsMax } = pageOf(request.headers);
  const from = feedStart(request.headers);
  const page = await read(request.documents, container, scope, { itemsMax, from }, request.at);
  return changeReply(request, container, scope, {
    rows: page.items.map(rowOf),
    bytes: bytesOf(page.items),
    etag: feedEtag(page.next),
    isEnd: page.isEnd,
    lsn: page.lsn,
  });
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
function withMetadata({ doc, lsn }: Item): Uint8Array {
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
