// GET /dbs/{db}/colls/{coll}/docs with A-IM: Full-Fidelity Feed: all versions and deletes.
//
//   {"current":{…},"metadata":{"operationType":"create","lsn":5,"crts":1700000000}}
//   {"current":{…},"previous":{…},"metadata":{"operationType":"replace",…,"previousImageLSN":5}}
//   {"previous":{…},"metadata":{"operationType":"delete",…,"id":"1","partitionKey":{"pk":"a"}}}
import type { StoredContainer } from '../../catalog/resources.js';
import { readVersions as read } from '../../documents/versions.js';
import type { Version } from '../../engine/engine.js';
import { secondsOf } from '../../time/instant.js';
import { failure } from '../../value/errors.js';
import { changeReply } from '../change-page.js';
import { feedEtag, positionOf } from '../feed-position.js';
import { scopeOf } from '../partition-header.js';
import type { Reply } from '../reply.js';
import { type CosmosRequest, pageOf } from '../request.js';

export async function readVersions(
  request: CosmosRequest,
  container: StoredContainer,
): Promise<Reply> {
  const scope = scopeOf(request.headers, container);
  const { itemsMax } = pageOf(request.headers);
  const from = positionOf(request.headers);
  if (!from || from.since !== undefined) throw failure('outsideRetention');
  const { after } = from;
  const page = await read(request.documents, container, scope, { itemsMax, after }, request.at);
  const { versions, upTo, isEnd, lsn } = page;
  return changeReply(request, container, scope, {
    rows: versions.map((version) => envelope(version, container)),
    bytes: versions.reduce((sum, { doc, previous }) => sum + sizeOf(doc ?? previous?.doc), 0),
    etag: feedEtag({ after: upTo, since: undefined }),
    isEnd,
    lsn,
  });
}

function envelope(version: Version, container: StoredContainer): Buffer {
  const { kind, key, lsn, at, doc, previous, expired } = version;
  const metadata = {
    operationType: kind,
    lsn,
    crts: secondsOf(at),
    ...(previous ? { previousImageLSN: previous.lsn } : {}),
    ...(expired ? { timeToLiveExpired: true } : {}),
    ...(kind === 'delete' ? { id: key.id, partitionKey: namedKey(version, container) } : {}),
  };
  return Buffer.concat([
    Buffer.from('{'),
    ...member('current', doc),
    ...member('previous', previous?.doc),
    Buffer.from(`"metadata":${JSON.stringify(metadata)}}`),
  ]);
}

function member(name: string, doc: Version['doc']): readonly Uint8Array[] {
  return doc ? [Buffer.from(`"${name}":`), doc.bytes, Buffer.from(',')] : [];
}

/** By the names of the properties, which may lie deeper; one that is missing is left out. */
function namedKey({ key }: Version, { engine }: StoredContainer): object {
  return Object.fromEntries(
    engine.partitionPaths.map((path, index) => [path.join('/'), key.partition[index]]),
  );
}

function sizeOf(doc: Version['doc']): number {
  return doc?.bytes.length ?? 0;
}
