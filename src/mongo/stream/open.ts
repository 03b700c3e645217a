// Opening a change stream: what it is of, where it begins, and what its pipeline does with events.
import type { Watched } from '../../catalog/collection-events.js';
import type { StoredCollection } from '../../catalog/collections.js';
import { compilePipeline } from '../../mql/pipeline/pipeline.js';
import { decodeDocument } from '../../value/bson/read.js';
import { type Bytes, isDocument, type Value } from '../../value/bson/value.js';
import { encodeDocument } from '../../value/bson/write.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import type { Call } from '../call.js';
import type { Source } from '../cursors.js';
import { findCollection } from '../namespace.js';
import { pipelineHost } from '../pipeline-host.js';
import { languageOf } from '../question.js';
import { beginningOf, historyLost } from './log.js';
import { readSettings, type Settings, watchedBy } from './settings.js';
import { Stream } from './stream.js';
import { ALL, type Place, type Position, START, shortName, tokenOf } from './token.js';

/** Stages that look at one event at a time. */
const STAGES: readonly string[] = [
  ...['$match', '$project', '$addFields', '$set', '$unset', '$replaceRoot', '$replaceWith'],
  '$redact',
];
/** A stream that begins a little before the first one that was ever opened has missed nothing. */
const GRACE_MS = 10_000;

export async function openStream(
  call: Call,
  name: string | undefined,
  stages: readonly Value[],
): Promise<Source> {
  const [first, ...more] = stages;
  const given = isDocument(first) ? first.get('$changeStream') : undefined;
  const options = isDocument(given) ? given : new Map<string, Value>();
  const settings = readSettings(options);
  const watched = watchedBy(call, name, options);
  const { catalog, documents } = call.mongo;
  if (!documents.engine.versions) {
    throw mongoFailure('CommandNotSupported', 'This store keeps no log for change streams');
  }
  const shaped = shapedBy(call, name, more);
  const there = new Set(catalog.collections.watchedBy(watched).map(({ engine }) => engine.id));
  await catalog.collections.watch(watched, call.at);
  const stream = new Stream(call.mongo, watched, settings, beginOf(call, settings), shaped);
  try {
    await followAll(call, stream, watched, settings, there);
  } catch (error) {
    stream.close();
    throw error;
  }
  return stream;
}

/** For a stream of a collection that begins now or at that time. */
export async function tokenFor(call: Call, name: string, time: Value | undefined): Promise<string> {
  const options = time === undefined ? new Map() : new Map([['startAtOperationTime', time]]);
  const stream = await openStream(call, name, [new Map([['$changeStream', options]])]);
  stream.close?.();
  const { since } = readSettings(options);
  if (since === undefined) return stream.resumeToken?.() ?? '';
  // Without places it begins in each log where that time was.
  return tokenOf({ ...beginOf(call, readSettings(options)), places: new Map() });
}

function beginOf({ mongo, at }: Call, { position, since }: Settings): Omit<Position, 'places'> {
  const { events } = mongo.catalog.collections;
  if (position) return position.ending === 'told' ? { ...position, ending: 'none' } : position;
  const event = since === undefined ? events.last : events.before(since);
  return { horizon: since ?? at, sequence: 0, ending: 'none', event };
}

/** Those that come later are followed from their beginning by the stream itself. */
async function followAll(
  call: Call,
  stream: Stream,
  watched: Watched,
  settings: Settings,
  there: ReadonlySet<string>,
): Promise<void> {
  const { catalog, documents } = call.mongo;
  const { position } = settings;
  for (const collection of catalog.collections.watchedBy(watched)) {
    const { engine } = collection;
    const { lsn } = await documents.engine.stats(engine);
    const here: Place = { lsn, passed: ALL };
    const known = position?.places.get(shortName(engine.id));
    if (known && known.lsn > lsn) {
      throw mongoFailure('InvalidResumeToken', 'The resume token names a place beyond the log');
    }
    const since = position ? position.horizon : settings.since;
    if (known) stream.follow(collection, known);
    else if (since === undefined) stream.follow(collection, there.has(engine.id) ? here : START);
    else {
      checkReach(collection, since, call.at);
      stream.follow(collection, await beginningOf(documents.engine, engine, call.at), since);
    }
  }
}

const VERSIONS_MS = 24 * 3_600_000;

function checkReach({ definition }: StoredCollection, since: number, at: number): void {
  const { watchedSince } = definition;
  const isLate = watchedSince !== undefined && since + GRACE_MS < watchedSince;
  if (isLate || since < at - VERSIONS_MS) throw historyLost();
}

function shapedBy(call: Call, name: string | undefined, stages: readonly Value[]) {
  for (const stage of stages) {
    const [kind = ''] = isDocument(stage) ? stage.keys() : [];
    if (STAGES.includes(kind)) continue;
    throw mongoFailure('IllegalOperation', `${kind} is not permitted in a $changeStream pipeline`);
  }
  const collection = name === undefined ? undefined : findCollection(call, call.database, name);
  const language = languageOf(call, collection, call.command);
  const host = pipelineHost(call, collection, { at: call.at });
  const pipeline = compilePipeline(stages, language, host);
  return async (events: readonly Bytes[]): Promise<readonly Bytes[]> => {
    if (stages.length === 0) return events;
    const tokens = new Set(events.map(tokenIn));
    const rows: Bytes[] = [];
    for await (const batch of pipeline.run(once(events))) {
      rows.push(...batch.map((row) => row.bytes));
    }
    if (rows.every((row) => tokens.has(tokenIn(row)))) return rows;
    throw mongoFailure(
      'ChangeStreamFatalError',
      'Encountered an event whose _id field, which contains the resume token, was modified by the pipeline. Modifying the _id field of an event makes it impossible to resume the stream from that point. Only transformations that retain the unmodified _id field are allowed.',
    );
  };
}

/** The bytes of the `_id`, as text. */
function tokenIn(event: Bytes): string {
  const id = decodeDocument(event).get('_id');
  return isDocument(id) ? Buffer.from(encodeDocument(id)).toString('latin1') : '';
}

async function* once(events: readonly Bytes[]) {
  yield events;
}
