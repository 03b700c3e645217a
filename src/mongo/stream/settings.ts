// The options of a `$changeStream` stage.
import type { Watched } from '../../catalog/collection-events.js';
import { type Document, isDocument, Timestamp, type Value } from '../../value/bson/value.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import { authorize } from '../authorize.js';
import type { Call } from '../call.js';
import { asTruth, unknownField } from '../fields.js';
import { instantOf } from './cluster-time.js';
import { type Position, positionOf } from './token.js';

export interface Settings {
  readonly fullDocument: string;
  readonly beforeChange: string;
  /** Where to go on. */
  readonly position: Position | undefined;
  /** In milliseconds: what happened before is not told. */
  readonly since: number | undefined;
  readonly showExpandedEvents: boolean;
}

const OPTIONS: readonly string[] = [
  ...['fullDocument', 'fullDocumentBeforeChange', 'resumeAfter', 'startAfter'],
  ...['startAtOperationTime', 'showExpandedEvents', 'allChangesForCluster'],
];
const STARTS = ['resumeAfter', 'startAfter', 'startAtOperationTime'];
const INTERNAL: readonly string[] = ['admin', 'config', 'local'];

export function readSettings(given: Document): Settings {
  for (const name of given.keys()) {
    if (!OPTIONS.includes(name)) throw unknownField(`$changeStream.${name}`);
  }
  if (STARTS.filter((name) => given.has(name)).length > 1) {
    throw mongoFailure(
      'InvalidOptions',
      'Only one type of resume option is allowed, but multiple were found.',
    );
  }
  const time = given.get('startAtOperationTime');
  if (time !== undefined && !(time instanceof Timestamp)) {
    throw mongoFailure('TypeMismatch', "'startAtOperationTime' must be a timestamp");
  }
  return {
    fullDocument: choice(given, 'fullDocument', [
      'default',
      'updateLookup',
      'whenAvailable',
      'required',
    ]),
    beforeChange: choice(given, 'fullDocumentBeforeChange', ['off', 'whenAvailable', 'required']),
    position: positionIn(given),
    since: time && instantOf(time),
    showExpandedEvents:
      asTruth(given.get('showExpandedEvents'), '$changeStream.showExpandedEvents') ?? false,
  };
}

/** What the stream is of: a collection, a database, or everything. */
export function watchedBy(call: Call, name: string | undefined, given: Document): Watched {
  const { database } = call;
  const isOfAll = asTruth(given.get('allChangesForCluster'), '$changeStream.allChangesForCluster');
  if (isOfAll) {
    if (database !== 'admin' || name !== undefined) {
      throw mongoFailure(
        'InvalidOptions',
        "A $changeStream with 'allChangesForCluster:true' may only be opened on the 'admin' database, and with no collection name",
      );
    }
    authorize(call, 'read', '');
    return {};
  }
  if (INTERNAL.includes(database)) {
    throw mongoFailure(
      'InvalidNamespace',
      `$changeStream may not be opened on the internal ${database} database`,
    );
  }
  return { database, collection: name };
}

function positionIn(given: Document): Position | undefined {
  const resume = given.get('resumeAfter');
  const token = resume ?? given.get('startAfter');
  if (token === undefined) return undefined;
  const data = isDocument(token) ? token.get('_data') : undefined;
  if (typeof data !== 'string') {
    throw mongoFailure(
      'InvalidResumeToken',
      'A resume token is a document with a text named _data',
    );
  }
  const position = positionOf(data);
  if (position.ending === 'told' && resume !== undefined) {
    throw mongoFailure(
      'InvalidResumeToken',
      "Attempting to resume a change stream using 'resumeAfter' is not allowed from an invalidate notification.",
    );
  }
  return position;
}

function choice(given: Document, name: string, choices: readonly string[]): string {
  const value: Value | undefined = given.get(name) ?? choices[0];
  if (typeof value === 'string' && choices.includes(value)) return value;
  throw mongoFailure(
    'BadValue',
    `Enumeration value '${String(value)}' for field '$changeStream.${name}' is not a valid value.`,
  );
}
