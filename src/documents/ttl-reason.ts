// One sentence on why an item lives or not: the nine cells of T1, and T22's tenth, in words.
import { type DefaultTtl, isTtl, TTL_NEVER } from '../time/expiry.js';
import { type Instant, LAST_INSTANT } from '../time/instant.js';

export function reasonOf(
  ttl: unknown,
  defaultTtl: DefaultTtl,
  due: Instant | undefined,
  at: Instant,
): string {
  if (defaultTtl === undefined) {
    const own =
      ttl === undefined
        ? ''
        : ` Its own ttl of ${JSON.stringify(ttl)} is stored but has no effect.`;
    return `It never expires, because time to live is off for the container.${own}`;
  }
  if (ttl === TTL_NEVER) return 'It never expires, because its own ttl is -1.';
  const ignored =
    ttl !== undefined && !isTtl(ttl)
      ? ` Its own ttl of ${JSON.stringify(ttl)} is no whole number of seconds and counts as absent.`
      : '';
  if (due === undefined) {
    return `It never expires, because the container's default is -1 and it has no ttl of its own.${ignored}`;
  }
  const seconds = isTtl(ttl) ? ttl : defaultTtl;
  const whose = isTtl(ttl) ? 'its own ttl' : "the container's default";
  const when = new Date(Math.min(due, LAST_INSTANT)).toISOString();
  const verb = due <= at ? 'expired' : 'expires';
  return `It ${verb} at ${when}, ${seconds} s after its last write, by ${whose}.${ignored}`;
}
