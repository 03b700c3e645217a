// The throughput a create asks for in its headers, and what other requests say of theirs.
import type { IncomingHttpHeaders } from 'node:http';
import { autoscale, manual, type Throughput } from '../catalog/throughput.js';
import type { Priority } from '../throughput/bucket.js';
import { failure } from '../value/errors.js';
import { isTooDeep } from '../value/json.js';
import { header } from './request.js';

const MANUAL = 'x-ms-offer-throughput';
const AUTOPILOT = 'x-ms-cosmos-offer-autopilot-settings';
const PRIORITY = 'x-ms-cosmos-priority-level';
const BUCKET = 'x-ms-cosmos-throughput-bucket';

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

export function priorityOf(headers: IncomingHttpHeaders): Priority {
  const asked = header(headers, PRIORITY);
  if (asked === undefined || asked === '') return 'high';
  const level = asked.toLowerCase();
  if (level === 'high' || level === 'low') return level;
  throw failure('invalidHeader', { header: PRIORITY, value: asked, why: 'It is High or Low.' });
}

/**
 * A bucket limits its requests once somebody has set its share, which is done with tools of the
 * cloud and not over this protocol: until then those requests draw on the whole container.
 */
export function checkThroughputHints(headers: IncomingHttpHeaders): void {
  priorityOf(headers);
  const bucket = header(headers, BUCKET);
  if (bucket === undefined || /^[1-5]?$/.test(bucket)) return;
  throw failure('invalidHeader', { header: BUCKET, value: bucket, why: 'Buckets are 1 to 5.' });
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
