// aggregate: a pipeline over a collection, or over what its first stage brings.
import { leadingCount, leadingMatch, leadingSort } from '../../mql/pipeline/leading.js';
import { compilePipeline } from '../../mql/pipeline/pipeline.js';
import type { Row } from '../../mql/row.js';
import type { Instant } from '../../time/instant.js';
import { type Bytes, int32, isDocument, type Value } from '../../value/bson/value.js';
import { encodeDocument } from '../../value/bson/write.js';
import { mongoFailure } from '../../value/mongo-errors.js';
import type { Call, Reply } from '../call.js';
import type { Room, Source } from '../cursors.js';
import {
  arrayOf,
  asInteger,
  checkFields,
  collectionOf,
  documentOfField,
  missingField,
  truthOf,
  unknownField,
} from '../fields.js';
import { listSource } from '../list-source.js';
import { checkCollectionName } from '../namespace.js';
import { pipelineHost } from '../pipeline-host.js';
import { openInput, questionIn } from '../pipeline-input.js';
import { languageOf, namespaceOf } from '../question.js';
import { cursorReply } from '../reply.js';
import { accessOf } from '../rows.js';
import { sessionOf } from '../session-id.js';
import { openStream } from '../stream/open.js';
import { type Seen, seenBy } from '../view.js';
import { countUnread } from './count.js';
import { explained } from './explain.js';

const FIELDS: readonly string[] = [
  ...['pipeline', 'cursor', 'explain', 'allowDiskUse', 'let', 'hint', 'collation'],
  ...['bypassDocumentValidation', 'fromMongos', 'needsMerge'],
];

export async function aggregate(call: Call): Promise<Reply> {
  checkFields(call, FIELDS);
  const stages = arrayOf(call, 'pipeline');
  if (!stages) throw missingField('aggregate.pipeline');
  if (truthOf(call, 'explain')) return explained(call, call.command, 'queryPlanner');
  const cursor = documentOfField(call, 'cursor');
  if (!cursor) {
    throw mongoFailure(
      'FailedToParse',
      "The 'cursor' option is required, except for aggregate with the explain argument",
    );
  }
  for (const option of cursor.keys()) {
    if (option !== 'batchSize') throw unknownField(`aggregate.cursor.${option}`);
  }
  const name = typeof call.command.get('aggregate') === 'string' ? collectionOf(call) : undefined;
  if (name !== undefined) checkCollectionName(call.database, name);
  const batchSize = asInteger(cursor.get('batchSize'), 'aggregate.cursor.batchSize');
  return answerPipeline(call, name, stages, { batchSize, single: false });
}

export async function answerPipeline(
  call: Call,
  name: string | undefined,
  stages: readonly Value[],
  { batchSize, single }: { readonly batchSize: number | undefined; readonly single: boolean },
): Promise<Reply> {
  const namespace = namespaceOf(call, name ?? '$cmd.aggregate');
  const batch = await call.mongo.cursors.begin(
    {
      namespace,
      owner: call.client.login?.user ?? '',
      session: sessionOf(call),
      source: isStream(stages)
        ? await openStream(call, name, stages)
        : await documentsSource(call, name, stages),
      neverTimesOut: false,
      command: call.name,
    },
    call.at,
    batchSize,
    single,
  );
  return cursorReply(batch, namespace, 'firstBatch');
}

function isStream([first]: readonly Value[]): boolean {
  return isDocument(first) && first.has('$changeStream');
}

/** Of a view, its own stages come first. */
async function documentsSource(
  call: Call,
  name: string | undefined,
  given: readonly Value[],
): Promise<Source> {
  const seen = name === undefined ? undefined : seenBy(call, call.database, name);
  const stages = [...(seen?.stages ?? []), ...given];
  return (await countSource(call, seen, stages)) ?? (await pipelineSource(call, seen, stages));
}

/** A pipeline that counts what an index tells exactly need not run. */
async function countSource(
  call: Call,
  seen: Seen | undefined,
  stages: readonly Value[],
): Promise<Source | undefined> {
  const counting = leadingCount(stages);
  if (!counting || !seen?.collection) return undefined;
  const { name, collection } = seen;
  const { match, id, field } = counting;
  const question = questionIn(call, collection, name, match);
  const count = await countUnread(call, question, await accessOf(call, question));
  if (count === undefined || count > INT_MAX) return undefined;
  const row = new Map([
    ['_id', id],
    [field, int32(count)],
  ]);
  return listSource(count === 0 ? [] : [encodeDocument(row)]);
}

const INT_MAX = 0x7fff_ffff;

async function pipelineSource(
  call: Call,
  seen: Seen | undefined,
  stages: readonly Value[],
): Promise<Source> {
  const collection = seen?.collection;
  const language = languageOf(call, collection, call.command);
  // Batches that are fetched later are read as of then.
  const now = { at: call.at };
  const host = pipelineHost(call, collection, now);
  const pipeline = compilePipeline(stages, language, host);
  if (!seen && !pipeline.hasOwnSource) {
    throw mongoFailure(
      'InvalidNamespace',
      "{aggregate: 1} is not valid for a pipeline that does not begin with a stage of its own, such as '$documents'",
    );
  }
  const order = leadingSort(stages);
  const wanted = { collection, name: seen?.name ?? '', filter: leadingMatch(stages), order };
  const { documents, isOrdered } = await openInput(call, wanted, now);
  const rest = order && isOrdered ? compilePipeline(order.others, language, host) : pipeline;
  return new RowSource(rest.run(documents, truthOf(call, 'allowDiskUse')), now);
}

const PLACE_BYTES = 12;

/** The rows of a pipeline as they are asked for. */
class RowSource implements Source {
  readonly #rows: AsyncIterator<readonly Row[]>;
  readonly #now: { at: Instant };
  #waiting: readonly Row[] = [];
  #passed = 0;
  #isExhausted = false;

  constructor(rows: AsyncIterable<readonly Row[]>, now: { at: Instant }) {
    this.#rows = rows[Symbol.asyncIterator]();
    this.#now = now;
  }

  async next(at: Instant, room: Room): Promise<readonly Bytes[]> {
    this.#now.at = at;
    const taken: Bytes[] = [];
    let bytes = 0;
    while (taken.length < room.rows && (await this.#fill())) {
      const document = (this.#waiting[this.#passed] as Row).bytes;
      bytes += document.length + PLACE_BYTES;
      if (bytes > room.bytes && taken.length > 0) break;
      this.#passed += 1;
      taken.push(document);
    }
    return taken;
  }

  async isDone(at: Instant): Promise<boolean> {
    this.#now.at = at;
    return !(await this.#fill());
  }

  /** Says false at the end. */
  async #fill(): Promise<boolean> {
    while (this.#passed >= this.#waiting.length && !this.#isExhausted) {
      const batch = await this.#rows.next();
      this.#isExhausted = batch.done === true;
      this.#waiting = batch.done ? [] : batch.value;
      this.#passed = 0;
    }
    return this.#passed < this.#waiting.length;
  }
}
