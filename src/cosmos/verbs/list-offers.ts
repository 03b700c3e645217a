// GET /offers, and POST /offers as a query by the resource an offer belongs to.
import { failure } from '../../value/errors.js';
import { catalogFeed } from '../feed.js';
import { parseQuery } from '../query-text.js';
import type { Reply } from '../reply.js';
import type { CosmosRequest } from '../request.js';
import { offerResource } from '../resources.js';

/** What clients look offers up by. */
const SEARCHABLE = ['id', '_rid', '_self', 'resource', 'offerResourceId'] as const;

export async function listOffers(request: CosmosRequest): Promise<Reply> {
  return catalogFeed(request, 'Offers', '', request.catalog.offers(), offerResource);
}

export async function queryOffers(request: CosmosRequest): Promise<Reply> {
  const { where, text } = parseQuery(await request.body());
  if (where === undefined) return listOffers(request);
  const property = SEARCHABLE.find((name) => name === where.property);
  if (property === undefined) {
    throw failure('notSupported', {
      what: `The query "${text}"`,
      hint: `Offers can be looked up by ${SEARCHABLE.join(', ')}.`,
    });
  }
  const found = request.catalog
    .offers()
    .filter((offer) => offerResource(offer)[property] === where.value);
  return catalogFeed(request, 'Offers', '', found, offerResource);
}
