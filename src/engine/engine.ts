// The engine SPI: what Mayfly asks of a place that keeps documents. Engines live in folders beside
// this file.
import type { ExpiryRule, Fuse } from '../time/expiry.js';
import type { Instant } from '../time/instant.js';
import type { Doc } from '../value/doc.js';
import type { PartitionHash, PartitionKey, Scalar } from '../value/partition-key.js';
import type { Path } from '../value/path.js';
import type { CompositeIndex, Indexing, IndexPath } from './indexing.js';

/** Position in a container's change order; grows with every commit. */
export type Lsn = number;
export type Etag = string;
/** An item's number in its container: given once, in order of creation, never reused. */
export type Serial = number;

export interface ItemKey {
  readonly partition: PartitionKey;
  readonly id: string;
}
export interface Item {
  readonly key: ItemKey;
  readonly serial: Serial;
  readonly etag: Etag;
  readonly lsn: Lsn;
  readonly fuses: readonly Fuse[];
  readonly doc: Doc;
}

export interface Container {
  readonly id: string;
  readonly partitionPaths: readonly Path[];
  readonly partitionHash: PartitionHash;
  readonly indexes: readonly IndexDef[];
  readonly indexing: Indexing;
  readonly expiry: readonly ExpiryRule[];
  /** How long all versions and deletes stay readable; absent where only the latest count. */
  readonly retentionMs?: number;
}
/**
 * Unique indexes hold per logical partition; a missing value counts as null. With `listed` the
 * value is a list of texts, of which none may be in the list of another item; a missing one is
 * empty.
 */
export interface IndexDef {
  readonly name: string;
  readonly paths: readonly { readonly path: Path; readonly descending: boolean }[];
  readonly unique: boolean;
  readonly listed?: boolean;
}

/**
 * The part of any query language that every engine can understand. It may be weaker than what the
 * client asked.
 */
export type Filter = { readonly op: 'and'; readonly all: readonly Filter[] } | SimpleFilter;
/** A condition on one path. */
export type SimpleFilter = ValueFilter | SearchFilter;
/** About the value there. */
export type ValueFilter =
  | {
      readonly op: '=' | '<' | '<=' | '>' | '>=';
      readonly path: IndexPath;
      readonly value: Scalar;
    }
  | { readonly op: 'in'; readonly path: IndexPath; readonly values: readonly Scalar[] }
  | { readonly op: 'defined' | 'missing'; readonly path: IndexPath }
  | { readonly op: 'prefix'; readonly path: IndexPath; readonly value: string }
  /** Of one and the same value, which is of the same path: every condition holds, or any. */
  | { readonly op: 'every' | 'any'; readonly path: IndexPath; readonly of: readonly ValueFilter[] };
/** A text that holds a word, as a stem; something that is near a place, or is no point. */
export type SearchFilter =
  | { readonly op: 'word'; readonly path: IndexPath; readonly word: string }
  | {
      readonly op: 'near';
      readonly path: IndexPath;
      readonly centre: readonly [longitude: number, latitude: number];
      readonly radians: number;
    };

export interface OrderBy {
  readonly path: IndexPath;
  readonly descending: boolean;
}

/**
 * A span of effective partition keys, as upper-case hex: `from` inclusive, `to` exclusive, "" to
 * "FF" is all.
 */
export interface EpkSpan {
  readonly from: string;
  readonly to: string;
}

export interface ScanRequest {
  /** One logical partition, or all below a prefix of a hierarchical key. */
  readonly partition: PartitionKey | undefined;
  readonly span: EpkSpan | undefined;
  readonly filter: Filter | undefined;
  readonly order: readonly OrderBy[];
  readonly limit: number | undefined;
  /** Where to go on; the plan is then the one that made it, for this span or for a wider one. */
  readonly after: Resume | undefined;
  /** Whether an item may come again for each element of an array that fits. */
  readonly repeats?: boolean;
  /** Whether items that are equal in the order may come in any. */
  readonly anyTies?: boolean;
}
/** All of a container, in no certain order. */
export const EVERYTHING: ScanRequest = {
  partition: undefined,
  span: undefined,
  filter: undefined,
  order: [],
  limit: undefined,
  after: undefined,
};
/** What the engine promises. Whatever it does not promise, the query pipeline does itself. */
export interface Plan {
  readonly exact: boolean;
  readonly ordered: boolean;
  readonly limited: boolean;
  readonly explain: string;
  readonly indexes: IndexUse;
  /** Whether it reads at most so many keys, where that is quickly told. */
  isWithin?(keysMax: number): boolean;
  run(at: Instant, budget: Budget): AsyncIterable<Batch>;
  /** How many items `run` would yield, where that can be told without reading them. */
  count(at: Instant): Promise<Counted | undefined>;
  /** The same for each value at a path, in the one order of values. */
  countBy(path: IndexPath, at: Instant): Promise<CountedValues | undefined>;
  /**
   * Values of the same items folded, per combination of values at some paths; undefined where the
   * result might differ from that of folding them one by one. Absent where an engine cannot.
   */
  fold?(by: readonly IndexPath[], folds: readonly Fold[], at: Instant): Promise<Folded | undefined>;
}
export interface Counted {
  readonly items: number;
  readonly lsn: Lsn;
}
export interface CountedValues {
  /** Those that some item has; `undefined` where items lack the path. */
  readonly values: readonly { readonly value: unknown; readonly items: number }[];
  readonly lsn: Lsn;
}
/** Of the values at a path, as aggregates of queries have it; without a path of the items. */
export type Fold =
  | { readonly name: 'COUNT'; readonly path: IndexPath | undefined }
  | { readonly name: 'SUM' | 'AVG' | 'MIN' | 'MAX'; readonly path: IndexPath };
export interface Folded {
  /** In no certain order. Without paths there is one, whether there are items or not. */
  readonly groups: readonly {
    readonly by: readonly unknown[];
    readonly results: readonly unknown[];
  }[];
  readonly lsn: Lsn;
}
/** The indexes of the policy that a plan reads, and those it would read if the policy had them. */
export interface IndexUse {
  readonly used: readonly CompositeIndex[];
  readonly missed: readonly CompositeIndex[];
}
export type Resume = Uint8Array & { readonly __opaque: 'resume' };
export class BadResume extends Error {}
/** The index rules changed while a plan was run: what it has not yielded yet is for a new plan. */
export class PlanOutdated extends Error {}
/** The container was dropped while a request for it was under way. */
export class ContainerGone extends Error {}

/** A batch ends at the first limit it meets; a batch always makes progress. */
export interface Budget {
  readonly rowsMax: number;
  readonly bytesMax: number;
}
/**
 * `resume` is absent at the end; an empty batch with a resume point only means that the budget ran
 * out.
 */
export interface Batch {
  readonly items: readonly Item[];
  /**
   * The resume point behind one of the items, for a reader that stops in the middle of the batch.
   */
  resumeAfter(index: number): Resume;
  /** The resume point right before one of the items, for a reader that is not done with it. */
  resumeAt(index: number): Resume;
  readonly resume: Resume | undefined;
  readonly lsn: Lsn;
  /** How long finding the keys took, and how long reading the items. */
  readonly lookupMs: number;
  readonly loadMs: number;
}

export type Change =
  | { readonly kind: 'insert'; readonly item: Draft }
  | { readonly kind: 'put'; readonly item: Draft; readonly ifEtag: Etag | undefined }
  | { readonly kind: 'delete'; readonly id: string; readonly ifEtag: Etag | undefined }
  | { readonly kind: 'update'; readonly id: string; readonly decide: Decide };
/**
 * Pure and synchronous: sees the live item as it is at the moment of the write, and the serial it
 * keeps or would get. It may run more than once.
 */
export type Decide = (current: Item | undefined, serial: Serial) => Decision;
export type Decision =
  | { readonly put: Draft }
  | { readonly delete: true }
  | { readonly keep: true }
  | { readonly refuse: Refusal };
export interface Draft {
  readonly id: string;
  readonly etag: Etag;
  readonly fuses: readonly Fuse[];
  readonly doc: Doc;
}
export type Refusal =
  | 'conflict'
  | 'notFound'
  | 'preconditionFailed'
  | { readonly uniqueIndex: string };

/**
 * All changes of one batch succeed or none do; batches of one call are independent of each other.
 */
export interface WriteBatch {
  readonly partition: PartitionKey;
  readonly changes: readonly Change[];
}
/** On success one entry per change: the item as written or kept, `undefined` where it is gone. */
export type WriteOutcome =
  | { readonly items: readonly (Item | undefined)[]; readonly lsn: Lsn }
  | { readonly refused: Refusal; readonly index: number; readonly lsn: Lsn };

/** Batches of one container that are written together with those of others. */
export interface WriteGroup {
  readonly container: Container;
  readonly batches: readonly WriteBatch[];
}
/** On success the items of each batch of each group; else the change that was in the way. */
export type TogetherOutcome =
  | { readonly groups: readonly WrittenGroup[] }
  | {
      readonly refused: Refusal;
      readonly group: number;
      readonly batch: number;
      readonly index: number;
    };
/** All batches of a group have one place in the change order of its container. */
export interface WrittenGroup {
  readonly batches: readonly (readonly (Item | undefined)[])[];
  readonly lsn: Lsn;
}

/** What changed last, oldest change first. */
export interface ChangeScan {
  readonly partition: PartitionKey | undefined;
  readonly span: EpkSpan | undefined;
  /** Only changes behind this position, of which 0 is the beginning; or only those yet to come. */
  readonly after: Lsn | 'now';
}
export interface Changes {
  /** Each once, as it is now. What one batch has written is never divided, whatever the budget. */
  readonly items: readonly Item[];
  /** Where to go on: of what changed up to here nothing is missing, nor can it come any more. */
  readonly upTo: Lsn;
  /** False where the budget ran out, with or without items. */
  readonly isEnd: boolean;
  readonly lsn: Lsn;
}

/** One thing that happened to an item. */
export interface Version {
  readonly kind: 'create' | 'replace' | 'delete';
  readonly key: ItemKey;
  readonly serial: Serial;
  readonly lsn: Lsn;
  readonly at: Instant;
  /** As it was written; a delete has none. */
  readonly doc: Doc | undefined;
  /** The version before it: where it was written, and itself as far as it is known. */
  readonly previous: { readonly lsn: Lsn; readonly doc: Doc | undefined } | undefined;
  /** Whether it was deleted because its time had come. */
  readonly expired: boolean;
}
export interface Versions extends Omit<Changes, 'items'> {
  /** In the order they happened. What one batch has written is never divided. */
  readonly versions: readonly Version[];
}
/** Some of the versions behind the position are not kept, or not any more. */
export class VersionsForgotten extends Error {}

export interface Stats {
  /** Items kept, dead and unpurged ones included. */
  readonly items: number;
  /** How much of the index over paths is built, in per cent. */
  readonly indexProgress: number;
  readonly bytes: number;
  readonly lsn: Lsn;
  /** What the next item gets. */
  readonly nextSerial: Serial;
  /** Behind this position all versions are known, but for their age; undefined where none are. */
  readonly versionsFrom: Lsn | undefined;
}

/** Items of another engine, as they are there: with serials, lsns, etags and fuses. */
export interface Restored {
  readonly items: readonly Item[];
  /** Where the change order stands when they are in. */
  readonly lsn: Lsn;
  readonly nextSerial: Serial;
  /** A part of the log that holds all versions of its positions; and from where on it is whole. */
  readonly versions?: readonly Version[];
  readonly versionsFrom?: Lsn;
}

/**
 * Forgetting a version is a small part of the work of purging an item, and as many come as are
 * written: so many count as one row of a pass.
 */
export const VERSIONS_PER_ROW = 8;

export interface Purge {
  readonly purged: number;
  readonly bytes: number;
  /** How many versions it has forgotten. */
  readonly trimmed?: number;
  readonly next: Instant | undefined;
}
/** One fuse as operators see it: when the item it belongs to is due under the rules asked about. */
export interface Expiry {
  readonly rule: string;
  readonly due: Instant;
  readonly serial: Serial;
  readonly bytes: number;
}
export interface ExpiryScan {
  /** The container's own rules, or others: what would happen if. */
  readonly rules: readonly ExpiryRule[];
  /** Only fuses due later than `since` and at or before `until`. */
  readonly since?: Instant;
  readonly until: Instant;
  readonly after: Resume | undefined;
  readonly rowsMax: number;
}

export interface Engine {
  // control plane
  containers(): Promise<readonly Container[]>;
  createContainer(container: Container): Promise<void>;
  alterContainer(container: Container): Promise<void>;
  /** Gone for readers when the promise resolves; the space comes back in the background. */
  dropContainer(id: string): Promise<void>;
  stats(container: Container): Promise<Stats>;
  /** Bytes on disk, or in memory where there is no disk. */
  size(): Promise<number>;
  // data plane
  get(
    container: Container,
    keys: readonly (ItemKey | Serial)[],
    at: Instant,
  ): Promise<{ readonly items: readonly (Item | undefined)[]; readonly lsn: Lsn }>;
  /** Throws `BadResume` for a resume point that no plan for this request has made. */
  plan(container: Container, request: ScanRequest): Plan;
  commit(
    container: Container,
    batches: readonly WriteBatch[],
    at: Instant,
  ): Promise<readonly WriteOutcome[]>;
  /**
   * All batches of all groups succeed or none do. Each container comes once. Decisions are made in
   * the order given, on what those before them have written.
   */
  commitTogether(groups: readonly WriteGroup[], at: Instant): Promise<TogetherOutcome>;
  /** All or nothing. An item with the same serial is replaced; versions are not kept of it. */
  restore(container: Container, restored: Restored): Promise<void>;
  /** Throws `BadResume` for a position that the container has not reached. */
  changes(container: Container, scan: ChangeScan, at: Instant, budget: Budget): Promise<Changes>;
  /**
   * Every version, for containers that keep them. Throws `BadResume` as above, and
   * `VersionsForgotten`. Absent where an engine keeps none.
   */
  versions?(container: Container, scan: ChangeScan, at: Instant, budget: Budget): Promise<Versions>;
  // expiry: of items, and of versions by their retention
  nextExpiry(container: Container): Promise<Instant | undefined>;
  purge(container: Container, at: Instant, rowsMax: number): Promise<Purge>;
  // for operators: these two also show items that are dead and not yet purged
  expiries(
    container: Container,
    scan: ExpiryScan,
  ): Promise<{ readonly expiries: readonly Expiry[]; readonly resume: Resume | undefined }>;
  inspect(container: Container, key: ItemKey | Serial): Promise<Item | undefined>;
  // life
  /**
   * Verifies that every item has all its entries and every entry its item; throws with what it
   * found.
   */
  check(): Promise<void>;
  close(): Promise<void>;
}
