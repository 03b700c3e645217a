// Change streams: a cursor over the log of all versions. A collection keeps that log from its first
// stream on, for a day; a token names a place in it, so streams go on after restarts.
//
//   token = lsn, 12 hex digits, then the number of the event among those of that lsn, 8 hex digits
import type { StoredCollection } from '../catalog/collections.js';
import { idOf } from '../documents/collection-write.js';
import {
  BadResume,
  ContainerGone,
  type Lsn,
  type Version,
  VersionsForgotten,
} from '../engine/engine.js';
import { compilePipeline } from '../mql/pipeline/pipeline.js';
import { rest, stopwatch } from '../time/clock.js';
import type { Instant } from '../time/instant.js';
import { decodeDocument } from '../value/bson/read.js';
import {
  type Bytes,
  DateTime,
  type Document,
  documentOf,
  isDocument,
  Timestamp,
  type Value,
} from '../value/bson/value.js';
import { encodeDocument } from '../value/bson/write.js';
import { bsonOf, isReplacement } from '../value/bson-image.js';
import { mongoFailure } from '../value/mongo-errors.js';
import type { Call } from './call.js';
import type { Room, Source } from './cursors.js';
import { unknownField } from './fields.js';
import { collectionFor, currentOf, findCollection } from './namespace.js';
import { pipelineHost } from './pipeline-host.js';
import { languageOf } from './question.js';
import { changesOf } from './updated-fields.js';

interface Settings {
  readonly fullDocument: string;
  readonly beforeChange: string;
  readonly token: string | undefined;
  readonly since: number | undefined;
}
interface Place {
  readonly lsn: Lsn;
  /** How many events of that lsn have been passed. */
  readonly passed: number;
}

const OPTIONS: readonly string[] = [
  ...['fullDocument', 'fullDocumentBeforeChange', 'resumeAfter', 'startAfter'],
  ...['startAtOperationTime', 'showExpandedEvents'],
];
/** Stages that look at one event at a time. */
const STAGES: readonly string[] = [
  ...['$match', '$project', '$addFields', '$set', '$unset', '$replaceRoot', '$replaceWith'],
  '$redact',
];
const EVENTS_PER_READ = 500;
const READ_BYTES_MAX = 8_000_000;
const POLL_MS = 20;
const WAIT_MS_MAX = 60_000;
const LSN_DIGITS = 12;
const PLACE_DIGITS = 8;

export async function openStream(
  call: Call,
  name: string | undefined,
  stages: readonly Value[],
): Promise<Source> {
  const [first, ...more] = stages;
  const options = isDocument(first) ? first.get('$changeStream') : undefined;
  const settings = readSettings(isDocument(options) ? options : new Map());
  if (name === undefined) {
    throw mongoFailure(
      'CommandNotSupported',
      'Change streams are of one collection; those of a database or all of them are not supported',
    );
  }
  if (!call.mongo.documents.engine.versions) {
    throw mongoFailure('CommandNotSupported', 'This store keeps no log for change streams');
  }
  for (const stage of more) {
    const [kind = ''] = isDocument(stage) ? stage.keys() : [];
    if (STAGES.includes(kind)) continue;
    throw mongoFailure('IllegalOperation', `${kind} is not permitted in a $changeStream pipeline`);
  }
  const collection = await watched(call, await collectionFor(call, call.database, name));
  const language = languageOf(call, collection, call.command);
  const host = pipelineHost(call, collection, { at: call.at });
  const pipeline = compilePipeline(more, language, host);
  const shaped = async (events: readonly Bytes[]): Promise<readonly Bytes[]> => {
    if (more.length === 0) return events;
    const rows: Bytes[] = [];
    for await (const batch of pipeline.run(once(events)))
      rows.push(...batch.map((row) => row.bytes));
    return rows;
  };
  const { lsn } = await call.mongo.documents.engine.stats(collection.engine);
  const begin = settings.token ? placeOf(settings.token) : { lsn, passed: ALL };
  const from = settings.since === undefined ? begin : { lsn: 0, passed: ALL };
  return new Stream(call, collection, settings, from, shaped);
}

const ALL = Number.MAX_SAFE_INTEGER;

async function* once(events: readonly Bytes[]) {
  yield events;
}

/** From its first stream on, a collection keeps its versions. */
async function watched(call: Call, collection: StoredCollection): Promise<StoredCollection> {
  if (collection.definition.watched) return collection;
  const watch = (current: StoredCollection['definition']) => ({ ...current, watched: true });
  return call.mongo.catalog.collections.redefine(collection, watch, call.at);
}

class Stream implements Source {
  readonly #call: Call;
  readonly #collection: StoredCollection;
  readonly #settings: Settings;
  readonly #shaped: (events: readonly Bytes[]) => Promise<readonly Bytes[]>;
  #place: Place;
  #isOver = false;

  constructor(
    call: Call,
    collection: StoredCollection,
    settings: Settings,
    place: Place,
    shaped: (events: readonly Bytes[]) => Promise<readonly Bytes[]>,
  ) {
    this.#call = call;
    this.#collection = collection;
    this.#settings = settings;
    this.#place = place;
    this.#shaped = shaped;
  }

  async next(at: Instant, room: Room): Promise<readonly Bytes[]> {
    const events: Bytes[] = [];
    let bytes = 0;
    try {
      for (const { version, place } of await this.#read(at)) {
        const event = await this.#eventOf(version, place, at);
        bytes += event?.length ?? 0;
        if (events.length > 0 && (events.length >= room.rows || bytes > room.bytes)) break;
        this.#place = place;
        if (event) events.push(event);
      }
    } catch (error) {
      if (!(error instanceof ContainerGone)) throw error;
      this.#isOver = true;
      return this.#shaped(this.#farewell(at));
    }
    return this.#shaped(events);
  }

  async isDone(): Promise<boolean> {
    return this.#isOver;
  }

  /** Until something is written, the time is up, or the server stops. */
  async wait(ms: number): Promise<void> {
    const took = stopwatch();
    const { mongo } = this.#call;
    while (took() < Math.min(ms, WAIT_MS_MAX)) {
      const found = findCollection(this.#call, this.#call.database, this.#collection.definition.id);
      if (found?.engine.id !== this.#collection.engine.id) return;
      const { lsn } = await mongo.documents.engine.stats(this.#collection.engine);
      if (lsn > this.#place.lsn) return;
      const stopped = await Promise.race([rest(POLL_MS), mongo.stopping.then(() => true)]);
      if (stopped === true) return;
    }
  }

  resumeToken(): string {
    return tokenOf(
      this.#place.passed === ALL ? { ...this.#place, passed: 0xffffffff } : this.#place,
    );
  }

  async #read(at: Instant): Promise<readonly { version: Version; place: Place }[]> {
    const { engine } = this.#call.mongo.documents;
    const { lsn, passed } = this.#place;
    // The events of one lsn are read together, and those that were passed are left out.
    const after = passed === ALL ? lsn : Math.max(lsn - 1, 0);
    const scan = { partition: undefined, span: undefined, after };
    const budget = { rowsMax: EVENTS_PER_READ, bytesMax: READ_BYTES_MAX };
    try {
      const page = await engine.versions?.(
        currentOf(this.#call.mongo, this.#collection).engine,
        scan,
        at,
        budget,
      );
      return numbered(page?.versions ?? []).filter(
        ({ place }) => place.lsn > lsn || place.passed > passed,
      );
    } catch (error) {
      if (error instanceof BadResume) {
        throw mongoFailure('InvalidResumeToken', 'The resume token names a place beyond the log');
      }
      if (!(error instanceof VersionsForgotten)) throw error;
      throw mongoFailure(
        'ChangeStreamHistoryLost',
        'Resume of change stream was not possible, as the resume point may no longer be in the log.',
      );
    }
  }

  async #eventOf(version: Version, place: Place, at: Instant): Promise<Bytes | undefined> {
    const { fullDocument, beforeChange, since } = this.#settings;
    if (since !== undefined && Math.floor(version.at / 1000) < since) return undefined;
    const after = version.doc && bsonOf(version.doc.bytes);
    const before = version.previous?.doc && bsonOf(version.previous.doc.bytes);
    // A rewrite for a new index changes no document.
    if (after && before && Buffer.compare(after, before) === 0) return undefined;
    const kind = kindOf(version);
    const id = idOf(after ?? before ?? EMPTY) ?? null;
    const event = this.#frame(kind, place, version.at);
    event.set('documentKey', documentOf({ _id: id }));
    if (kind === 'update' && after) {
      // What was written before the log began is not known: then all fields count as changed.
      const known: Document = before ? decodeDocument(before) : new Map([['_id', id]]);
      event.set('updateDescription', changesOf(known, decodeDocument(after)));
    }
    const whole = await this.#whole(kind, fullDocument, version, after, at);
    if (whole !== undefined) event.set('fullDocument', whole);
    if (beforeChange !== 'off' && kind !== 'insert') {
      event.set('fullDocumentBeforeChange', before ? decodeDocument(before) : null);
    }
    return encodeDocument(event);
  }

  async #whole(
    kind: string,
    asked: string,
    version: Version,
    after: Bytes | undefined,
    at: Instant,
  ): Promise<Value | undefined> {
    if (kind === 'delete' || (kind === 'update' && asked === 'default')) return undefined;
    if (kind !== 'update' || asked !== 'updateLookup') return after ? decodeDocument(after) : null;
    const { engine } = currentOf(this.#call.mongo, this.#collection);
    const { items } = await this.#call.mongo.documents.engine.get(engine, [version.key], at);
    return items[0] ? decodeDocument(bsonOf(items[0].doc.bytes)) : null;
  }

  #frame(kind: string, place: Place, at: Instant): Document {
    return documentOf({
      _id: documentOf({ _data: tokenOf(place) }),
      operationType: kind,
      clusterTime: new Timestamp(Math.floor(at / 1000), place.lsn % 0x1_0000_0000),
      wallTime: new DateTime(at),
      ns: documentOf({ db: this.#call.database, coll: this.#collection.definition.id }),
    });
  }

  /** The collection is gone: so is the stream, after saying so. */
  #farewell(at: Instant): readonly Bytes[] {
    const place = { lsn: this.#place.lsn + 1, passed: 0 };
    const invalid = this.#frame('invalidate', { ...place, passed: 1 }, at);
    invalid.delete('ns');
    this.#place = { ...place, passed: 1 };
    return [this.#frame('drop', place, at), invalid].map((event) => encodeDocument(event));
  }
}

const EMPTY = Buffer.from([5, 0, 0, 0, 0]);

function kindOf({ kind, doc }: Version): string {
  if (kind === 'create') return 'insert';
  if (kind === 'delete') return 'delete';
  return doc && isReplacement(doc.bytes) ? 'replace' : 'update';
}

function numbered(versions: readonly Version[]) {
  let lsn: Lsn | undefined;
  let passed = 0;
  return versions.map((version) => {
    passed = version.lsn === lsn ? passed + 1 : 0;
    lsn = version.lsn;
    return { version, place: { lsn, passed } };
  });
}

function tokenOf({ lsn, passed }: Place): string {
  const [high, low] = [
    lsn.toString(16).padStart(LSN_DIGITS, '0'),
    passed.toString(16).padStart(PLACE_DIGITS, '0'),
  ];
  return high + low;
}

function placeOf(token: string): Place {
  if (!/^[0-9a-f]{20}$/.test(token)) {
    throw mongoFailure('InvalidResumeToken', `The resume token '${token.slice(0, 100)}' is none`);
  }
  const passed = Number.parseInt(token.slice(LSN_DIGITS), 16);
  const lsn = Number.parseInt(token.slice(0, LSN_DIGITS), 16);
  return { lsn, passed: passed === 0xffffffff ? ALL : passed };
}

function readSettings(given: Document): Settings {
  for (const name of given.keys()) {
    if (!OPTIONS.includes(name)) throw unknownField(`$changeStream.${name}`);
  }
  const resume = given.get('resumeAfter') ?? given.get('startAfter');
  const token = isDocument(resume) ? resume.get('_data') : undefined;
  if (resume !== undefined && typeof token !== 'string') {
    throw mongoFailure(
      'InvalidResumeToken',
      'A resume token is a document with a text named _data',
    );
  }
  const time = given.get('startAtOperationTime');
  return {
    fullDocument: choice(given, 'fullDocument', [
      'default',
      'updateLookup',
      'whenAvailable',
      'required',
    ]),
    beforeChange: choice(given, 'fullDocumentBeforeChange', ['off', 'whenAvailable', 'required']),
    token: token as string | undefined,
    since: time instanceof Timestamp ? time.seconds : undefined,
  };
}

function choice(given: Document, name: string, choices: readonly string[]): string {
  const value = given.get(name) ?? choices[0];
  if (typeof value === 'string' && choices.includes(value)) return value;
  throw mongoFailure(
    'BadValue',
    `Enumeration value '${String(value)}' for field '$changeStream.${name}' is not a valid value.`,
  );
}
