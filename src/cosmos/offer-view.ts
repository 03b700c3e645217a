// Offers as clients see them: what is provisioned, where autoscale stands, and what is stored.
import type { Offer, StoredContainer } from '../catalog/resources.js';
import { whileThere } from '../documents/documents.js';
import { MayflyError } from '../value/errors.js';
import type { CosmosRequest } from './request.js';
import { offerResource } from './resources.js';

export async function offerView(
  request: CosmosRequest,
  offer: Offer,
): Promise<ReturnType<typeof offerResource>> {
  const { budgets } = request;
  const most = budgets.mostStored(offer, await storedBytes(request, offer));
  return offerResource(offer, budgets.scaledTo(offer), most);
}

/** What is kept in all containers that use the offer. */
export async function storedBytes(
  { catalog, documents }: CosmosRequest,
  offer: Offer,
): Promise<number> {
  const isUsing = (each: StoredContainer) => catalog.offerFor(each)?.serial === offer.serial;
  const using = catalog.allContainers().filter(isUsing);
  const sizes = using.map((container) =>
    whileThere(container, documents.engine.stats(container.engine)).then(
      ({ bytes }) => bytes,
      nothingIfGone,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0);
}

/** One that was deleted meanwhile keeps nothing. */
function nothingIfGone(error: unknown): number {
  if (error instanceof MayflyError && error.kind.status === 404) return 0;
  throw error;
}
