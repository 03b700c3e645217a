// The throughput a create asks for, in its headers.
import type { IncomingHttpHeaders } from 'node:http';
import { autoscale, manual, type Throughput } from '../catalog/throughput.js';
import { failure } from '../value/errors.js';
import { isTooDeep } from '../value/json.js';
import { header } from './request.js';

const MANUAL = 'x-ms-offer-throughput';
const AUTOPILOT = 'x-ms-cosmos-offer-autopilot-settings';

export function throughputOf(headers: IncomingHttpHeaders): Throughput | undefined {
  const amount = header(headers, MANUAL);
  const settings = header(headers, AUTOPILOT);
  if (amount !== undefined && settings !== undefined) throw failure('offerBoth');
  if (amount !== undefined) return manual(/^-?\d+$/.test(amount) ? Number(amount) : amount);
  if (settings !== undefined) return autopilot(settings);
  const type = header(headers, 'x-ms-offer-type');
  if (type === undefined) return undefined;
  throw failure('notSupported', {
    what: `The legacy offer type '${type}' (header x-ms-offer-type)`,
    hint: `Use ${MANUAL} instead.`,
  });
}

function autopilot(text: string): Throughput {
  const settings = parse(text);
  const policy = settings.autoUpgradePolicy as
    | { readonly throughputPolicy?: { readonly incrementPercent?: unknown } }
    | null
    | undefined;
  return autoscale(settings.maxThroughput, policy?.throughputPolicy?.incrementPercent);
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = isTooDeep(text) ? undefined : JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null) return parsed as Record<string, unknown>;
  } catch {
    // Falls through to the same refusal.
  }
  const why = 'It must be JSON such as {"maxThroughput":4000}.';
  throw failure('invalidHeader', { header: AUTOPILOT, value: text, why });
}
