// explain: which index a command would use, and on demand what it does when it runs.

import { isWildcard } from '../../catalog/collection-definition.js';
import type { StoredCollection } from '../../catalog/collections.js';
import { compileFilter } from '../../mql/filter/filter.js';
import { leadingMatch, leadingSort } from '../../mql/pipeline/leading.js';
import { compileSort, nearestFirst, type Sort } from '../../mql/sort.js';
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
import type { Access, IndexScan } from '../access.js';
import type { Call, Reply } from '../call.js';
import { asInteger, checkFields, documentOfField, textOf } from '../fields.js';
import { checkCollectionName } from '../namespace.js';
import { hintOf, languageOf, namespaceOf, type Question } from '../question.js';
import { accessOf, isSorted, rowsOf, type Window } from '../rows.js';
import { BYTES_MAX as SORT_BYTES_MAX } from '../sorting.js';
import type { Examined } from '../storage.js';
import { seenBy } from '../view.js';
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
  const asked = questionIn(call, command);
  const { question, sort, filter } = asked;
  const access = await accessOf(call, question, sort);
  const plan = planOf(asked, access);
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
    reply.set('executionStats', await statsOf(call, asked, access, plan));
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

interface Asked {
  readonly question: Question;
  readonly filter: Document;
  readonly sort: Sort | undefined;
  readonly sortSpec: Document | undefined;
  readonly window: Window;
}

function questionIn(call: Call, command: Document): Asked {
  const [kind = ''] = command.keys();
  const name = command.get(kind);
  if (typeof name !== 'string') {
    throw mongoFailure('FailedToParse', `explain of '${kind}' needs the name of a collection`);
  }
  checkCollectionName(call.database, name);
  const { collection, stages } = seenBy(call, call.database, name);
  const statement = statementOf(kind, command);
  const asked = filterIn(kind, command, statement);
  const filter = stages.length === 0 ? asked : (leadingMatch(stages) ?? new Map());
  const language = languageOf(call, collection, statement ?? command);
  const hint = hintOf((statement ?? command).get('hint'), collection);
  const compiled = compileFilter(filter, language);
  const leading = kind === 'aggregate' ? leadingSort(stagesOf(command)) : undefined;
  const given = leading ? leading.sort : (statement ?? command).get('sort');
  const sortSpec = isDocument(given) && given.size > 0 ? given : undefined;
  const sort = sortSpec
    ? compileSort(sortSpec, language, compiled.textScore)
    : compiled.distance && nearestFirst(compiled.distance);
  const question: Question = { name, collection, language, filter: compiled, hint };
  return {
    question,
    sort,
    filter,
    sortSpec,
    window: leading ? { skip: 0, limit: leading.limit ?? 0 } : windowIn(kind, command, statement),
  };
}

function stagesOf(command: Document): readonly Value[] {
  const stages = command.get('pipeline');
  return isArray(stages) ? stages : [];
}

function windowIn(kind: string, command: Document, statement: Document | undefined): Window {
  const isOne = kind === 'findAndModify' || isSingle(kind, statement);
  const limit = isOne ? 1 : Math.abs(asInteger(command.get('limit'), 'limit') ?? 0);
  return { skip: asInteger(command.get('skip'), 'skip') ?? 0, limit };
}

function isSingle(kind: string, statement: Document | undefined): boolean {
  if (kind === 'update') return statement?.get('multi') !== true;
  return kind === 'delete' && asInteger(statement?.get('limit'), 'limit') === 1;
}

/** The first statement of an update or delete. */
function statementOf(kind: string, command: Document): Document | undefined {
  const statements = command.get(kind === 'update' ? 'updates' : 'deletes');
  const [first] = isArray(statements) ? statements : [];
  return isDocument(first) ? first : undefined;
}

function filterIn(kind: string, command: Document, statement: Document | undefined): Document {
  if (kind === 'aggregate') return leadingMatch(stagesOf(command)) ?? new Map();
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

function planOf(asked: Asked, access: Access): Document {
  const { question, sort, filter, window } = asked;
  let plan = stageOf(question, access, filter, sort?.natural);
  if (isSorted(sort, access)) {
    plan = documentOf({
      stage: 'SORT',
      sortPattern: asked.sortSpec ?? documentOf({}),
      memLimit: int32(SORT_BYTES_MAX),
      type: 'simple',
      inputStage: plan,
    });
  }
  const { skip, limit } = window;
  if (skip > 0) plan = documentOf({ stage: 'SKIP', skipAmount: int32(skip), inputStage: plan });
  if (limit > 0) plan = documentOf({ stage: 'LIMIT', limitAmount: int32(limit), inputStage: plan });
  return plan;
}

function stageOf(
  { collection, hint }: Question,
  access: Access,
  filter: Document,
  natural: number | undefined,
): Document {
  if (!collection || (access.scans.length === 0 && access.requests.length === 0)) {
    return documentOf({ stage: 'EOF' });
  }
  if (access.index === undefined) {
    const isBack = (natural ?? (hint && 'natural' in hint ? hint.natural : 1)) === -1;
    return documentOf({
      stage: 'COLLSCAN',
      filter,
      direction: isBack ? 'backward' : 'forward',
    });
  }
  const [first, ...more] = access.scans;
  if (first?.isPoint && more.length === 0) return documentOf({ stage: 'IDHACK' });
  const scans = access.scans.map((scanned) => indexScan(collection, scanned));
  const input =
    scans.length === 1 ? (scans[0] as Document) : documentOf({ stage: 'OR', inputStages: scans });
  return documentOf({ stage: 'FETCH', filter, inputStage: input });
}

function indexScan(collection: StoredCollection, scanned: IndexScan): Document {
  const { index, bounds, isMultiKey, isDescending } = scanned;
  const spec = indexSpecs(collection).find((each) => each.get('name') === index);
  const key = spec?.get('key');
  const paths = isDocument(key) ? [...key.keys()] : [];
  const shown: Document = new Map();
  // A wildcard stands for the paths that were asked for.
  for (const path of paths.some(isWildcard) ? bounds.keys() : paths) {
    const intervals = bounds.get(path) ?? [ALL];
    shown.set(
      path,
      intervals.map(({ low, high }) => `${low}, ${high}`),
    );
  }
  return documentOf({
    stage: 'IXSCAN',
    keyPattern: key ?? documentOf({}),
    indexName: index,
    isMultiKey,
    isUnique: spec?.get('unique') === true,
    isSparse: spec?.get('sparse') === true,
    isPartial: spec?.has('partialFilterExpression') === true,
    indexVersion: int32(2),
    direction: isDescending ? 'backward' : 'forward',
    indexBounds: shown,
  });
}

const ALL = { low: '[MinKey', high: 'MaxKey]' };

/** What the command would read, counted while it is read. */
async function statsOf(
  call: Call,
  { question, sort, window }: Asked,
  access: Access,
  plan: Document,
): Promise<Document> {
  const took = stopwatch();
  const examined: Examined = { keys: 0, documents: 0 };
  const shaping = { sort, projection: undefined };
  const rows = await rowsOf(call, question, window, shaping, access, examined);
  let returned = 0;
  while (!(await rows.isDone(call.at))) returned += (await rows.next(call.at, ROOM)).length;
  const keys = access.index === undefined ? 0 : examined.keys;
  return documentOf({
    executionSuccess: true,
    nReturned: int32(returned),
    executionTimeMillis: int32(Math.round(took())),
    totalKeysExamined: int32(keys),
    totalDocsExamined: int32(examined.documents),
    executionStages: counted(plan, returned, keys, examined.documents),
  });
}

const ROOM = { rows: 1000, bytes: 4_000_000 };

/** The stages, each with what it has looked at. */
function counted(plan: Document, returned: number, keys: number, documents: number): Document {
  const stage = new Map<string, Value>(plan);
  const kind = plan.get('stage');
  const isScan = kind === 'IXSCAN' || kind === 'OR';
  stage.set('nReturned', int32(isScan ? documents : returned));
  if (kind === 'IXSCAN') stage.set('keysExamined', int32(keys));
  if (kind === 'FETCH' || kind === 'COLLSCAN' || kind === 'IDHACK') {
    stage.set('docsExamined', int32(documents));
  }
  const input = plan.get('inputStage');
  if (isDocument(input)) stage.set('inputStage', counted(input, returned, keys, documents));
  return stage;
}
