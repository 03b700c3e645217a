// Expiry order: finding what is due, and removing it. Cost follows what expired, never what did
// not.
import { type ExpiryRule, isLive } from '../../time/expiry.js';
import { type Instant, instant } from '../../time/instant.js';
import {
  BadResume,
  type Expiry,
  type ExpiryScan,
  type Purge,
  type Resume,
  type Serial,
} from '../engine.js';
import { loadItem, type Place, readSize, removeItem } from './entries.js';
import {
  after,
  expiryKey,
  instantOf,
  restOf,
  type Slot,
  serialAtEnd,
  successor,
  withRest,
} from './keys.js';
import { countKeys, type Key, type Reader, type Store } from './store.js';
import type { WriteSet } from './write-set.js';

/** The earliest due instant among all enabled rules: one look at the first entry of each. */
export function nextDue(store: Store, place: Place): Instant | undefined {
  let next: number | undefined;
  for (const rule of activeRules(place, place.container.expiry)) {
    const first = store.keys(...ruleRange(place.head.slot, rule.code), 1)[0];
    if (first === undefined) continue;
    const due = instantOf(first) + rule.lagMs;
    if (next === undefined || due < next) next = due;
  }
  return next === undefined ? undefined : instant(next);
}

export interface Due {
  readonly due: Instant;
  readonly serial: Serial;
}

/** What is due at the instant, oldest expiry first over all rules, at most `rowsMax`. */
export function dueItems(store: Reader, place: Place, at: Instant, rowsMax: number): Due[] {
  const found: Due[] = [];
  for (const rule of activeRules(place, place.container.expiry)) {
    const [from, to] = dueRange(place.head.slot, rule, at);
    for (const key of store.keys(from, to, rowsMax)) {
      found.push({ due: instant(instantOf(key) + rule.lagMs), serial: serialAtEnd(key) });
    }
  }
  found.sort((a, b) => a.due - b.due || a.serial - b.serial);
  return found.slice(0, rowsMax);
}

/** How many items are dead and not purged; an item has at most one fuse under Cosmos rules. */
export async function countDue(store: Reader, place: Place, at: Instant): Promise<number> {
  let count = 0;
  for (const rule of activeRules(place, place.container.expiry)) {
    count += await countKeys(store, ...dueRange(place.head.slot, rule, at));
  }
  return count;
}

/**
 * Looks at each item again, because it may have been written or removed since its entry was read.
 */
export function purgeItems(
  writes: WriteSet,
  place: Place,
  due: readonly Due[],
  at: Instant,
): Omit<Purge, 'next'> {
  const { head, container } = place;
  let purged = 0;
  let bytes = 0;
  for (const { serial } of due) {
    const item = loadItem(writes, place, serial);
    if (!item || isLive(item.fuses, container.expiry, at)) continue;
    removeItem(writes, place, item, { lsn: head.lsn + 1, at, expired: true });
    purged += 1;
    bytes += item.doc.bytes.length;
  }
  if (purged > 0) {
    head.lsn += 1;
    head.changed = true;
  }
  return { purged, bytes };
}

/**
 * Pages through fuses rule by rule. Resume point: the rest of the last expiry key, which starts
 * with its rule.
 */
export function readExpiries(
  store: Store,
  place: Place,
  scan: ExpiryScan,
): { readonly expiries: readonly Expiry[]; readonly resume: Resume | undefined } {
  const { slot } = place.head;
  const rules = activeRules(place, scan.rules);
  const passed = scan.after === undefined ? undefined : withRest(slot, 'expiry', scan.after);
  if (passed && !rules.some((rule) => rule.code === restOf(passed)[0])) throw new BadResume();
  const expiries: Expiry[] = [];
  for (const rule of rules) {
    if (passed && rule.code < (restOf(passed)[0] ?? 0)) continue;
    const [first, to] = dueRange(slot, rule, scan.until);
    const start = scan.since === undefined ? first : dueRange(slot, rule, scan.since)[1];
    const from = passed && Buffer.compare(passed, start) > 0 ? successor(passed) : start;
    if (Buffer.compare(from, to) >= 0) continue;
    for (const [key, value] of store.range(from, to, scan.rowsMax - expiries.length)) {
      const due = instant(instantOf(key) + rule.lagMs);
      expiries.push({ rule: rule.name, due, serial: serialAtEnd(key), bytes: readSize(value) });
      if (expiries.length >= scan.rowsMax) {
        return { expiries, resume: Buffer.from(restOf(key)) as unknown as Resume };
      }
    }
  }
  return { expiries, resume: undefined };
}

interface ActiveRule extends ExpiryRule {
  readonly code: number;
}

/** In order of their codes, which is the order of their entries. */
function activeRules(place: Place, rules: readonly ExpiryRule[]): readonly ActiveRule[] {
  return rules
    .filter((rule) => rule.enabled)
    .map((rule) => ({ ...rule, code: place.head.rules.codeOf(rule.name) }))
    .sort((a, b) => a.code - b.code);
}

function ruleRange(slot: Slot, code: number): readonly [Key, Key] {
  const from = withRest(slot, 'expiry', Uint8Array.of(code));
  return [from, after(from)];
}

/** Fuses with `fuse + lag <= at`, the boundary of T2 as a range of keys. */
function dueRange(slot: Slot, rule: ActiveRule, at: Instant): readonly [Key, Key] {
  const [from, to] = ruleRange(slot, rule.code);
  const latest = Math.min(at - rule.lagMs, FUSE_MAX);
  return latest < 0 ? [from, from] : [from, earlier(expiryKey(slot, rule.code, latest + 1, 0), to)];
}

/** Fuses are stored in six bytes. */
const FUSE_MAX = 2 ** 48 - 2;

function earlier(a: Key, b: Key): Key {
  return Buffer.compare(a, b) <= 0 ? a : b;
}
