// find, count and distinct of views: pipelines instead of questions to a collection.
import { decodeDocument } from '../../value/bson/read.js';
import { documentOf, int32, type Value } from '../../value/bson/value.js';
import type { Call, Reply } from '../call.js';
import { collectionOf, countOf, documentOfField, integerOf, textOf, truthOf } from '../fields.js';
import { OnView } from '../namespace.js';
import { seenDocuments } from '../pipeline-host.js';
import { languageOf } from '../question.js';
import { answerPipeline } from './aggregate.js';
import * as ofCollections from './count.js';
import { find as findInCollection, notSupported } from './find.js';

type Run = (call: Call) => Promise<Reply>;

export const find = orOnView(findInCollection, findInView);
export const count = orOnView(ofCollections.count, countInView);
export const distinct = orOnView(ofCollections.distinct, distinctInView);

/** Collections are the rule: that a name is a view shows when it is none of them. */
function orOnView(run: Run, onView: Run): Run {
  return async (call) => {
    try {
      return await run(call);
    } catch (error) {
      if (error instanceof OnView && error.view === collectionOf(call)) return onView(call);
      throw error;
    }
  };
}

async function findInView(call: Call): Promise<Reply> {
  for (const name of ['min', 'max', 'returnKey', 'showRecordId']) {
    if (call.command.has(name)) throw notSupported(`find.${name} of a view`);
  }
  const limit = countOf(call, 'limit') ?? 0;
  const stages = [
    ...stage('$match', documentOfField(call, 'filter')),
    ...stage('$sort', documentOfField(call, 'sort')),
    ...window(countOf(call, 'skip') ?? 0, limit),
    ...stage('$project', documentOfField(call, 'projection')),
  ];
  const how = { batchSize: countOf(call, 'batchSize'), single: truthOf(call, 'singleBatch') };
  return answerPipeline(call, collectionOf(call), stages, how);
}

async function countInView(call: Call): Promise<Reply> {
  const stages = [
    ...stage('$match', documentOfField(call, 'query')),
    ...window(countOf(call, 'skip') ?? 0, Math.abs(integerOf(call, 'limit') ?? 0)),
    documentOf({ $count: 'n' }),
  ];
  for await (const [first] of seenDocuments(call, collectionOf(call), stages, call)) {
    if (first) return documentOf({ n: decodeDocument(first).get('n') ?? int32(0) });
  }
  return documentOf({ n: int32(0) });
}

async function distinctInView(call: Call): Promise<Reply> {
  const stages = stage('$match', documentOfField(call, 'query'));
  const documents = seenDocuments(call, collectionOf(call), stages, call);
  const language = languageOf(call, undefined, call.command);
  return ofCollections.valuesAt(textOf(call, 'key') ?? '', documents, language);
}

function stage(name: string, operand: Value | undefined): readonly Value[] {
  return operand instanceof Map && operand.size > 0 ? [documentOf({ [name]: operand })] : [];
}

function window(skip: number, limit: number): readonly Value[] {
  return [
    ...(skip > 0 ? [documentOf({ $skip: int32(skip) })] : []),
    ...(limit > 0 ? [documentOf({ $limit: int32(limit) })] : []),
  ];
}
