// What a request that a rule for faults has struck is answered with.
import { codeOf } from '../http/codes.js';
import type { Fault } from '../http/faults.js';
import { REFUSAL_CHARGE, THROTTLED_CHARGE } from '../throughput/charges.js';
import { rest } from '../time/clock.js';
import { failure, MayflyError } from '../value/errors.js';
import { chargeText, type Reply } from './reply.js';

/** Nothing is answered: the connection ends. */
export class Dropped extends Error {}

export async function late({ rule: { delayMs } }: Fault): Promise<void> {
  if (delayMs > 0) await rest(delayMs);
}

export async function struck(fault: Fault, run: () => Promise<Reply>): Promise<Reply> {
  const { when, effect } = fault.rule;
  // Errors are for the other face.
  if (effect.kind === 'delay' || effect.kind === 'error') return run();
  // An operation that fails by itself has its own answer to be lost.
  if (when === 'after') await run().catch(rethrowDefect);
  if (effect.kind === 'drop') throw new Dropped();
  const { status, subStatus, retryAfterMs, headers } = effect;
  const { message } = failure('faultInjected', { rule: fault.id });
  return {
    status,
    headers: [
      'x-ms-request-charge',
      chargeText(status === 429 ? THROTTLED_CHARGE : REFUSAL_CHARGE),
      'x-ms-substatus',
      String(subStatus),
      ...(retryAfterMs === undefined ? [] : ['x-ms-retry-after-ms', String(retryAfterMs)]),
      ...Object.entries(headers).flat(),
    ],
    body: JSON.stringify({ code: codeOf(status), message }),
  };
}

function rethrowDefect(error: unknown): void {
  if (!(error instanceof MayflyError)) throw error;
}
