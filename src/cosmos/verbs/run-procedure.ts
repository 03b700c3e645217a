// POST /dbs/{db}/colls/{coll}/sprocs/{id}: runs a stored procedure in one logical partition. What
// it writes is committed together when it ends well.
import { failure } from '../../value/errors.js';
import { parseJson } from '../../value/json.js';
import { findBelonging } from '../belonging-verbs.js';
import { namePath, ownerContainer, ownerDatabase, rangeOf } from '../find.js';
import { fullPartitionKey } from '../partition-header.js';
import { itemHeaders, type Reply } from '../reply.js';
import type { CosmosRequest } from '../request.js';
import { renumbered } from '../script-links.js';
import { logHeaders } from '../script-log.js';
import { inTransaction } from '../script-run.js';

const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

export async function runProcedure(request: CosmosRequest): Promise<Reply> {
  const args = argsOf(await request.body());
  const container = ownerContainer(request);
  const name = request.address.names[2] ?? '';
  const procedure = findBelonging(request, 'procedure', container.serial, name);
  if (!procedure) throw failure('notFound');
  const partition = fullPartitionKey(request.headers, container);
  const place = { database: ownerDatabase(request), container, partition };
  const { id, body } = procedure;
  const { result, lsn, serials, charge } = await inTransaction(request, place, ({ run }) =>
    run({ kind: 'procedure', name: id, body: body.body, args }),
  );
  const path = namePath(request, container);
  const headers = itemHeaders(container, path, rangeOf(container, partition), lsn, charge);
  for (const [each, value] of Object.entries(result.responseValues)) headers.push(each, value);
  headers.push(...logHeaders(request, result.log));
  const text = renumbered(result.responseBody ?? '', container, serials);
  if (text.length > ANSWER_BYTES_MAX)
    throw failure('responseTooLarge', { limit: ANSWER_BYTES_MAX });
  return { status: 200, headers, body: text === '' ? undefined : text };
}

/** As text, which goes into the sandbox as it is. */
function argsOf(body: Buffer): string {
  if (body.length === 0) return '[]';
  const args = parseJson(body);
  if (Array.isArray(args)) return body.toString();
  const why = 'The body must be a JSON array with the arguments.';
  throw failure('scriptBodyInvalid', { why });
}
