// Request units as a budget: what each container may spend in a second and what it has spent. A
// face asks `admit` before an operation and tells `spend` its charge afterwards. With `measure`
// nobody is refused and charges are only counted.
import type { Catalog } from '../catalog/catalog.js';
import type { Offer } from '../catalog/resources.js';
import { ceilingOf, DEFAULT_THROUGHPUT } from '../catalog/throughput.js';
import type { Clock } from '../time/clock.js';
import type { Leftover, PurgePass } from '../time/purger.js';
import { Bucket, type Priority } from './bucket.js';
import { purgeCharge } from './charges.js';
import { Peak } from './peak.js';
import { Throttled } from './throttled.js';

export type ThroughputMode = 'measure' | 'enforce';

/** A container, or a collection, which is in one physical partition. */
export interface Metered {
  readonly serial: number;
  readonly database: number;
  readonly engine: { readonly id: string };
  readonly ranges?: readonly { readonly id: number }[];
}

/** What was charged in a container since the start. */
export interface Usage {
  readonly charged: number;
  readonly throttled: number;
  readonly purged: number;
}

/** A database's throughput is one budget for all that share it, wherever their items are. */
const SHARED = -1;
const ONE_RANGE: readonly number[] = [0];
const NOTHING_HELD = () => undefined;

interface Account {
  charged: number;
  throttled: number;
  purged: number;
  /** What the last purge cost for each item, to know how many the next one may take. */
  perPurged: number;
}
interface Budget {
  readonly buckets: Map<number, Bucket>;
  readonly peak: Peak;
  /** The most bytes that were stored whenever somebody looked. */
  mostStored: number;
}

export class Budgets implements Leftover {
  readonly mode: ThroughputMode;
  readonly #clock: Clock;
  #catalog: Catalog | undefined;
  #servers: () => number = () => 1;
  /** By the ids containers have in their engine. */
  readonly #accounts = new Map<string, Account>();
  /** By the serials of offers, or of what has none. */
  readonly #budgets = new Map<number, Budget>();

  constructor(mode: ThroughputMode, clock: Clock) {
    this.mode = mode;
    this.#clock = clock;
  }

  /**
   * From now on there are containers; until then the purge finds nothing left over. Of several
   * servers over one store each has its part, so that together they keep the limit.
   */
  follow(catalog: Catalog, servers: () => number = () => 1): void {
    this.#catalog = catalog;
    this.#servers = servers;
  }

  get isEnforced(): boolean {
    return this.mode === 'enforce';
  }

  /**
   * Throws `Throttled` while one of the physical partitions has used up what it has. What an
   * operation costs is known afterwards, so it is let in where anything is left, and may take the
   * budget below zero: then the next ones wait.
   */
  admit(container: Metered, ranges = rangeIds(container), priority: Priority = 'high'): void {
    if (!this.isEnforced) return;
    const now = this.#clock.now();
    const buckets = this.#bucketsOf(container, ranges);
    const empty = buckets.filter((bucket) => bucket.waitMs(now, priority) !== undefined);
    if (empty.length === 0) return;
    this.#accountOf(container.engine.id).throttled += 1;
    throw new Throttled(Math.max(...empty.map((bucket) => bucket.refuse(now, priority))));
  }

  /**
   * Admits a request, and counts on it as one under way until it is released, so that a thousand at
   * once are not all let in on the last unit.
   */
  enter(container: Metered, ranges = rangeIds(container), priority: Priority = 'high'): () => void {
    if (!this.isEnforced) return NOTHING_HELD;
    this.admit(container, ranges, priority);
    const holds = this.#bucketsOf(container, ranges).map((bucket) => bucket.hold());
    return () => {
      for (const release of holds) release();
    };
  }

  /** What is left at this moment where the least is left; endless where nothing is enforced. */
  room(container: Metered, ranges = rangeIds(container)): number {
    if (!this.isEnforced) return Number.POSITIVE_INFINITY;
    const now = this.#clock.now();
    return Math.min(...this.#bucketsOf(container, ranges).map((bucket) => bucket.level(now)));
  }

  /** Over several physical partitions a charge is divided evenly. */
  spend(container: Metered, charge: number, ranges = rangeIds(container)): void {
    this.#accountOf(container.engine.id).charged += charge;
    const now = this.#clock.now();
    const offer = this.#catalog?.offerFor(container);
    if (offer?.throughput.kind === 'autoscale') this.#budgetOf(offer.serial).peak.add(charge, now);
    if (!this.isEnforced) return;
    const buckets = this.#bucketsOf(container, ranges);
    for (const bucket of buckets) bucket.spend(charge / buckets.length, now);
  }

  usage(container: Metered): Usage {
    return this.#accountOf(container.engine.id);
  }

  /** What is provisioned for a container, or what its autoscale stands at. */
  perSecond(container: Metered): number {
    const offer = this.#catalog?.offerFor(container);
    return offer ? this.scaledTo(offer) : ceilingOf(DEFAULT_THROUGHPUT);
  }

  /**
   * What autoscale stands at: the most that was used in a second of this hour, and a tenth of its
   * ceiling at the least.
   */
  scaledTo(offer: Offer): number {
    const ceiling = ceilingOf(offer.throughput);
    if (offer.throughput.kind === 'manual') return ceiling;
    const used = Math.ceil(this.#budgets.get(offer.serial)?.peak.highest(this.#clock.now()) ?? 0);
    return Math.min(ceiling, Math.max(ceiling / 10, used));
  }

  /** The most that was stored under an offer, as far as was seen since the start. */
  mostStored(offer: Offer, bytes: number): number {
    const budget = this.#budgetOf(offer.serial);
    budget.mostStored = Math.max(budget.mostStored, bytes);
    return budget.mostStored;
  }

  // T16: the purge lives on what requests leave over

  rows(id: string, rowsMax: number): number {
    if (!this.isEnforced) return rowsMax;
    const container = this.#containerBy(id);
    if (!container) return this.#catalog ? rowsMax : 0;
    const now = this.#clock.now();
    const buckets = this.#bucketsOf(container, rangeIds(container));
    const left = Math.min(...buckets.map((bucket) => bucket.leftover(now)));
    // One that costs more than a second has goes when half of one is left, and leaves a debt.
    const least = buckets.some((bucket) => left < bucket.perSecond / 2) ? 0 : 1;
    return Math.min(rowsMax, Math.max(least, Math.floor(left / this.#accountOf(id).perPurged)));
  }

  spent(id: string, pass: PurgePass, onDemand: boolean): void {
    if (pass.purged === 0) return;
    const charge = purgeCharge(pass.purged, pass.bytes);
    const account = this.#accountOf(id);
    account.purged += charge;
    account.perPurged = charge / pass.purged;
    const container = this.#containerBy(id);
    if (!this.isEnforced || onDemand || !container) return;
    const buckets = this.#bucketsOf(container, rangeIds(container));
    const now = this.#clock.now();
    for (const bucket of buckets) bucket.spendLeftover(charge / buckets.length, now);
  }

  #containerBy(id: string): Metered | undefined {
    return this.#all().find(({ engine }) => engine.id === id);
  }

  #all(): readonly Metered[] {
    if (!this.#catalog) return [];
    return [...this.#catalog.allContainers(), ...this.#catalog.collections.all()];
  }

  #accountOf(id: string): Account {
    const known = this.#accounts.get(id);
    if (known) return known;
    prune(this.#accounts, new Set(this.#all().map(({ engine }) => engine.id)));
    const account = { charged: 0, throttled: 0, purged: 0, perPurged: purgeCharge(1, 0) };
    this.#accounts.set(id, account);
    return account;
  }

  #budgetOf(serial: number): Budget {
    const known = this.#budgets.get(serial);
    if (known) return known;
    const owners = [...(this.#catalog?.offers() ?? []), ...this.#all()];
    prune(this.#budgets, new Set(owners.map((each) => each.serial)));
    const budget = { buckets: new Map<number, Bucket>(), peak: new Peak(), mostStored: 0 };
    this.#budgets.set(serial, budget);
    return budget;
  }

  #bucketsOf(container: Metered, ranges: readonly number[]): readonly Bucket[] {
    const offer = this.#catalog?.offerFor(container);
    const ceiling = ceilingOf(offer?.throughput ?? DEFAULT_THROUGHPUT) / this.#servers();
    const { buckets } = this.#budgetOf(offer?.serial ?? container.serial);
    if (offer && offer.container === undefined) {
      return [bucketIn(buckets, SHARED, ceiling, this.#clock)];
    }
    const all = rangeIds(container);
    // Ranges that were split are gone, and their buckets with them.
    if (buckets.size > all.length) prune(buckets, new Set(all));
    return ranges.map((range) => bucketIn(buckets, range, ceiling / all.length, this.#clock));
  }
}

function bucketIn(
  buckets: Map<number, Bucket>,
  range: number,
  perSecond: number,
  clock: Clock,
): Bucket {
  const known = buckets.get(range);
  if (known) {
    if (known.perSecond !== perSecond) known.resize(perSecond, clock.now());
    return known;
  }
  const bucket = new Bucket(perSecond, clock.now());
  buckets.set(range, bucket);
  return bucket;
}

function rangeIds({ ranges }: Metered): readonly number[] {
  return ranges ? ranges.map(({ id }) => id) : ONE_RANGE;
}

/** What was deleted is forgotten when something new comes, so that neither map grows for ever. */
function prune<K>(kept: Map<K, unknown>, there: ReadonlySet<K>): void {
  for (const key of kept.keys()) if (!there.has(key)) kept.delete(key);
}
