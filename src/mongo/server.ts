// From a request to its reply: which command it is, whether the client may give it, whether it was
// given before, and how what goes wrong is told.
import { ContainerGone } from '../engine/engine.js';
import { Throttled } from '../throughput/throttled.js';
import { stopwatch } from '../time/clock.js';
import { decodeString, decodeValue, eachField, someElement } from '../value/bson/read.js';
import { BsonType } from '../value/bson/types.js';
import { validateDocument } from '../value/bson/validate.js';
import {
  type Bytes,
  type Document,
  documentOf,
  isDocument,
  type Value,
} from '../value/bson/value.js';
import { encodeDocument } from '../value/bson/write.js';
import { MayflyError } from '../value/errors.js';
import { codeNameOf, MongoError, mongoFailure } from '../value/mongo-errors.js';
import { authorize } from './authorize.js';
import type { Call, Client, Mongo, Reply, TimeLimit } from './call.js';
import { personalityOf } from './commands/hello.js';
import { type Command, commands } from './commands/table.js';
import { labelsOf, topologyOf } from './error-labels.js';
import { arrayOf, asInteger, asNumber } from './fields.js';
import { checkGenericFields } from './generic-fields.js';
import { meteredFor, throttledFailure } from './meter.js';
import { errorReply } from './reply.js';
import { timesOf } from './reply-time.js';
import { DoneBefore, type RetriedCommand, Retry, type StatementIds } from './retries.js';
import { sessionOf } from './session-id.js';
import { checkNumber, type Session } from './sessions.js';
import { LabelledError, unlessStruck } from './struck.js';
import { conflict, isCommitted, noSuch, wasCommitted } from './transaction.js';
import type { ConnectionWork } from './wire/connection.js';
import { type Answer, ProtocolError, type Request, type Sequence } from './wire/message.js';
import { StatementError } from './write-errors.js';

/** Arrays of documents, which are used as they came and never decoded with the command. */
const DOCUMENT_ARRAYS: ReadonlySet<string> = new Set([
  ...['documents', 'updates', 'deletes', 'ops', 'nsInfo'],
]);
const HANDSHAKES: readonly string[] = ['hello', 'isMaster', 'ismaster'];
/** Retryable: sent with a number of the session, and done once. */
const RETRYABLE: ReadonlySet<string> = new Set([
  ...['insert', 'update', 'delete', 'findAndModify', 'findandmodify', 'bulkWrite'],
]);

export type ReportDefect = (error: unknown, command: string) => void;
export interface Surroundings {
  readonly report: ReportDefect;
  /** Called when a request begins; what it returns, when it ends. */
  readonly busy: () => () => void;
}

export function connectionWork(
  server: Mongo,
  client: Client,
  surroundings: Surroundings,
): ConnectionWork {
  const mongo = meteredFor(server, client);
  const { report } = surroundings;
  return {
    answer: (request) => answer(mongo, client, request, surroundings),
    refusal: (code, text) =>
      encodeDocument(
        errorReply(new MongoError(code, codeNameOf(code), text), []) as ReadonlyMap<string, Value>,
      ),
    isTrusted: () => client.login !== undefined,
    goesOn: () => client.goesOn,
    report: (error) => report(error, ''),
  };
}

/** All in one function, because every one that is waited for takes its time. */
async function answer(
  mongo: Mongo,
  client: Client,
  request: Request,
  { report, busy }: Surroundings,
): Promise<Answer> {
  client.done = busy();
  const took = stopwatch();
  mongo.counters.requests += 1;
  let call: Call | undefined;
  try {
    call = readCall(mongo, client, request);
    count(mongo, call.name);
    const command = commandOf(call, request);
    const run = call;
    const reply = await unlessStruck(call, () => runOnce(run, command));
    call.time.stop();
    return { document: encode(reply), tail: timesOf(call) };
  } catch (error) {
    // Not to be answered at all.
    if (error instanceof ProtocolError) throw error;
    const failure = failureOf(error, report, call?.name ?? '');
    const labels = failure instanceof LabelledError ? failure.labels : labelsOf(failure.code, call);
    const extra = { ...extraOf(failure), ...topologyOf(failure.code, mongo) };
    const document = encode(errorReply(failure, labels, extra));
    return { document, tail: call && timesOf(call) };
  } finally {
    const command = call?.name ?? '';
    if (command !== 'getLastRequestStatistics') {
      client.last = { command, ms: took(), charge: client.charge };
    }
    client.done();
  }
}

function encode(reply: Reply): Bytes {
  if (!isDocument(reply)) return reply;
  if (!reply.has('ok')) reply.set('ok', 1);
  return encodeDocument(reply);
}

function readCall(mongo: Mongo, client: Client, request: Request): Call {
  validateDocument(request.body);
  let { body } = request;
  if (request.kind === 'query') body = unwrapped(body);
  const { command, arrays } = readCommand(body, request.sequences);
  const [name] = command.keys();
  if (name === undefined) throw mongoFailure('BadValue', 'an empty command');
  const database = request.database ?? command.get('$db');
  if (typeof database !== 'string') {
    throw new MongoError(40571, 'Location40571', 'OP_MSG requests require a $db argument');
  }
  const at = mongo.clock.now();
  client.charge = 0;
  client.goesOn = false;
  const documents = (field: string) => arrays.get(field);
  const time = timeLimit(name, command.get('maxTimeMS'));
  return {
    mongo,
    client,
    name,
    database,
    command,
    at,
    transaction: undefined,
    retried: undefined,
    time,
    documents,
  };
}

const NO_LIMIT: TimeLimit = { check: () => undefined, stop: () => undefined };

/** Of a getMore it is how long to wait for something, and not for the command. */
function timeLimit(name: string, given: Value | undefined): TimeLimit {
  if (given === undefined || name === 'getMore') return NO_LIMIT;
  const msMax = asInteger(given, `${name}.maxTimeMS`) ?? 0;
  if (msMax < 0) throw mongoFailure('BadValue', `${msMax} value for maxTimeMS is out of range`);
  if (msMax === 0) return NO_LIMIT;
  const took = stopwatch();
  let isOver = false;
  return {
    check: () => {
      if (isOver || took() <= msMax) return;
      throw mongoFailure('MaxTimeMSExpired', 'operation exceeded time limit');
    },
    stop: () => {
      isOver = true;
    },
  };
}

/** Some old clients put the command into a field of its own. */
function unwrapped(body: Buffer): Buffer {
  let inner = body;
  eachField(body, 0, (name, type, at) => {
    if (name === '$query' && type === BsonType.object) {
      inner = body.subarray(at, at + body.readInt32LE(at));
    }
  });
  return inner;
}

function readCommand(body: Buffer, sequences: readonly Sequence[]) {
  const command: Document = new Map();
  const arrays = new Map<string, readonly Bytes[]>();
  eachField(body, 0, (name, type, at) => {
    if (type === BsonType.array && DOCUMENT_ARRAYS.has(name)) {
      arrays.set(name, documentsIn(body, at));
    } else if (name === '$clusterTime') return;
    else if (type === BsonType.string) command.set(name, decodeString(body, at));
    else command.set(name, decodeValue(body, type, at));
  });
  for (const { name, documents } of sequences) {
    if (arrays.has(name) || command.has(name)) {
      throw mongoFailure('FailedToParse', `the field '${name}' is there twice`);
    }
    for (const document of documents) validateDocument(document);
    arrays.set(name, documents);
  }
  return { command, arrays };
}

function documentsIn(bytes: Buffer, array: number): readonly Bytes[] {
  const documents: Bytes[] = [];
  someElement(bytes, array, (type, at) => {
    if (type !== BsonType.object) {
      throw mongoFailure('TypeMismatch', 'an array of documents holds something else');
    }
    documents.push(bytes.subarray(at, at + bytes.readInt32LE(at)));
    return false;
  });
  return documents;
}

function commandOf(call: Call, request: Request): Command {
  const { name, client, database } = call;
  if (request.kind === 'query' && !HANDSHAKES.includes(name)) {
    throw mongoFailure('UnsupportedOpQueryCommand', `Unsupported OP_QUERY command: ${name}`);
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  const { login } = client;
  if (!login && command?.needs !== 'nothing') {
    throw mongoFailure('Unauthorized', `Command ${name} requires authentication`);
  }
  if (!command) throw mongoFailure('CommandNotFound', `no such command: '${name}'`);
  if (login) authorize(call, command.needs);
  checkGenericFields(call);
  if (command.onAdmin && database !== 'admin') {
    throw mongoFailure('Unauthorized', `${name} may only be run against the admin database.`);
  }
  return command;
}

/** Without a promise of its own: most commands pass here on their way to one. */
function runOnce(call: Call, command: Command): Reply | Promise<Reply> {
  if (call.command.get('help') === true) return documentOf({ help: `help for: ${call.name}` });
  const id = sessionOf(call);
  const session = id === undefined ? undefined : call.mongo.sessions.use(id);
  const given = call.command.get('txnNumber');
  if (!session || given === undefined) return command.run(call);
  if (personalityOf(call) === 'standalone') {
    throw mongoFailure(
      'IllegalOperation',
      'Transaction numbers are only allowed on a replica set member or mongos',
    );
  }
  const number = BigInt(asNumber(given));
  if (call.command.get('autocommit') === false)
    return runInTransaction(call, command, session, number);
  if (!RETRYABLE.has(call.name)) return command.run(call);
  const ids = statementIdsOf(call);
  const statements = ids.all?.join() ?? String(ids.first);
  return call.mongo.sessions.once(session, { number, statements }, () =>
    runRetried(call, command, { session: session.id, number, ids }),
  );
}

function statementIdsOf(call: Call): StatementIds {
  return {
    first: asInteger(call.command.get('stmtId'), 'stmtId') ?? 0,
    all: arrayOf(call, 'stmtIds')?.map((id) => asInteger(id, 'stmtIds') ?? 0),
  };
}

/** How often a command begins again because an attempt before it has done some of it. */
const RETRIED_MAX = 5;

/**
 * What an earlier attempt has done, at another server or before a restart, is found when it would
 * be done again, or when something could not be done, perhaps because it is done.
 */
async function runRetried(
  call: Call,
  command: Command,
  retriedCommand: RetriedCommand,
): Promise<Reply> {
  const retry = new Retry(call.mongo.sessions.records, retriedCommand, call.at);
  const retried = { retry, index: 0, image: undefined };
  for (let attempts = 1; ; attempts++) {
    let reply: Reply | undefined;
    let failed: unknown;
    try {
      reply = await command.run({ ...call, retried });
      if (retry.isComplete(statementsIn(call))) return reply;
    } catch (error) {
      failed = error;
    }
    if (attempts < RETRIED_MAX && (await retry.lookUp())) continue;
    if (reply) return reply;
    throw failed instanceof DoneBefore ? conflict() : failed;
  }
}

function statementsIn(call: Call): number {
  for (const field of ['documents', 'updates', 'deletes', 'ops']) {
    const statements = call.documents(field);
    if (statements) return statements.length;
  }
  return 1;
}

/** What may be part of a transaction. */
const IN_TRANSACTION: ReadonlySet<string> = new Set([
  ...['insert', 'update', 'delete', 'findAndModify', 'findandmodify', 'find', 'getMore'],
  ...['aggregate', 'distinct', 'killCursors', 'bulkWrite', 'create', 'createIndexes'],
  ...['commitTransaction', 'abortTransaction'],
]);

/** Whatever goes wrong with a statement ends the transaction. */
async function runInTransaction(
  call: Call,
  command: Command,
  session: Session,
  number: bigint,
): Promise<Reply> {
  if (!IN_TRANSACTION.has(call.name)) {
    throw mongoFailure(
      'OperationNotSupportedInTransaction',
      `Cannot run '${call.name}' in a multi-document transaction.`,
    );
  }
  const isFirst = call.command.get('startTransaction') === true;
  if (call.name === 'commitTransaction' && isUnknown(session, number)) {
    checkNumber(session, number);
    const parts = { engine: call.mongo.documents.engine, records: call.mongo.sessions.records };
    if (await wasCommitted(parts, session.id, number, call.at)) return new Map();
    throw noSuch(number);
  }
  const transaction = call.mongo.sessions.transaction(session, number, isFirst);
  if (!call.name.endsWith('Transaction') && transaction.state !== 'active') {
    throw transaction.state === 'committed' ? isCommitted(number) : noSuch(number);
  }
  try {
    const reply = await command.run({ ...call, transaction });
    if (isDocument(reply) && reply.has('writeErrors')) transaction.abort();
    return reply;
  } catch (error) {
    // Where the store did not answer, nobody knows: the client asks again, and then it is known.
    if (call.name !== 'commitTransaction' || !(error instanceof MayflyError)) transaction.abort();
    throw error;
  }
}

/** By this server, which may have been started since, or have given it up. */
function isUnknown({ transaction }: Session, number: bigint): boolean {
  return transaction?.number !== number || transaction.state === 'aborted';
}

function failureOf(error: unknown, report: ReportDefect, command: string): MongoError {
  if (error instanceof MongoError) return error;
  if (error instanceof ContainerGone) {
    return new MongoError(175, 'QueryPlanKilled', 'collection dropped while the command ran');
  }
  if (error instanceof Throttled) return throttledFailure(error);
  if (error instanceof MayflyError) return ofOtherFace(error);
  report(error, command);
  return mongoFailure('InternalError', 'Mayfly met an unexpected error; it was logged.');
}

/** The rooms both faces share speak in the codes of the REST face. */
function ofOtherFace(error: MayflyError): MongoError {
  const { status } = error.kind;
  switch (status) {
    case 404:
      return mongoFailure('NamespaceNotFound', error.message);
    case 409:
      return mongoFailure('NamespaceExists', error.message);
    case 413:
      return mongoFailure('BSONObjectTooLarge', error.message);
    case 408:
    case 429:
      return mongoFailure('ExceededTimeLimit', error.message);
    case 449:
    case 503:
      return mongoFailure('HostUnreachable', error.message);
    default:
      return mongoFailure('OperationFailed', error.message);
  }
}

function extraOf(error: MongoError): Readonly<Record<string, Value>> {
  return error instanceof StatementError ? error.extra : {};
}

function count({ counters }: Mongo, name: string): void {
  const key = Object.hasOwn(commands, name) ? name : 'unknown';
  counters.operations.set(key, (counters.operations.get(key) ?? 0) + 1);
}
