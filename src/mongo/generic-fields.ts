// Fields that every command may have: concerns, read preferences and the version of the API. One
// server is always current and always durable, so most of them change nothing; what is none of
// them is refused all the same.
import { isDocument, isNumber, type Value } from '../value/bson/value.js';
import { mongoFailure, mongoLocation } from '../value/mongo-errors.js';
import type { Call } from './call.js';
import { asDocument, asNumber, asText, asTruth, unknownField } from './fields.js';

const READ_LEVELS = ['local', 'available', 'majority', 'linearizable', 'snapshot'];
const READ_CONCERN = [
  ...['level', 'afterClusterTime', 'atClusterTime', 'allowTransactionTableSnapshot', 'provenance'],
];
const WRITE_CONCERN = ['w', 'j', 'wtimeout', 'fsync', 'provenance', 'getLastError'];
const MODES = ['primary', 'primaryPreferred', 'secondary', 'secondaryPreferred', 'nearest'];
const MEMBERS_MAX = 50;

export function checkGenericFields(call: Call): void {
  const { command } = call;
  const read = command.get('readConcern');
  if (read !== undefined) checkReadConcern(read, command.get('autocommit') === false);
  const write = command.get('writeConcern');
  if (write !== undefined) checkWriteConcern(write);
  const preference = command.get('$readPreference');
  if (preference !== undefined) {
    const mode = asDocument(preference, '$readPreference')?.get('mode');
    checkChoice(mode, '$readPreference.mode', MODES);
  }
  checkApiVersion(call);
}

function checkReadConcern(given: Value, isPart: boolean): void {
  const concern = asDocument(given, 'readConcern') ?? new Map();
  for (const name of concern.keys()) {
    if (!READ_CONCERN.includes(name)) throw unknownField(`readConcern.${name}`);
  }
  checkChoice(concern.get('level'), 'readConcern.level', READ_LEVELS);
  const isSnapshot = concern.get('level') === 'snapshot' || concern.has('atClusterTime');
  if (isSnapshot && !isPart) {
    throw mongoFailure(
      'CommandNotSupported',
      'Snapshot reads outside of transactions are not supported: no older versions are kept. Read in a transaction.',
    );
  }
}

function checkChoice(given: Value | undefined, path: string, choices: readonly string[]): void {
  const text = asText(given, path);
  if (text === undefined || choices.includes(text)) return;
  throw mongoFailure(
    'BadValue',
    `Enumeration value '${text}' for field '${path}' is not a valid value.`,
  );
}

function checkWriteConcern(given: Value): void {
  const concern = asDocument(given, 'writeConcern') ?? new Map();
  for (const name of concern.keys()) {
    if (!WRITE_CONCERN.includes(name)) throw unknownField(`writeConcern.${name}`);
  }
  asTruth(concern.get('j'), 'writeConcern.j');
  const members = concern.get('w');
  if (members === undefined || typeof members === 'string') return;
  if (isDocument(members) && members.size > 0) return;
  if (!isNumber(members)) {
    throw mongoFailure('FailedToParse', 'w has to be a number, string, or object');
  }
  const count = asNumber(members);
  if (count >= 0 && count <= MEMBERS_MAX) return;
  throw mongoFailure(
    'FailedToParse',
    `w has to be a non-negative number and not greater than ${MEMBERS_MAX}; found: ${count}`,
  );
}

/** What the first version of the API has. */
const STABLE: ReadonlySet<string> = new Set([
  ...['abortTransaction', 'aggregate', 'bulkWrite', 'collMod', 'commitTransaction', 'count'],
  ...['create', 'createIndexes', 'delete', 'drop', 'dropDatabase', 'dropIndexes', 'endSessions'],
  ...['explain', 'find', 'findAndModify', 'getMore', 'hello', 'insert', 'killCursors'],
  ...['listCollections', 'listDatabases', 'listIndexes', 'ping', 'refreshSessions', 'update'],
]);
/** Clients say them with the version that the commands after them are in. */
const HANDSHAKE: ReadonlySet<string> = new Set(['saslStart', 'saslContinue', 'isMaster']);
const WITHOUT_VERSION = 4_886_600;

function checkApiVersion({ command, name }: Call): void {
  const version = asText(command.get('apiVersion'), 'apiVersion');
  const strict = asTruth(command.get('apiStrict'), 'apiStrict');
  if (version === undefined) {
    for (const field of ['apiStrict', 'apiDeprecationErrors']) {
      if (!command.has(field)) continue;
      throw mongoLocation(WITHOUT_VERSION, `Provided ${field} without passing apiVersion`);
    }
    return;
  }
  if (version !== '1') throw mongoFailure('APIVersionError', 'API version must be "1"');
  if (!strict || STABLE.has(name) || HANDSHAKE.has(name)) return;
  throw mongoFailure(
    'APIStrictError',
    `Provided apiStrict:true, but the command ${name} is not in API Version 1`,
  );
}
