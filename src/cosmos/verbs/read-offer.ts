// GET /offers/{rid}
import { DEFINITION_READ_CHARGE } from '../../throughput/charges.js';
import { findOffer } from '../find.js';
import { offerView } from '../offer-view.js';
import { type Reply, resourceReply } from '../reply.js';
import type { CosmosRequest } from '../request.js';
import { offerHeaders } from './replace-offer.js';

export async function readOffer(request: CosmosRequest): Promise<Reply> {
  const offer = findOffer(request);
  const resource = await offerView(request, offer);
  return resourceReply(200, DEFINITION_READ_CHARGE, resource, await offerHeaders(request, offer));
}
