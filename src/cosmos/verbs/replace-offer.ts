// PUT /offers/{rid}: changes provisioned throughput, or its kind.
import type { Offer } from '../../catalog/resources.js';
import { autoscale, manual, type Throughput } from '../../catalog/throughput.js';
import { DEFINITION_WRITE_CHARGE } from '../../throughput/charges.js';
import { failure } from '../../value/errors.js';
import { parseObject } from '../../value/json.js';
import { checkMatch } from '../conditions.js';
import { findOffer } from '../find.js';
import { type Reply, resourceReply } from '../reply.js';
import { type CosmosRequest, flag } from '../request.js';
import { offerResource } from '../resources.js';
import { offerRid } from '../rid.js';

const TO_AUTOSCALE = 'x-ms-cosmos-migrate-offer-to-autopilot';
const TO_MANUAL = 'x-ms-cosmos-migrate-offer-to-manual-throughput';

export async function replaceOffer(request: CosmosRequest): Promise<Reply> {
  const offer = findOffer(request);
  checkMatch(request.headers, offer.etag);
  const { value } = parseObject(await request.body(), new Set());
  const address = offerRid(offer);
  for (const name of ['id', '_rid']) {
    const body = value[name];
    if (body === undefined || body === address) continue;
    throw failure('idChanged', { body: JSON.stringify(body), address });
  }
  const { catalog, budgets, at } = request;
  const replaced = await catalog.replaceOffer(offer, wanted(request, offer, value.content), at);
  return resourceReply(
    200,
    DEFINITION_WRITE_CHARGE,
    offerResource(replaced, budgets.scaledTo(replaced)),
    offerHeaders(replaced),
  );
}

export function offerHeaders(offer: Offer): readonly string[] {
  return [
    'x-ms-cosmos-min-throughput',
    String(minimumOf(offer)),
    'x-ms-offer-replace-pending',
    'false',
  ];
}

/**
 * Throughput cannot sink below a hundredth (autoscale: a tenth) of the highest ever provisioned.
 */
function minimumOf(offer: Offer): number {
  return offer.throughput.kind === 'manual'
    ? Math.max(400, Math.ceil(offer.highestEver / 10_000) * 100)
    : Math.max(1000, Math.ceil(offer.highestEver / 10_000) * 1000);
}

function wanted(request: CosmosRequest, offer: Offer, content: unknown): Throughput {
  if (flag(request.headers, TO_AUTOSCALE)) {
    if (offer.throughput.kind === 'autoscale') return offer.throughput;
    const max = Math.max(1000, Math.ceil(offer.throughput.perSecond / 1000) * 1000);
    return autoscale(Math.max(max, 4000));
  }
  if (flag(request.headers, TO_MANUAL)) {
    return offer.throughput.kind === 'manual'
      ? offer.throughput
      : manual(offer.throughput.maxPerSecond);
  }
  if (typeof content !== 'object' || content === null) throw failure('offerContentMissing');
  const asked = content as {
    readonly offerThroughput?: unknown;
    readonly offerAutopilotSettings?: {
      readonly maxThroughput?: unknown;
      readonly autoUpgradePolicy?: {
        readonly throughputPolicy?: { readonly incrementPercent?: unknown };
      };
    } | null;
  };
  const settings = asked.offerAutopilotSettings;
  const throughput = settings
    ? autoscale(
        settings.maxThroughput,
        settings.autoUpgradePolicy?.throughputPolicy?.incrementPercent,
      )
    : manual(asked.offerThroughput);
  checkChange(offer, throughput);
  return throughput;
}

function checkChange(offer: Offer, throughput: Throughput): void {
  if (throughput.kind !== offer.throughput.kind) {
    const header = throughput.kind === 'manual' ? TO_MANUAL : TO_AUTOSCALE;
    const why = `The offer is ${offer.throughput.kind}; send the header ${header}: true to change its kind.`;
    throw failure('invalidInput', { why });
  }
  const min = minimumOf(offer);
  const amount = throughput.kind === 'manual' ? throughput.perSecond : throughput.maxPerSecond;
  const step = throughput.kind === 'manual' ? 100 : 1000;
  if (amount < min) throw failure('offerInvalid', { value: amount, min, step });
}
