// explain: which index a command would use, and on demand what it does when it runs.

import { compileFilter } from '../../mql/filter/filter.js';
import { leadingMatch } from '../../mql/pipeline/leading.js';
import { compileSort, type Sort } from '../../mql/sort.js';
import { stopwatch } from '../../time/clock.js';
import {
  type Document,
  documentOf,
  int32,
  isArray,
  isDocument,
  type Value,
} from '../../value/bson/value.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import { type Access, ID_INDEX } from '../access.js';
import type { Call, Reply } from '../call.js';
import { checkFields, documentOfField, textOf } from '../fields.js';
import { checkCollectionName, findCollection } from '../namespace.js';
import { hintOf, languageOf, namespaceOf, type Question } from '../question.js';
import { accessOf, matching } from '../rows.js';
import { scan } from '../storage.js';
import { indexSpecs } from './indexes.js';
import { gitVersionOf, SERVER_VERSION } from './server-info.js';

/** Where each command has its filter. */
const FILTERS: Readonly<Record<string, string>> = {
  find: 'filter',
  count: 'query',
  distinct: 'query',
  findAndModify: 'query',
};
const VERBOSITIES: readonly string[] = ['queryPlanner', 'executionStats', 'allPlansExecution'];

export async function explain(call: Call): Promise<Reply> {
  checkFields(call, ['verbosity']);
  const command = documentOfField(call, 'explain') ?? new Map();
  const verbosity = textOf(call, 'verbosity') ?? 'allPlansExecution';
  if (!VERBOSITIES.includes(verbosity)) {
    throw mongoFailure('FailedToParse', `verbosity must be one of ${VERBOSITIES.join(', ')}`);
  }
  return explained(call, command, verbosity);
}

export async function explained(
  call: Call,
  command: Document,
  verbosity: string,
): Promise<Document> {
  const { question, sort, filter } = questionIn(call, command);
  const access = await accessOf(call, question, sort);
  const plan = planOf(question, access, sort, filter);
  const reply: Document = documentOf({
    explainVersion: '1',
    queryPlanner: documentOf({
      namespace: namespaceOf(call, question.name),
      parsedQuery: filter,
      indexFilterSet: false,
      maxIndexedOrSolutionsReached: false,
      winningPlan: plan,
      rejectedPlans: [],
    }),
  });
  if (verbosity !== 'queryPlanner') {
    reply.set('executionStats', await statsOf(call, question, access, plan));
  }
  reply.set('command', command);
  const { host, port } = call.mongo.address();
  reply.set(
    'serverInfo',
    documentOf({
      host,
      port: int32(port),
      version: SERVER_VERSION,
      gitVersion: gitVersionOf(call),
    }),
  );
  reply.set('serverParameters', documentOf({}));
  return reply;
}

function questionIn(call: Call, command: Document) {
  const [kind = ''] = command.keys();
  const name = command.get(kind);
  if (typeof name !== 'string') {
    throw mongoFailure('FailedToParse', `explain of '${kind}' needs the name of a collection`);
  }
  checkCollectionName(call.database, name);
  const collection = findCollection(call, call.database, name);
  const statement = statementOf(kind, command);
  const filter = filterIn(kind, command, statement);
  const language = languageOf(call, collection, statement ?? command);
  const hint = hintOf((statement ?? command).get('hint'), collection);
  const sortSpec = command.get('sort');
  const sort =
    isDocument(sortSpec) && sortSpec.size > 0 ? compileSort(sortSpec, language) : undefined;
  const compiled = compileFilter(filter, language);
  const question: Question = { name, collection, language, filter: compiled, hint };
  return { question, sort, filter };
}

/** The first statement of an update or delete. */
function statementOf(kind: string, command: Document): Document | undefined {
  const statements = command.get(kind === 'update' ? 'updates' : 'deletes');
  const [first] = isArray(statements) ? statements : [];
  return isDocument(first) ? first : undefined;
}

function filterIn(kind: string, command: Document, statement: Document | undefined): Document {
  if (kind === 'aggregate') return leadingMatch(command.get('pipeline') ?? []) ?? new Map();
  if (kind === 'update' || kind === 'delete') {
    const filter = statement?.get('q');
    return isDocument(filter) ? filter : new Map();
  }
  const field = FILTERS[kind];
  if (field === undefined) {
    throw mongoFailure('CommandNotFound', `Explain failed due to unknown command: ${kind}`);
  }
  const filter = command.get(field);
  return isDocument(filter) ? filter : new Map();
}

function planOf(
  { collection }: Question,
  access: Access,
  sort: Sort | undefined,
  filter: Document,
): Document {
  const found = stageOf(collection, access, filter);
  if (!sort || access.isOrdered || sort.natural !== undefined) return found;
  return documentOf({ stage: 'SORT', inputStage: found });
}

function stageOf(collection: Question['collection'], access: Access, filter: Document): Document {
  if (!collection) return documentOf({ stage: 'EOF' });
  if (access.index === undefined) {
    return documentOf({ stage: 'COLLSCAN', filter, direction: 'forward' });
  }
  const isPoint = access.index === ID_INDEX && access.requests[0]?.partition !== undefined;
  if (isPoint) return documentOf({ stage: 'IDHACK' });
  const spec = indexSpecs(collection).find((each) => each.get('name') === access.index);
  const scanned = documentOf({
    stage: 'IXSCAN',
    keyPattern: spec?.get('key') ?? documentOf({}),
    indexName: access.index,
    isMultiKey: access.mayRepeat,
    isUnique: spec?.get('unique') === true,
    isSparse: spec?.get('sparse') === true,
    direction: 'forward',
  });
  return documentOf({ stage: 'FETCH', filter, inputStage: scanned });
}

async function statsOf(
  call: Call,
  question: Question,
  access: Access,
  plan: Document,
): Promise<Document> {
  const took = stopwatch();
  let [examined, returned] = [0, 0];
  const { collection } = question;
  if (collection) {
    for await (const items of scan(call, collection, access)) examined += items.length;
    for await (const items of matching(call, collection, question, access))
      returned += items.length;
  }
  const keys = access.index === undefined ? 0 : examined;
  return documentOf({
    executionSuccess: true,
    nReturned: int32(returned),
    executionTimeMillis: int32(Math.round(took())),
    totalKeysExamined: int32(keys),
    totalDocsExamined: int32(examined),
    executionStages: new Map<string, Value>([...plan, ['nReturned', int32(returned)]]),
  });
}
