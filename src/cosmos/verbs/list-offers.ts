// GET /offers
import { catalogFeed } from '../feed.js';
import { offerView } from '../offer-view.js';
import type { Reply } from '../reply.js';
import type { CosmosRequest } from '../request.js';

export async function listOffers(request: CosmosRequest): Promise<Reply> {
  const views = await Promise.all(
    request.catalog
      .offers()
      .map(async (offer) => ({ serial: offer.serial, view: await offerView(request, offer) })),
  );
  return catalogFeed(request, 'Offers', '', views, ({ view }) => view);
}
