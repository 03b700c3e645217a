// What is small and belongs to a database, a container or a user: users, their permissions, client
// encryption keys, scripts. All of it is cached, by owner and id and by number, as tokens name
// permissions.
import type { Serial } from '../engine/engine.js';
import type { Instant } from '../time/instant.js';
import { failure } from '../value/errors.js';
import type { CatalogChange, CatalogRecord, CatalogStore, Kept } from './catalog-store.js';
import type { EncryptionKey } from './definition/encryption-key.js';
import type { Permission } from './definition/permission.js';
import type { ScriptBody, TriggerBody } from './definition/script-definition.js';
import type { Resource } from './resources.js';

/** What each kind holds beside its id. */
export interface BelongingBodies {
  readonly user: Readonly<Record<string, never>>;
  readonly permission: Permission;
  readonly encryptionKey: EncryptionKey;
  readonly procedure: ScriptBody;
  readonly trigger: TriggerBody;
  readonly function: ScriptBody;
}
export type BelongingKind = keyof BelongingBodies;

export interface Belonging<K extends BelongingKind = BelongingKind> extends Resource {
  readonly kind: K;
  readonly database: Serial;
  readonly owner: Serial;
  readonly id: string;
  readonly body: BelongingBodies[K];
}

export interface Draft<K extends BelongingKind> {
  readonly kind: K;
  readonly database: Serial;
  readonly owner: Serial;
  readonly id: string;
  readonly body: BelongingBodies[K];
  /** Whether another one of the same owner leaves no room for this one. */
  readonly clashes?: (other: Belonging<K>) => boolean;
}

interface Surroundings {
  readonly store: CatalogStore;
  /** Carries out one change after another. */
  change<T>(work: () => Promise<T>): Promise<T>;
  /** Whether a database or container is still there. */
  isThere(owner: Serial): boolean;
}

const BELONGINGS_MAX = 100_000;
const COMMIT_MAX = 100;
const PER_OWNER_MAX: Readonly<Record<BelongingKind, number>> = {
  user: BELONGINGS_MAX,
  permission: BELONGINGS_MAX,
  encryptionKey: 20,
  procedure: 100,
  trigger: 25,
  function: 50,
};
const PLURALS: Readonly<Record<BelongingKind, string>> = {
  user: 'users',
  permission: 'permissions',
  encryptionKey: 'client encryption keys in the database',
  procedure: 'stored procedures in the container',
  trigger: 'triggers in the container',
  function: 'user-defined functions in the container',
};

export class Belongings {
  readonly #around: Surroundings;
  readonly #bySerial = new Map<Serial, Belonging>();
  readonly #byOwner = new Map<string, Map<string, Belonging>>();

  constructor(around: Surroundings) {
    this.#around = around;
  }

  // reading: from the cache, at once

  of<K extends BelongingKind>(kind: K, owner: Serial): readonly Belonging<K>[] {
    return [...(this.#byOwner.get(place(kind, owner))?.values() ?? [])] as Belonging<K>[];
  }

  find<K extends BelongingKind>(kind: K, owner: Serial, id: string): Belonging<K> | undefined {
    return this.#byOwner.get(place(kind, owner))?.get(id) as Belonging<K> | undefined;
  }

  numbered<K extends BelongingKind>(kind: K, serial: Serial): Belonging<K> | undefined {
    const found = this.#bySerial.get(serial);
    return found?.kind === kind ? (found as Belonging<K>) : undefined;
  }

  // changing: one at a time

  create<K extends BelongingKind>(draft: Draft<K>, at: Instant): Promise<Belonging<K>> {
    return this.#around.change(() => this.#create(draft, at));
  }

  /** May give it another id. */
  replace<K extends BelongingKind>(
    belonging: Belonging<K>,
    draft: Draft<K>,
    ifMatch: string | undefined,
    at: Instant,
  ): Promise<Belonging<K>> {
    return this.#around.change(() => this.#replace(this.#current(belonging), draft, ifMatch, at));
  }

  upsert<K extends BelongingKind>(
    draft: Draft<K>,
    ifMatch: string | undefined,
    at: Instant,
  ): Promise<{ readonly written: Belonging<K>; readonly created: boolean }> {
    return this.#around.change(async () => {
      const current = this.find(draft.kind, draft.owner, draft.id);
      const written = current
        ? await this.#replace(current, draft, ifMatch, at)
        : await this.#create(draft, at);
      return { written, created: current === undefined };
    });
  }

  /** With all that belongs to it. */
  remove(belonging: Belonging, ifMatch: string | undefined, at: Instant): Promise<void> {
    return this.#around.change(async () => {
      const current = this.#current(belonging);
      checkMatch(current, ifMatch);
      await this.#discard([current, ...this.#under(current.serial)], at);
    });
  }

  // for the catalog, whose own changes these are part of

  remember(record: Kept<BelongingRecord>): Belonging {
    const { sort: kind, database, owner, id, body, etag, writtenSeconds } = record;
    const serial = record.number ?? record.serial;
    const system = { serial, etag, writtenSeconds, database, owner };
    const belonging = { kind, ...system, id, body } as Belonging;
    const before = this.#bySerial.get(belonging.serial);
    if (before) this.#forget(before);
    this.#bySerial.set(belonging.serial, belonging);
    const name = place(kind, belonging.owner);
    const siblings = this.#byOwner.get(name) ?? new Map<string, Belonging>();
    this.#byOwner.set(name, siblings.set(belonging.id, belonging));
    return belonging;
  }

  clear(): void {
    this.#bySerial.clear();
    this.#byOwner.clear();
  }

  /** All that belongs to a database or a container which is gone. */
  sweep(owner: Serial, at: Instant): Promise<void> {
    return this.#discard(this.#under(owner), at);
  }

  /** What was left to sweep when the server stopped. */
  sweepOrphans(at: Instant): Promise<void> {
    const owners = new Set([...this.#bySerial.values()].map(({ owner }) => owner));
    for (const owner of owners) if (this.#isThere(owner)) owners.delete(owner);
    return this.#discard(
      this.#where(({ owner, database }) => owners.has(owner) || owners.has(database)),
      at,
    );
  }

  /** In commits that hold up nobody. */
  async #discard(gone: readonly Belonging[], at: Instant): Promise<void> {
    for (let start = 0; start < gone.length; start += COMMIT_MAX) {
      const some = gone.slice(start, start + COMMIT_MAX);
      await this.#around.store.write(some.map(removal), at);
      for (const each of some) this.#forget(each);
    }
  }

  async #create<K extends BelongingKind>(draft: Draft<K>, at: Instant): Promise<Belonging<K>> {
    const { kind, owner } = draft;
    if (!this.#isThere(owner)) throw failure('ownerNotFound', { owner: '' });
    this.#checkRoom(kind, owner);
    this.#checkClash(draft, undefined);
    return this.#write(draft, undefined, at);
  }

  async #replace<K extends BelongingKind>(
    current: Belonging<K>,
    draft: Draft<K>,
    ifMatch: string | undefined,
    at: Instant,
  ): Promise<Belonging<K>> {
    checkMatch(current, ifMatch);
    this.#checkClash(draft, current);
    return this.#write(draft, current, at);
  }

  /** Another id makes another record, which keeps the number of the one before. */
  async #write<K extends BelongingKind>(
    draft: Draft<K>,
    before: Belonging<K> | undefined,
    at: Instant,
  ): Promise<Belonging<K>> {
    const { kind: sort, database, owner, id, body } = draft;
    const number = before ? { number: before.serial } : {};
    const record = { kind: 'belonging', sort, database, owner, id, body, ...number } as const;
    const change = { name: nameOf(draft), record: () => record };
    const isRenamed = before !== undefined && before.id !== id;
    const changes = isRenamed ? [removal(before), change] : [change];
    const [kept] = await this.#around.store.write(changes, at);
    return this.remember(kept as Kept<BelongingRecord>) as Belonging<K>;
  }

  #current<K extends BelongingKind>(belonging: Belonging<K>): Belonging<K> {
    const current = this.#bySerial.get(belonging.serial);
    if (!current) throw failure('notFound');
    return current as Belonging<K>;
  }

  #checkClash<K extends BelongingKind>(draft: Draft<K>, own: Belonging<K> | undefined): void {
    const { kind, owner, id, clashes } = draft;
    const same = this.find(kind, owner, id);
    if (same && same.serial !== own?.serial) throw failure('resourceConflict');
    if (!clashes) return;
    const others = this.of(kind, owner).filter((each) => each.serial !== own?.serial);
    if (others.some(clashes)) throw failure('resourceConflict');
  }

  #isThere(owner: Serial): boolean {
    return this.#bySerial.has(owner) || this.#around.isThere(owner);
  }

  #checkRoom(kind: BelongingKind, owner: Serial): void {
    const siblings = this.#byOwner.get(place(kind, owner))?.size ?? 0;
    const limit = PER_OWNER_MAX[kind];
    if (siblings < limit && this.#bySerial.size < BELONGINGS_MAX) return;
    throw failure('limitReached', { limit, what: PLURALS[kind] });
  }

  #forget({ kind, serial, owner, id }: Belonging): void {
    this.#bySerial.delete(serial);
    const name = place(kind, owner);
    const siblings = this.#byOwner.get(name);
    siblings?.delete(id);
    if (siblings?.size === 0) this.#byOwner.delete(name);
  }

  #under(owner: Serial): readonly Belonging[] {
    return this.#where((each) => each.database === owner || each.owner === owner);
  }

  #where(which: (belonging: Belonging) => boolean): readonly Belonging[] {
    return [...this.#bySerial.values()].filter(which);
  }
}

export type BelongingRecord = Extract<CatalogRecord, { readonly kind: 'belonging' }>;

const place = (kind: BelongingKind, owner: Serial): string => `${kind}/${owner}`;
/** Servers that share a store find out by it that a name is taken. */
const nameOf = ({ kind, owner, id }: Pick<Belonging, 'kind' | 'owner' | 'id'>): string =>
  `belonging/${kind}/${owner}/${id}`;
const removal = (belonging: Pick<Belonging, 'kind' | 'owner' | 'id'>): CatalogChange => ({
  name: nameOf(belonging),
  remove: true,
});

function checkMatch({ etag }: Belonging, ifMatch: string | undefined): void {
  if (ifMatch !== undefined && ifMatch !== '*' && ifMatch !== etag) {
    throw failure('preconditionFailed');
  }
}
