// Triggers: they run when a request names them, before and after its write, in one transaction with
// it. What is refused or thrown by any of them undoes all of it.
import type { Belonging } from '../catalog/belongings.js';
import type { StoredContainer } from '../catalog/resources.js';
import { failure } from '../value/errors.js';
import { namePath, ownerContainer, ownerDatabase, rangeOf } from './find.js';
import { fullPartitionKey } from './partition-header.js';
import { isMinimal, itemHeaders, type Reply } from './reply.js';
import { type CosmosRequest, header } from './request.js';
import { renumbered } from './script-links.js';
import { inTransaction, type ScriptSession } from './script-run.js';

const HEADERS = {
  Pre: 'x-ms-documentdb-pre-trigger-include',
  Post: 'x-ms-documentdb-post-trigger-include',
} as const;
type When = keyof typeof HEADERS;

/** What triggers can be for, and the words in their definitions that say so. */
const OPERATIONS = {
  Create: ['all', 'create'],
  Replace: ['all', 'replace', 'update'],
  // Whether it creates or replaces is not known before it is done.
  Upsert: ['all', 'upsert', 'create', 'replace', 'update'],
  Delete: ['all', 'delete'],
} as const;
export type TriggerOperation = keyof typeof OPERATIONS;

export function namesTriggers({ headers }: CosmosRequest): boolean {
  return Boolean(header(headers, HEADERS.Pre) || header(headers, HEADERS.Post));
}

/** For requests whose operation runs none. */
export function refuseTriggers(request: CosmosRequest, what: string): void {
  for (const name of Object.values(HEADERS)) {
    const id = header(request.headers, name);
    if (id) throw failure('triggerUnfit', { id, why: `${what} runs no triggers.` });
  }
}

/** Does a write between its triggers. `write` is given the request as they have left it. */
export async function withTriggers(
  request: CosmosRequest,
  operation: TriggerOperation,
  write: (request: CosmosRequest) => Promise<Reply>,
): Promise<Reply> {
  const body = operation === 'Delete' ? undefined : await request.body();
  const container = ownerContainer(request);
  const partition = fullPartitionKey(request.headers, container);
  const place = { database: ownerDatabase(request), container, partition };
  const { result, lsn, serials, charge } = await inTransaction(request, place, async (session) => {
    const prepared = await runPre(session, container, operation, body);
    const reply = await write(prepared);
    return runPost(session, prepared, container, operation, reply);
  });
  const total = Number(headerIn(result, 'x-ms-request-charge')) + charge;
  const path = namePath(request, container);
  const own = itemHeaders(container, path, rangeOf(container, partition), lsn, total);
  const headers = withValues(result.headers, pairsOf(own));
  const answer = isMinimal(request.headers) ? undefined : bodyOf(result, container, serials);
  return { ...result, headers, body: answer };
}

async function runPre(
  session: ScriptSession,
  container: StoredContainer,
  operation: TriggerOperation,
  body: Buffer | undefined,
): Promise<CosmosRequest> {
  // Whatever the client wants to see of it, triggers see the item.
  let request = { ...session.request, headers: { ...session.request.headers, prefer: '' } };
  let text = body?.toString();
  for (const trigger of named(request, container, 'Pre', operation)) {
    const ran = await session.run({
      ...programOf(trigger, request, operation),
      kind: 'preTrigger',
      requestBody: text,
    });
    text = ran.requestBody;
    request = { ...request, headers: { ...request.headers, ...ran.requestValues } };
  }
  const changed = Buffer.from(text ?? '');
  return { ...request, body: async () => changed };
}

async function runPost(
  session: ScriptSession,
  request: CosmosRequest,
  container: StoredContainer,
  operation: TriggerOperation,
  reply: Reply,
): Promise<Reply> {
  let text = textOf(reply.body);
  let { headers } = reply;
  const requestBody = operation === 'Delete' ? undefined : (await request.body()).toString();
  for (const trigger of named(request, container, 'Post', operation)) {
    const ran = await session.run({
      ...programOf(trigger, request, operation),
      kind: 'postTrigger',
      requestBody,
      responseBody: text,
    });
    text = ran.responseBody;
    headers = withValues(headers, ran.responseValues);
  }
  return { ...reply, headers, body: reply.body === undefined ? undefined : text };
}

function named(
  { catalog, headers }: CosmosRequest,
  container: StoredContainer,
  when: When,
  operation: TriggerOperation,
): readonly Belonging<'trigger'>[] {
  const ids = (header(headers, HEADERS[when]) ?? '').split(',').map((id) => id.trim());
  return ids
    .filter((id) => id !== '')
    .map((id) => {
      const trigger = catalog.belongings.find('trigger', container.serial, id);
      const why = trigger ? unfit(trigger, when, operation) : 'the container has no such trigger.';
      if (!trigger || why !== undefined) throw failure('triggerUnfit', { id, why: why ?? '' });
      return trigger;
    });
}

function unfit(
  { body }: Belonging<'trigger'>,
  when: When,
  operation: TriggerOperation,
): string | undefined {
  const { triggerType, triggerOperation } = body;
  if (triggerType.toLowerCase() !== when.toLowerCase()) {
    return `it is of the type ${triggerType}, not ${when}.`;
  }
  const words: readonly string[] = OPERATIONS[operation];
  if (words.includes(triggerOperation.toLowerCase())) return undefined;
  return `it is for the operation ${triggerOperation}, not ${operation}.`;
}

function programOf(
  { id, body }: Belonging<'trigger'>,
  request: CosmosRequest,
  operation: TriggerOperation,
) {
  return { name: id, body: body.body, operation, requestValues: valuesOf(request) };
}

/** What a request says of itself is no secret to its triggers, but for who signed it. */
function valuesOf({ headers }: CosmosRequest): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && name !== 'authorization') values[name] = value;
  }
  return values;
}

function bodyOf(
  { body }: Reply,
  container: StoredContainer,
  serials: ReadonlyMap<number, number>,
): Reply['body'] {
  const text = textOf(body);
  return text === undefined ? undefined : renumbered(text, container, serials);
}

function textOf(body: Reply['body']): string | undefined {
  if (body === undefined || typeof body === 'string') return body;
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
}

function headerIn({ headers }: Reply, name: string): string | undefined {
  const at = headers.indexOf(name);
  return at < 0 ? undefined : headers[at + 1];
}

/** Headers are a flat list of names and values. */
function withValues(
  headers: readonly string[],
  values: Readonly<Record<string, string>>,
): readonly string[] {
  return Object.entries({ ...pairsOf(headers), ...values }).flat();
}

function pairsOf(headers: readonly string[]): Readonly<Record<string, string>> {
  const pairs: Record<string, string> = {};
  for (let at = 0; at < headers.length; at += 2) pairs[headers[at] ?? ''] = headers[at + 1] ?? '';
  return pairs;
}
