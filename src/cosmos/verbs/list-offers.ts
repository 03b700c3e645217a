// GET /offers
import { catalogFeed } from '../feed.js';
import type { Reply } from '../reply.js';
import type { CosmosRequest } from '../request.js';
import { offerResource } from '../resources.js';

export async function listOffers(request: CosmosRequest): Promise<Reply> {
  return catalogFeed(request, 'Offers', '', request.catalog.offers(), (offer) =>
    offerResource(offer, request.budgets.scaledTo(offer)),
  );
}
