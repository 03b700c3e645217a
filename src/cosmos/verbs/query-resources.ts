// Queries over databases, containers and offers: the same language, over resources of the catalog.
import { queryValues } from '../../documents/query.js';
import { DEFINITION_READ_CHARGE } from '../../throughput/charges.js';
import { stopwatch } from '../../time/clock.js';
import { ownerDatabase } from '../find.js';
import { shownContainer } from '../legacy.js';
import { offerView } from '../offer-view.js';
import { askedMetrics, metricsHeaders } from '../query-metrics.js';
import { lowerQuery, parseQueryBody } from '../query-request.js';
import { chargeText, type Reply, rowsBody } from '../reply.js';
import { type CosmosRequest, pageOf } from '../request.js';
import { databaseResource } from '../resources.js';
import { databaseRid } from '../rid.js';

export function queryDatabases(request: CosmosRequest): Promise<Reply> {
  const resources = request.catalog.databases().map(databaseResource);
  return queryResources(request, 'Databases', '', resources);
}

export function queryContainers(request: CosmosRequest): Promise<Reply> {
  const database = ownerDatabase(request);
  const resources = request.catalog.containers(database).map(shownContainer(request.headers));
  const rid = databaseRid(database.serial);
  return queryResources(request, 'DocumentCollections', rid, resources);
}

export async function queryOffers(request: CosmosRequest): Promise<Reply> {
  const offers = request.catalog.offers();
  const resources = await Promise.all(offers.map((offer) => offerView(request, offer)));
  return queryResources(request, 'Offers', '', resources);
}

export async function queryResources(
  request: CosmosRequest,
  envelope: string,
  rid: string,
  resources: readonly unknown[],
): Promise<Reply> {
  const asked = askedMetrics(request.headers);
  const text = await request.body();
  const took = stopwatch();
  const body = parseQueryBody(text);
  const compileMs = took();
  const query = lowerQuery(body);
  const lowerMs = took() - compileMs;
  const page = await queryValues(request.documents, resources, `${envelope} ${rid}`, {
    query,
    name: body.name,
    ...pageOf(request.headers),
    at: request.at,
    abandoned: request.abandoned,
    isTimed: asked.query,
  });
  const { rows, continuation } = page;
  const headers = [
    'x-ms-request-charge',
    chargeText(DEFINITION_READ_CHARGE),
    'x-ms-item-count',
    String(rows.length),
    ...(continuation === undefined ? [] : ['x-ms-continuation', continuation]),
    ...metricsHeaders(asked, page, { compileMs, lowerMs, totalMs: took() }),
  ];
  return { status: 200, headers, body: rowsBody(rid, envelope, rows) };
}
