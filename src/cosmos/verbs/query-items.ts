// POST /dbs/{db}/colls/{coll}/docs as a query.
import { queryCharge, queryItems as run } from '../../documents/query.js';
import { stopwatch } from '../../time/clock.js';
import { namePath, ownerContainer, rangesIn } from '../find.js';
import { namedRange, scopeOf } from '../partition-header.js';
import { languageOf } from '../query-functions.js';
import { askedMetrics, metricsHeaders } from '../query-metrics.js';
import { lowerQuery, parseQueryBody } from '../query-request.js';
import { itemHeaders, type Reply, rowsBody } from '../reply.js';
import { type CosmosRequest, header, pageOf } from '../request.js';
import { containerRid } from '../rid.js';
import { checkSession } from '../session.js';

export async function queryItems(request: CosmosRequest): Promise<Reply> {
  const container = ownerContainer(request);
  // Some SDK, once told that a range is gone, asks it for ever: theirs are answered.
  const correlated = header(request.headers, 'x-ms-cosmos-correlated-activityid');
  const scope = scopeOf(request.headers, container, correlated ? 'answered' : 'refused');
  const wanted = pageOf(request.headers);
  const asked = askedMetrics(request.headers);
  const text = await request.body();
  const took = stopwatch();
  const body = parseQueryBody(text);
  const compileMs = took();
  const { hints, userFunctions } = languageOf(request, container);
  const query = lowerQuery(body, hints);
  const lowerMs = took() - compileMs;
  const page = await run(request.documents, container, scope, {
    query,
    name: body.name,
    at: request.at,
    abandoned: request.abandoned,
    isTimed: asked.query,
    userFunctions,
    ...wanted,
  });
  checkSession(request.headers, container, page.work.lsn);
  const ranges = rangesIn(container, scope);
  const charge = queryCharge(page, ranges.length, wanted.continuation === undefined);
  const path = namePath(request, container);
  // Some SDKs take the token of one range and no other from what they asked of one.
  const shown = namedRange(request.headers) ?? ranges;
  const headers = itemHeaders(container, path, shown, page.work.lsn, charge);
  headers.push('x-ms-item-count', String(page.rows.length));
  if (page.continuation !== undefined) headers.push('x-ms-continuation', page.continuation);
  headers.push(...metricsHeaders(asked, page, { compileMs, lowerMs, totalMs: took() }));
  if (correlated) headers.push('x-ms-cosmos-correlated-activityid', correlated);
  const rid = containerRid(container);
  return { status: 200, headers, body: rowsBody(rid, 'Documents', page.rows) };
}
