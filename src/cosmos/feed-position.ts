// Where a change feed begins, as headers say it, and where it goes on, as an etag.
//
//   "57"              behind the change 57
//   "57@1700000000"   the same, and still looking for the first change of that second or later
import type { IncomingHttpHeaders } from 'node:http';
import type { FeedPosition } from '../documents/feed.js';
import { failure } from '../value/errors.js';
import { modifiedSince } from './conditions.js';
import { header } from './request.js';

const POSITION = /^(?:"(\d{1,15})(?:@(\d{1,12}))?"|(\d{1,15}))$/;

export function feedEtag({ after, since }: FeedPosition): string {
  return since === undefined ? `"${after}"` : `"${after}@${since}"`;
}

/** An etag outdoes a time: clients go on sending the time they began with. */
export function feedStart(headers: IncomingHttpHeaders): FeedPosition {
  return positionOf(headers) ?? { after: 0, since: modifiedSince(headers) };
}

/** Now, or where a page has ended; undefined where the beginning or a time is asked for. */
export function positionOf(headers: IncomingHttpHeaders): FeedPosition | undefined {
  for (const name of ['if-none-match', 'x-ms-continuation']) {
    const value = header(headers, name);
    if (value) return positionIn(name, value);
  }
  return undefined;
}

function positionIn(name: string, value: string): FeedPosition {
  if (value === '*') return { after: 'now', since: undefined };
  const match = POSITION.exec(value);
  if (!match) {
    const why = 'It must be * or the etag of a page of this change feed.';
    throw failure('invalidHeader', { header: name, value, why });
  }
  const [, quoted, since, bare] = match;
  return {
    after: Number(quoted ?? bare),
    since: since === undefined ? undefined : Number(since),
  };
}
