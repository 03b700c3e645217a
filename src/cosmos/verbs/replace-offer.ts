// PUT /offers/{rid}: changes provisioned throughput, or its kind.
import type { IncomingHttpHeaders } from 'node:http';
import type { Offer } from '../../catalog/resources.js';
import {
  autoscale,
  ceilingOf,
  manual,
  minimumOf,
  type Throughput,
} from '../../catalog/throughput.js';
import { DEFINITION_WRITE_CHARGE } from '../../throughput/charges.js';
import { failure } from '../../value/errors.js';
import { parseObject } from '../../value/json.js';
import { checkMatch } from '../conditions.js';
import { findOffer } from '../find.js';
import { offerView, storedBytes } from '../offer-view.js';
import { type Reply, resourceReply } from '../reply.js';
import { type CosmosRequest, flag } from '../request.js';
import { offerRid } from '../rid.js';

const TO_AUTOSCALE = 'x-ms-cosmos-migrate-offer-to-autopilot';
const TO_MANUAL = 'x-ms-cosmos-migrate-offer-to-manual-throughput';

export async function replaceOffer(request: CosmosRequest): Promise<Reply> {
  const offer = findOffer(request);
  const { value } = parseObject(await request.body(), new Set());
  const address = offerRid(offer);
  for (const name of ['id', '_rid']) {
    const body = value[name];
    if (body === undefined || body === address) continue;
    throw failure('idChanged', { body: JSON.stringify(body), address });
  }
  const { catalog, at, headers } = request;
  const bytes = await storedBytes(request, offer);
  const decide = (current: Offer) => {
    checkMatch(headers, current.etag);
    return wanted(headers, current, value.content, bytes);
  };
  const replaced = await catalog.replaceOffer(offer, decide, at);
  return resourceReply(
    200,
    DEFINITION_WRITE_CHARGE,
    await offerView(request, replaced),
    await offerHeaders(request, replaced),
  );
}

export async function offerHeaders(request: CosmosRequest, offer: Offer): Promise<string[]> {
  const { throughput, highestEver } = offer;
  const least = minimumOf(throughput.kind, highestEver, await storedBytes(request, offer));
  return ['x-ms-cosmos-min-throughput', String(least), 'x-ms-offer-replace-pending', 'false'];
}

interface Content {
  readonly offerThroughput?: unknown;
  readonly offerAutopilotSettings?: {
    readonly maxThroughput?: unknown;
    readonly autoUpgradePolicy?: {
      readonly throughputPolicy?: { readonly incrementPercent?: unknown };
    };
  } | null;
}

/** What the body asks for; where its kind changes, what it is now can stand for that. */
function wanted(
  headers: IncomingHttpHeaders,
  offer: Offer,
  content: unknown,
  bytes: number,
): Throughput {
  const [toAutoscale, toManual] = [flag(headers, TO_AUTOSCALE), flag(headers, TO_MANUAL)];
  if (toAutoscale && toManual) {
    const why = `It cannot be combined with ${TO_AUTOSCALE}.`;
    throw failure('invalidHeader', { header: TO_MANUAL, value: 'true', why });
  }
  const given = typeof content === 'object' && content !== null ? (content as Content) : undefined;
  const isManual = offer.throughput.kind === 'manual';
  if (toAutoscale && isManual && !given?.offerAutopilotSettings) return asAutoscale(offer);
  if (toManual && !isManual && (!given || given.offerAutopilotSettings)) return asManual(offer);
  if (!given) throw failure('offerContentMissing');
  const throughput = throughputIn(given);
  checkKind(offer, throughput, toAutoscale || toManual);
  checkMinimum(offer, throughput, bytes);
  return throughput;
}

function throughputIn({ offerThroughput, offerAutopilotSettings }: Content): Throughput {
  if (!offerAutopilotSettings) return manual(offerThroughput);
  const { maxThroughput, autoUpgradePolicy } = offerAutopilotSettings;
  return autoscale(maxThroughput, autoUpgradePolicy?.throughputPolicy?.incrementPercent);
}

/** The ceiling that the service begins with: what was provisioned, and 4000 at the least. */
function asAutoscale({ throughput }: Offer): Throughput {
  return autoscale(Math.max(4000, Math.ceil(ceilingOf(throughput) / 1000) * 1000));
}

function asManual({ throughput }: Offer): Throughput {
  return manual(ceilingOf(throughput));
}

function checkKind({ throughput: { kind } }: Offer, asked: Throughput, isMigrating: boolean): void {
  if (asked.kind === kind || isMigrating) return;
  const header = asked.kind === 'manual' ? TO_MANUAL : TO_AUTOSCALE;
  const why = `The offer is ${kind}; send the header ${header}: true to change its kind.`;
  throw failure('invalidInput', { why });
}

function checkMinimum({ highestEver }: Offer, asked: Throughput, bytes: number): void {
  const min = minimumOf(asked.kind, highestEver, bytes);
  const amount = ceilingOf(asked);
  const step = asked.kind === 'manual' ? 100 : 1000;
  if (amount < min) throw failure('offerInvalid', { value: amount, min, step });
}
