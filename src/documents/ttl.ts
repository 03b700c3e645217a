// Time to live as operators see it: where a container stands, what a change would do, and why an
// item lives or not.
import type { StoredContainer } from '../catalog/resources.js';
import type { Engine, Expiry, ItemKey, Resume } from '../engine/engine.js';
import { breathe } from '../time/clock.js';
import { cosmosRules, type DefaultTtl, dueAt, type ExpiryRule, isLive } from '../time/expiry.js';
import { type Instant, instant, LAST_INSTANT } from '../time/instant.js';
import { type Documents, whileThere } from './documents.js';
import { reasonOf } from './ttl-reason.js';

const ROWS_PER_READ = 1000;
const SAMPLE_MAX = 10;

export interface TtlStatus {
  readonly defaultTtl: number | null;
  readonly live: number;
  readonly expired: number;
  readonly expiredBytes: number;
  readonly oldestLagSeconds: number;
  readonly nextExpiry: string | null;
}

/** Costs what has expired and is not purged yet, not what the container holds. */
export async function ttlStatus(
  documents: Documents,
  container: StoredContainer,
  at: Instant,
): Promise<TtlStatus> {
  const { engine } = documents;
  const box = container.engine;
  const { items } = await whileThere(container, engine.stats(box));
  let expired = 0;
  let expiredBytes = 0;
  let oldest: number = at;
  for await (const { due, bytes } of fuses(engine, container, box.expiry, undefined, at)) {
    expired += 1;
    expiredBytes += bytes;
    oldest = Math.min(oldest, due);
  }
  const next = await nextDeath(engine, container, at);
  return {
    defaultTtl: container.definition.defaultTtl ?? null,
    live: items - expired,
    expired,
    expiredBytes,
    oldestLagSeconds: (at - oldest) / 1000,
    nextExpiry: isoOf(next) ?? null,
  };
}

export interface TtlPreview {
  readonly defaultTtl: number | null;
  readonly expireNow: number;
  readonly reappearNow: number;
  readonly neverExpire: number;
  readonly sample: readonly object[];
  readonly histogram: readonly {
    readonly from: string;
    readonly to: string | null;
    readonly count: number;
  }[];
}

/**
 * T38: what setting this default would do at this instant. It looks at every fuse, and changes
 * nothing.
 */
export async function previewTtl(
  documents: Documents,
  container: StoredContainer,
  defaultTtl: DefaultTtl,
  at: Instant,
): Promise<TtlPreview> {
  const { engine } = documents;
  const wanted = cosmosRules(defaultTtl);
  const current = container.engine.expiry;
  const { items } = await whileThere(container, engine.stats(container.engine));
  const bounds = HISTOGRAM_SECONDS.map((seconds) => at + seconds * 1000);
  const counts = new Array<number>(bounds.length + 1).fill(0);
  const dying: Expiry[] = [];
  let expireNow = 0;
  let doomed = 0;
  for await (const fuse of fuses(engine, container, wanted, undefined, FAR)) {
    doomed += 1;
    if (fuse.due <= at) {
      if (!isDead(fuse, wanted, current, at)) {
        expireNow += 1;
        dying.push(fuse);
        if (dying.length > 10 * SAMPLE_MAX) keepOldest(dying);
      }
    } else {
      const bucket = bounds.findIndex((bound) => fuse.due <= bound);
      const index = bucket < 0 ? bounds.length : bucket;
      counts[index] = (counts[index] ?? 0) + 1;
    }
  }
  let reappearNow = 0;
  for await (const fuse of fuses(engine, container, current, undefined, at)) {
    if (!isDead(fuse, current, wanted, at)) reappearNow += 1;
  }
  keepOldest(dying);
  return {
    defaultTtl: defaultTtl ?? null,
    expireNow,
    reappearNow,
    neverExpire: items - doomed,
    sample: await Promise.all(dying.map((fuse) => sampleOf(engine, container, fuse))),
    histogram: counts.map((count, index) => ({
      from: isoOf(instant(index === 0 ? at : (bounds[index - 1] ?? at))) ?? '',
      to: isoOf(bounds[index] as Instant | undefined) ?? null,
      count,
    })),
  };
}

export interface TtlExplanation {
  readonly id: string;
  readonly partitionKey: readonly unknown[];
  readonly defaultTtl: number | null;
  readonly ttl: unknown;
  readonly _ts: number;
  readonly due: string | null;
  readonly state: 'live' | 'expired';
  readonly reason: string;
}

/**
 * T39: also for an item that expired and is not purged yet; undefined when there is none at all.
 */
export async function explainItem(
  documents: Documents,
  container: StoredContainer,
  key: ItemKey,
  at: Instant,
): Promise<TtlExplanation | undefined> {
  const item = await whileThere(container, documents.engine.inspect(container.engine, key));
  if (!item) return undefined;
  const { ttl, _ts } = item.doc.value as { readonly ttl?: unknown; readonly _ts: number };
  const { defaultTtl } = container.definition;
  const due = dueAt(item.fuses, container.engine.expiry);
  return {
    id: key.id,
    partitionKey: key.partition,
    defaultTtl: defaultTtl ?? null,
    ttl: ttl ?? null,
    _ts,
    due: isoOf(due) ?? null,
    state: isLive(item.fuses, container.engine.expiry, at) ? 'live' : 'expired',
    reason: reasonOf(ttl, defaultTtl, due, at),
  };
}

/** The histogram's bounds, counted from now: a minute, an hour, a day, a week, 30 days, a year. */
const HISTOGRAM_SECONDS = [60, 3600, 86_400, 604_800, 2_592_000, 31_536_000];

/**
 * Every fuse due in a span of time, in bounded reads that let others go first. An item has at most
 * one.
 */
async function* fuses(
  engine: Engine,
  container: StoredContainer,
  rules: readonly ExpiryRule[],
  since: Instant | undefined,
  until: Instant,
): AsyncIterable<Expiry> {
  let after: Resume | undefined;
  do {
    const span = since === undefined ? { until } : { since, until };
    const scan = { rules, ...span, after, rowsMax: ROWS_PER_READ };
    const page = await whileThere(container, engine.expiries(container.engine, scan));
    yield* page.expiries;
    after = page.resume;
    await breathe();
  } while (after !== undefined);
}

/** The first live item to go: the earliest, over all rules, of what is due after now. */
async function nextDeath(
  engine: Engine,
  container: StoredContainer,
  at: Instant,
): Promise<Instant | undefined> {
  let next: Instant | undefined;
  for (const rule of container.engine.expiry) {
    const scan = { rules: [rule], since: at, until: FAR, after: undefined, rowsMax: 1 };
    const page = await whileThere(container, engine.expiries(container.engine, scan));
    const due = page.expiries[0]?.due;
    if (due !== undefined && (next === undefined || due < next)) next = due;
  }
  return next;
}

/** Later than the last instant a clock can show and the longest time to live after it. */
const FAR = instant(LAST_INSTANT + 2_147_483_647_000);

/** Whether the item of a fuse, found under some rules, is dead under others. */
function isDead(
  fuse: Expiry,
  found: readonly ExpiryRule[],
  other: readonly ExpiryRule[],
  at: Instant,
): boolean {
  const lagMs = found.find((rule) => rule.name === fuse.rule)?.lagMs ?? 0;
  return !isLive([{ rule: fuse.rule, at: instant(fuse.due - lagMs) }], other, at);
}

function keepOldest(fuses: Expiry[]): void {
  fuses.sort((a, b) => a.due - b.due || a.serial - b.serial);
  fuses.splice(SAMPLE_MAX);
}

async function sampleOf(engine: Engine, container: StoredContainer, fuse: Expiry): Promise<object> {
  const item = await whileThere(container, engine.inspect(container.engine, fuse.serial));
  return {
    id: item?.key.id ?? null,
    partitionKey: item?.key.partition ?? null,
    due: isoOf(fuse.due),
    bytes: fuse.bytes,
  };
}

/** Instants beyond the year 9999 are told as that year's last. */
function isoOf(at: Instant | undefined): string | undefined {
  return at === undefined ? undefined : new Date(Math.min(at, LAST_INSTANT)).toISOString();
}
