// Operations on items and the budget of their container: asked before, told the charge afterwards.
import type { StoredContainer } from '../catalog/resources.js';
import { refusalCharge } from '../throughput/charges.js';
import { MayflyError } from '../value/errors.js';
import { ownerContainer, rangesIn } from './find.js';
import { scopeOf } from './partition-header.js';
import type { Reply } from './reply.js';
import type { CosmosRequest } from './request.js';
import { priorityOf } from './throughput-headers.js';

type Handler = (request: CosmosRequest) => Promise<Reply>;

export async function metered(request: CosmosRequest, handle: Handler): Promise<Reply> {
  const target = targetOf(request);
  // What the request lacks its verb says better.
  if (!target) return handle(request);
  const { container, ranges } = target;
  const { budgets } = request;
  const release = budgets.enter(container, ranges, priorityOf(request.headers));
  try {
    const reply = await handle(request);
    budgets.spend(container, chargeIn(reply), ranges);
    return reply;
  } catch (error) {
    if (error instanceof MayflyError) budgets.spend(container, refusalCharge(error), ranges);
    throw error;
  } finally {
    release();
  }
}

/** Where no budget is kept nobody needs to know the physical partitions. */
function targetOf(
  request: CosmosRequest,
): { readonly container: StoredContainer; readonly ranges: readonly number[] } | undefined {
  try {
    const container = ownerContainer(request);
    if (!request.budgets.isEnforced) return { container, ranges: [] };
    return { container, ranges: rangesIn(container, scopeOf(request.headers, container)) };
  } catch (error) {
    if (error instanceof MayflyError) return undefined;
    throw error;
  }
}

const CHARGE = 'x-ms-request-charge';

/** What is spent is what the client is told. */
function chargeIn({ headers }: Reply): number {
  const at = headers[0] === CHARGE ? 0 : headers.indexOf(CHARGE);
  return Number(headers[at + 1]) || 0;
}
