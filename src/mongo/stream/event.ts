// The events of change streams as documents.
import type { CollectionDefinition } from '../../catalog/collection-definition.js';
import type { CollectionEvent } from '../../catalog/collection-events.js';
import { idOf } from '../../documents/collection-write.js';
import type { Version } from '../../engine/engine.js';
import { decodeDocument } from '../../value/bson/read.js';
import {
  Binary,
  type Bytes,
  DateTime,
  type Document,
  documentOf,
  type Value,
} from '../../value/bson/value.js';
import { bsonOf, isReplacement } from '../../value/bson-image.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import { readBase64, visitValues } from '../shape.js';
import { changesOf } from '../updated-fields.js';
import { timestampOf } from './cluster-time.js';
import type { Settings } from './settings.js';

export interface Subject {
  readonly database: string;
  readonly collection?: string | undefined;
  readonly uuid?: string | undefined;
}
/** What has happened to a document. */
export interface Happening {
  readonly version: Version;
  readonly subject: Subject;
  readonly definition: CollectionDefinition | undefined;
  /** The document as it is now. */
  lookUp(): Promise<Bytes | undefined>;
}

/** `_id` is set when it is known where the stream stands after it. */
export function frameOf(
  kind: string,
  at: number,
  number: number,
  { database, collection, uuid }: Subject,
  { showExpandedEvents }: Settings,
): Document {
  const frame = documentOf({
    _id: null,
    operationType: kind,
    clusterTime: timestampOf(at, number),
  });
  if (showExpandedEvents && uuid !== undefined) {
    frame.set('collectionUUID', new Binary(4, Buffer.from(uuid.replaceAll('-', ''), 'hex')));
  }
  frame.set('wallTime', new DateTime(at));
  const coll = collection === undefined ? {} : { coll: collection };
  return frame.set('ns', documentOf({ db: database, ...coll }));
}

/** Nothing where no document was changed. */
export async function documentEvent(
  happening: Happening,
  settings: Settings,
): Promise<Document | undefined> {
  const { version, subject, definition } = happening;
  const after = version.doc && bsonOf(version.doc.bytes);
  const before = version.previous?.doc && bsonOf(version.previous.doc.bytes);
  // A rewrite for a new index changes no document.
  if (after && before && Buffer.compare(after, before) === 0) return undefined;
  const kind = kindOf(version);
  const known = after ?? before;
  const id = (known && idOf(known)) ?? null;
  const event = frameOf(kind, version.at, version.lsn, subject, settings);
  event.set('documentKey', keyOf(known, id, definition?.shardKey ?? []));
  if (kind === 'update' && after) {
    // What was written before the log began is not known: then all fields count as changed.
    const old: Document = before ? decodeDocument(before) : new Map([['_id', id]]);
    event.set('updateDescription', changesOf(old, decodeDocument(after)));
  }
  const hasImages = keepsImages(definition);
  const whole = await wholeDocument(kind, happening, settings, hasImages);
  if (whole !== undefined) event.set('fullDocument', whole);
  if (settings.beforeChange !== 'off' && kind !== 'insert') {
    const image = hasImages && before ? decodeDocument(before) : null;
    if (image === null) checkRequired(settings.beforeChange, 'pre-image', id);
    event.set('fullDocumentBeforeChange', image);
  }
  return event;
}

/** What a document is found by: of a sharded collection, its shard key comes first. */
function keyOf(document: Bytes | undefined, id: Value, shardKey: readonly string[]): Document {
  const key: Document = new Map();
  for (const path of shardKey) {
    const visit = visitValues(path);
    if (document) visit(document, (value) => key.set(path, value));
  }
  return key.set('_id', id);
}

async function wholeDocument(
  kind: string,
  { version, lookUp }: Happening,
  { fullDocument }: Settings,
  hasImages: boolean,
): Promise<Value | undefined> {
  if (kind === 'delete' || (kind === 'update' && fullDocument === 'default')) return undefined;
  const after = version.doc && bsonOf(version.doc.bytes);
  if (kind !== 'update') return after ? decodeDocument(after) : null;
  if (fullDocument === 'updateLookup') {
    const found = await lookUp();
    return found ? decodeDocument(found) : null;
  }
  if (hasImages && after) return decodeDocument(after);
  checkRequired(fullDocument, 'post-image', (after && idOf(after)) ?? null);
  return null;
}

function checkRequired(asked: string, image: string, id: Value): void {
  if (asked !== 'required') return;
  throw mongoFailure(
    'NoMatchingDocument',
    `Change stream was configured to require a ${image} for all update, delete and replace events, but the ${image} was not found for the document with _id ${JSON.stringify(String(id))}; see changeStreamPreAndPostImages`,
  );
}

export function keepsImages(definition: CollectionDefinition | undefined): boolean {
  const option = definition && readBase64(definition.options).get('changeStreamPreAndPostImages');
  return option instanceof Map && option.get('enabled') === true;
}

function kindOf({ kind, doc }: Version): string {
  if (kind === 'create') return 'insert';
  if (kind === 'delete') return 'delete';
  return doc && isReplacement(doc.bytes) ? 'replace' : 'update';
}

/** What happened to a collection, or to a database. */
export function collectionEvent(told: CollectionEvent, settings: Settings): Document {
  const { kind, at, number, database, collection, to, uuid, description } = told;
  const event = frameOf(kind, at, number, { database, collection, uuid }, settings);
  const target = to === undefined ? undefined : documentOf({ db: database, coll: to });
  if (target) event.set('to', target);
  if (!settings.showExpandedEvents) return event;
  const more = description === undefined ? new Map() : readBase64(description);
  if (target) more.set('to', target);
  if (more.size > 0 || kind === 'create') event.set('operationDescription', more);
  return event;
}

/** The last event of a stream. */
export function invalidation(at: number, number: number, settings: Settings): Document {
  const event = frameOf('invalidate', at, number, { database: '' }, settings);
  event.delete('ns');
  return event;
}
