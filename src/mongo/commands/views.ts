// create and collMod of views.
import type { StoredCollection } from '../../catalog/collections.js';
import { compilePipeline } from '../../mql/pipeline/pipeline.js';
import { type Document, isDocument, type Value } from '../../value/bson/value.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import type { Call } from '../call.js';
import { arrayOf, textOf } from '../fields.js';
import { base64 } from '../index-spec.js';
import { checkCollectionName, findAny } from '../namespace.js';
import { pipelineHost } from '../pipeline-host.js';
import { languageOf } from '../question.js';
import { seenBy } from '../view.js';

export const VIEW_OPTIONS: readonly string[] = ['viewOn', 'pipeline'];
const WRITING: readonly string[] = ['$out', '$merge'];

/** The options of a view as they are kept and listed; nothing where no view is meant. */
export function viewIn(call: Call, view: string, others: readonly string[]): Document | undefined {
  const on = textOf(call, 'viewOn');
  const pipeline = arrayOf(call, 'pipeline') ?? [];
  if (on === undefined) {
    if (!call.command.has('pipeline')) return undefined;
    throw mongoFailure('InvalidOptions', "'pipeline' requires 'viewOn' to also be specified");
  }
  const other = others.find((name) => call.command.has(name));
  if (other) throw mongoFailure('InvalidOptions', `'${other}' is not an option of views`);
  checkCollectionName(call.database, on);
  if (on === view) {
    throw mongoFailure('GraphContainsCycle', `The view ${view} would be made of itself`);
  }
  const { collection, stages } = seenBy(call, call.database, on);
  checkStages(call, collection, [...stages, ...pipeline]);
  checkCycle(call, view, on);
  return new Map<string, Value>([
    ['viewOn', on],
    ['pipeline', pipeline],
  ]);
}

export async function changeView(
  call: Call,
  view: StoredCollection,
  options: Document,
): Promise<void> {
  const on = String(options.get('viewOn'));
  await call.mongo.catalog.collections.redefine(
    view,
    (current) => ({ ...current, view: on, options: base64(options) }),
    call.at,
    () => ({ kind: 'modify', description: base64(options) }),
  );
}

function checkStages(
  call: Call,
  collection: StoredCollection | undefined,
  stages: readonly Value[],
): void {
  for (const stage of stages) {
    const [kind = ''] = isDocument(stage) ? stage.keys() : [];
    if (!WRITING.includes(kind)) continue;
    throw mongoFailure('OptionNotSupportedOnView', `The stage ${kind} cannot be used in a view`);
  }
  const host = pipelineHost(call, collection, { at: call.at });
  compilePipeline(stages, languageOf(call, collection, call.command), host);
}

function checkCycle(call: Call, view: string, on: string): void {
  const names = new Set([view]);
  for (let at: string | undefined = on; at !== undefined; ) {
    if (names.has(at)) {
      throw mongoFailure('GraphContainsCycle', `The view ${view} would be made of itself`);
    }
    names.add(at);
    at = findAny(call, call.database, at)?.definition.view;
  }
}
