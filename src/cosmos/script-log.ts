// What a stored procedure has printed, for clients that ask for it; when it failed most of all.
import { logOf } from '../script/scripts.js';
import { type CosmosRequest, flag } from './request.js';

const ASKED = 'x-ms-documentdb-script-enable-logging';
const ANSWERED = 'x-ms-documentdb-script-log-results';
/** What clients take of headers is not much more than this, in all of them together. */
const CHARACTERS_MAX = 8192;

export function logHeaders({ headers }: CosmosRequest, log: string): readonly string[] {
  return flag(headers, ASKED) ? [ANSWERED, encoded(log)] : [];
}

/** Of a script that ended with this error. */
export function failedLogHeaders(request: CosmosRequest, error: unknown): readonly string[] {
  const log = logOf(error);
  return log === undefined ? [] : logHeaders(request, log);
}

function encoded(log: string): string {
  let value = '';
  for (const character of log.replace(/\p{Surrogate}/gu, '\ufffd')) {
    const next = encodeURIComponent(character);
    if (value.length + next.length > CHARACTERS_MAX) return `${value}${encodeURIComponent('…')}`;
    value += next;
  }
  return value;
}
