// POST /dbs/{db}/colls/{coll}/docs with `x-ms-cosmos-is-batch-request`: a transactional batch where
// `x-ms-cosmos-batch-atomic` is true, bulk where it is not.
import type { StoredContainer } from '../../catalog/resources.js';
import {
  runAtomically,
  runSeparately,
  type Step,
  type StepResults,
  stepCharge,
} from '../../documents/batch.js';
import { whileThere } from '../../documents/documents.js';
import { failure } from '../../value/errors.js';
import type { PartitionKey } from '../../value/partition-key.js';
import { checkOpenPartition } from '../access.js';
import { answerOf, answersBody, type BatchForm } from '../batch-answer.js';
import { type BatchOperation, operationOf, parseOperations } from '../batch-body.js';
import { runWithin } from '../bulk-budget.js';
import { namePath, ownerContainer, rangeOf } from '../find.js';
import { metered } from '../meter.js';
import { fullPartitionKey, scopeOf } from '../partition-header.js';
import { itemHeaders, type Reply } from '../reply.js';
import { type CosmosRequest, flag, header } from '../request.js';
import { checkSession } from '../session.js';
import { priorityOf } from '../throughput-headers.js';
import { refuseTriggers } from '../triggers.js';
import { refuseUnsupportedHeaders } from './write-item.js';

export function batchItems(request: CosmosRequest): Promise<Reply> {
  // Bulk asks for request units piece by piece.
  return flag(request.headers, ATOMIC) ? metered(request, runBatch) : runBatch(request);
}

const ATOMIC = 'x-ms-cosmos-batch-atomic';

async function runBatch(request: CosmosRequest): Promise<Reply> {
  refuseUnsupportedHeaders(request);
  refuseTriggers(request, 'A batch');
  const mode = modeOf(request);
  ownerContainer(request);
  const { operations: parsed, form } = parseOperations(await request.body());
  // Looked up anew, because the container may have changed while a slow body came in.
  const container = ownerContainer(request);
  const shared = sharedKey(request, container, mode.atomic);
  const { documents, at } = request;
  const context = { now: at, random: () => documents.entropy.fraction() };
  const operations = parsed.map((each) => operationOf(container, each, shared, context));
  for (const { partition } of operations) if (partition) checkOpenPartition(request, partition);
  await checkReads(request, container, operations);
  const outcome =
    mode.atomic && shared
      ? await runAtomically(documents, container, shared, stepsOf(operations), at)
      : await runBulk(request, container, operations, mode.continueOnError);
  return replyOf(request, container, operations, form, outcome);
}

function runBulk(
  { documents, budgets, at, headers }: CosmosRequest,
  container: StoredContainer,
  operations: readonly BatchOperation[],
  continueOnError: boolean,
): Promise<StepResults> {
  return runWithin(budgets, container, operations, priorityOf(headers), (piece, before) =>
    runSeparately(documents, container, stepsOf(piece), continueOnError, at, before),
  );
}

function stepsOf(operations: readonly BatchOperation[]): readonly Step[] {
  return operations.map(({ step }) => step);
}

interface Mode {
  readonly atomic: boolean;
  readonly continueOnError: boolean;
}

function modeOf({ headers }: CosmosRequest): Mode {
  const atomic = flag(headers, ATOMIC);
  const name = 'x-ms-cosmos-batch-continue-on-error';
  const continueOnError = flag(headers, name);
  // Operations are carried out in their order always, so that either value is kept.
  flag(headers, 'x-ms-cosmos-batch-ordered');
  if (atomic && continueOnError) {
    const why = 'An atomic batch cannot go on after an error.';
    throw failure('invalidHeader', { header: name, value: 'true', why });
  }
  return { atomic, continueOnError };
}

/**
 * An atomic batch has one key. A range only has to be there: all are in this process, and the key
 * of an operation tells where it belongs.
 */
function sharedKey(
  { headers }: CosmosRequest,
  container: StoredContainer,
  atomic: boolean,
): PartitionKey | undefined {
  const { partition } = scopeOf(headers, container);
  return atomic || partition ? fullPartitionKey(headers, container) : undefined;
}

/** Before anything is written: reads may ask for what this server has not seen. */
async function checkReads(
  { headers, documents }: CosmosRequest,
  container: StoredContainer,
  operations: readonly BatchOperation[],
): Promise<void> {
  if (!operations.some(({ step }) => step.kind === 'read')) return;
  const { lsn } = await whileThere(container, documents.engine.stats(container.engine));
  checkSession(headers, container, lsn);
}

function replyOf(
  request: CosmosRequest,
  container: StoredContainer,
  operations: readonly BatchOperation[],
  form: BatchForm,
  { results, lsn }: StepResults,
): Reply {
  const isMinimal = header(request.headers, 'prefer')?.toLowerCase() === 'return=minimal';
  const answers = results.map((result, index) => {
    const minimal = isMinimal || operations[index]?.minimal === true;
    return answerOf(result, stepCharge(container, result), minimal);
  });
  const charge = answers.reduce((sum, answer) => sum + answer.charge, 0);
  const ranges = new Set(operations.map(({ partition }) => rangeOf(container, partition)));
  const path = namePath(request, container);
  const headers = itemHeaders(container, path, [...ranges], lsn, charge);
  const failed = results.some(({ kind }) => kind === 'refused');
  const body = answersBody(form, answers);
  const type = form === 'rows' ? { type: ROWS_TYPE } : {};
  return { status: failed ? 207 : 200, headers, body, ...type };
}

const ROWS_TYPE = 'application/octet-stream';
