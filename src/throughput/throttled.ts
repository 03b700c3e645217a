// The refusal of a request for which there are no request units left at the moment.
import { errorTable, MayflyError } from '../value/errors.js';

/** What is asked of those who find a queue full, where nothing tells how long it will be. */
const BUSY_RETRY_MS = 100;

export class Throttled extends MayflyError {
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super('throttled', errorTable.throttled.text);
    this.retryAfterMs = retryAfterMs;
  }
}

/** How long to wait before a request that was refused is tried again; every 429 says so. */
export function retryAfterMs(error: MayflyError): number | undefined {
  if (error instanceof Throttled) return error.retryAfterMs;
  return error.kind.status === 429 ? BUSY_RETRY_MS : undefined;
}
