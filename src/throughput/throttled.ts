// The refusal of a request for which there are no request units left at the moment.
import { errorTable, MayflyError } from '../value/errors.js';

export class Throttled extends MayflyError {
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super('throttled', errorTable.throttled.text);
    this.retryAfterMs = retryAfterMs;
  }
}
