// When a document dies. Each item stores instants (fuses); the lag lives in the container (rules).
// So changing a container's time to live edits one number and touches no item. `isLive` is the only
// liveness predicate there is.
import { failure } from '../value/errors.js';
import { type Instant, instant, instantOfSeconds } from './instant.js';

/** One lit fuse: the item dies at `at + lag(rule)`. */
export interface Fuse {
  readonly rule: string;
  readonly at: Instant;
}
export interface ExpiryRule {
  readonly name: string;
  readonly lagMs: number;
  readonly enabled: boolean;
}

export const TTL_MAX_SECONDS = 2_147_483_647;
export const TTL_NEVER = -1;

/** `undefined`: off. -1: on without a default. n: on, n seconds. */
export type DefaultTtl = number | undefined;

/** The instant an item is due, under the enabled rules; undefined when it lives for ever. */
export function dueAt(fuses: readonly Fuse[], rules: readonly ExpiryRule[]): Instant | undefined {
  let due: number | undefined;
  for (const fuse of fuses) {
    for (const rule of rules) {
      if (rule.name !== fuse.rule || !rule.enabled) continue;
      const end = fuse.at + rule.lagMs;
      if (due === undefined || end < due) due = end;
    }
  }
  return due === undefined ? undefined : instant(due);
}

/** T2: live one millisecond before it is due, expired at that millisecond. */
export function isLive(
  fuses: readonly Fuse[],
  rules: readonly ExpiryRule[],
  now: Instant,
): boolean {
  const due = dueAt(fuses, rules);
  return due === undefined || due > now;
}

/** The two rules of a Cosmos container, which make the nine cells of T1. */
export function cosmosRules(defaultTtl: DefaultTtl): readonly ExpiryRule[] {
  const on = defaultTtl !== undefined;
  const hasDefault = on && defaultTtl !== TTL_NEVER;
  return [
    { name: 'own', lagMs: 0, enabled: on },
    { name: 'default', lagMs: hasDefault ? defaultTtl * 1000 : 0, enabled: hasDefault },
  ];
}

/**
 * The fuse of a Cosmos item. It is lit whatever the container says now, so that switching TTL on
 * later finds it (T9). An uninterpretable `ttl`, which only a container with TTL off can hold,
 * counts as absent (T22).
 */
export function cosmosFuses(ttl: unknown, writtenSeconds: number): readonly Fuse[] {
  if (ttl === TTL_NEVER) return [];
  if (isTtl(ttl)) return [{ rule: 'own', at: instantOfSeconds(writtenSeconds + ttl) }];
  return [{ rule: 'default', at: instantOfSeconds(writtenSeconds) }];
}

/** When the documents of a collection of the API for MongoDB die. */
export interface CollectionTtl {
  /** Of the index over `_ts` (T29). */
  readonly defaultTtl: DefaultTtl;
  /** T34: whether documents may have a `ttl` of their own. */
  readonly documentTtl: boolean;
  /** T35: one for each TTL index over a date. */
  readonly dates: readonly { readonly rule: string; readonly seconds: number }[];
}

/**
 * Those of a container, one for each date, and one for documents with a `ttl` of their own in an
 * account where that is switched off: they follow the collection then (T34).
 */
export function collectionRules(ttl: CollectionTtl): readonly ExpiryRule[] {
  const [own, byDefault] = cosmosRules(ttl.defaultTtl) as readonly [ExpiryRule, ExpiryRule];
  return [
    { ...own, enabled: own.enabled && ttl.documentTtl },
    byDefault,
    { ...byDefault, name: 'overruled', enabled: byDefault.enabled && !ttl.documentTtl },
    ...ttl.dates.map(({ rule, seconds }) => ({ name: rule, lagMs: seconds * 1000, enabled: true })),
  ];
}

/**
 * The fuses of a document: `ttl` is its own where that counts (T31), else undefined (T32). Dates
 * before 1970 are long past under any rule.
 */
export function collectionFuses(
  ttl: number | undefined,
  dates: readonly { readonly rule: string; readonly ms: number }[],
  writtenSeconds: number,
): readonly Fuse[] {
  const fuses = [...cosmosFuses(ttl, writtenSeconds)];
  if (ttl !== undefined) fuses.push({ rule: 'overruled', at: instantOfSeconds(writtenSeconds) });
  for (const { rule, ms } of dates) {
    fuses.push({ rule, at: instant(Math.min(Math.max(ms, 0), DATE_MAX_MS)) });
  }
  return fuses;
}

/** Later dates are as good as never. */
const DATE_MAX_MS = 2 ** 48 - 2 ** 42;

/** T21: what an item may say while its container has TTL on. `undefined` is absence. */
export function checkItemTtl(ttl: unknown, defaultTtl: DefaultTtl): void {
  if (defaultTtl === undefined || ttl === undefined || isTtl(ttl)) return;
  throw failure('ttlInvalid', { value: shown(ttl) });
}

/** T20: absent and null are off, -1 and 1..2147483647 are on, the rest is refused. */
export function checkDefaultTtl(value: unknown): DefaultTtl {
  if (value === undefined || value === null) return undefined;
  if (isTtl(value)) return value;
  throw failure('defaultTtlInvalid', { value: shown(value) });
}

export function isTtl(value: unknown): value is number {
  if (typeof value !== 'number' || !Number.isInteger(value)) return false;
  return value === TTL_NEVER || (value >= 1 && value <= TTL_MAX_SECONDS);
}

/** The raw JSON text, so that a refused "60" is told from 60. */
function shown(value: unknown): string {
  // JSON has no infinity, which 1e400 becomes.
  return typeof value === 'number' ? String(value) : JSON.stringify(value);
}
