// The model: what the time-to-live contract says, in the plainest words that can be run. It keeps
// every item in a map, looks at all of them for every question, and shares no code with the server.

export type Partition = string | number | boolean | null | undefined;
export type Body = Readonly<Record<string, unknown>> & { readonly id: string };
/** A patch sets the properties of its body and leaves the others as they are. */
export type Kind = 'create' | 'upsert' | 'replace' | 'patch';

export interface Kept {
  readonly partition: Partition;
  readonly id: string;
  readonly body: Body;
  readonly etag: string;
  /** `_ts`: whole seconds of the last write. */
  readonly seconds: number;
  /** The place in the order of creation. */
  readonly serial: number;
}
export interface Place {
  readonly partition: Partition;
  readonly id: string;
}
export interface Write extends Place {
  readonly kind: Kind;
  readonly body: Body;
  readonly ifMatch?: string | undefined;
}
export interface Removal extends Place {
  readonly ifMatch?: string | undefined;
}

const SECONDS_MAX = 2_147_483_647;

/** T20 and T21: what counts as a time to live. */
export function isTtlValue(value: unknown): value is number {
  return value === -1 || isSeconds(value);
}

function isSeconds(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= SECONDS_MAX;
}

export class ContainerModel {
  /** Lists of property paths; no two live items of a partition agree on all paths of a list. */
  readonly uniqueKeys: readonly (readonly string[])[];
  /** Undefined: time to live is off. */
  defaultTtl: number | undefined;
  #items = new Map<string, Kept>();
  #nextSerial = 1;

  constructor(
    defaultTtl: number | undefined,
    uniqueKeys: readonly (readonly string[])[],
    given?: { readonly items: Iterable<[string, Kept]>; readonly nextSerial: number },
  ) {
    this.defaultTtl = defaultTtl;
    this.uniqueKeys = uniqueKeys;
    if (given) {
      this.#items = new Map(given.items);
      this.#nextSerial = given.nextSerial;
    }
  }

  copy(): ContainerModel {
    const given = { items: this.#items, nextSerial: this.#nextSerial };
    return new ContainerModel(this.defaultTtl, this.uniqueKeys, given);
  }

  // time

  /** T1: the nine cells. Undefined: it lives for ever. */
  dueMs(item: Kept, defaultTtl: number | undefined = this.defaultTtl): number | undefined {
    return dueOf(item, defaultTtl);
  }

  /** T2: alive up to the millisecond before it is due. */
  isLive(item: Kept, nowMs: number): boolean {
    return livesUnder(item, this.defaultTtl, nowMs);
  }

  // reading

  /** Every item that is kept, dead ones included, in order of creation. */
  kept(): readonly Kept[] {
    return [...this.#items.values()].sort((a, b) => a.serial - b.serial);
  }

  live(nowMs: number): readonly Kept[] {
    return this.kept().filter((item) => this.isLive(item, nowMs));
  }

  expired(nowMs: number): readonly Kept[] {
    return this.kept().filter((item) => !this.isLive(item, nowMs));
  }

  find(place: Place, nowMs: number): Kept | undefined {
    const item = this.inspect(place);
    return item && this.isLive(item, nowMs) ? item : undefined;
  }

  /** Also an item that is dead and not yet purged. */
  inspect(place: Place): Kept | undefined {
    return this.#items.get(nameOf(place));
  }

  // writing: first the status it must have, then, if that is a success, the effect

  judgeWrite(write: Write, nowMs: number): number {
    if (write.kind === 'patch') return this.#judgePatch(write, nowMs);
    const says = Object.hasOwn(write.body, 'ttl');
    if (this.defaultTtl !== undefined && says && !isTtlValue(write.body.ttl)) return 400;
    const current = this.find(write, nowMs);
    if (write.kind === 'replace' && !current) return 404;
    if (current && !matches(write.ifMatch, current)) return 412;
    if (write.kind === 'create' && current) return 409;
    if (this.#rivals(write).some((rival) => this.isLive(rival, nowMs))) return 409;
    return current ? 200 : 201;
  }

  /** T10: an expired item is 404 first. What is judged then is the item that it becomes. */
  #judgePatch(patch: Write, nowMs: number): number {
    const current = this.find(patch, nowMs);
    if (!current) return 404;
    if (!matches(patch.ifMatch, current)) return 412;
    return this.judgeWrite({ ...merged(patch, current), kind: 'replace' }, nowMs);
  }

  /** T4: every write sets `_ts` to now. T11: dead items in the way make room. */
  applyWrite(given: Write, etag: string, nowMs: number): Kept {
    const current = this.find(given, nowMs);
    const write = given.kind === 'patch' && current ? merged(given, current) : given;
    for (const rival of this.#rivals(write)) this.forget(rival);
    const item: Kept = {
      partition: write.partition,
      id: write.id,
      body: write.body,
      etag,
      seconds: Math.floor(nowMs / 1000),
      serial: current?.serial ?? this.#nextSerial++,
    };
    this.#items.set(nameOf(write), item);
    return item;
  }

  judgeRemoval(removal: Removal, nowMs: number): number {
    const current = this.find(removal, nowMs);
    if (!current) return 404;
    return matches(removal.ifMatch, current) ? 204 : 412;
  }

  /** Takes an item out, whoever does it: a delete, a purge, a newcomer on its place. */
  forget(place: Place): void {
    this.#items.delete(nameOf(place));
  }

  /** T15: the oldest expiry first. Answers what is gone. */
  purge(nowMs: number, rowsMax = Number.POSITIVE_INFINITY): readonly Kept[] {
    const due = (item: Kept) => this.dueMs(item) ?? Number.POSITIVE_INFINITY;
    const oldest = [...this.expired(nowMs)].sort((a, b) => due(a) - due(b) || a.serial - b.serial);
    const gone = oldest.slice(0, rowsMax);
    for (const item of gone) this.forget(item);
    return gone;
  }

  /** The earliest instant at which anything kept is or was due. */
  nextDueMs(afterMs = Number.NEGATIVE_INFINITY): number | undefined {
    const dues = this.kept()
      .map((item) => this.dueMs(item))
      .filter((due) => due !== undefined && due > afterMs) as number[];
    return dues.length === 0 ? undefined : Math.min(...dues);
  }

  /** Other items of the partition, dead or alive, that hold one of the write's unique keys. */
  #rivals(write: Write): readonly Kept[] {
    return [...this.#items.values()].filter(
      (item) =>
        item.partition === write.partition &&
        item.id !== write.id &&
        this.uniqueKeys.some((paths) => valuesAt(item.body, paths) === valuesAt(write.body, paths)),
    );
  }
}

export function dueOf(item: Kept, defaultTtl: number | undefined): number | undefined {
  if (defaultTtl === undefined) return undefined;
  const { ttl } = item.body;
  if (ttl === -1) return undefined;
  if (isSeconds(ttl)) return (item.seconds + ttl) * 1000;
  if (defaultTtl === -1) return undefined;
  return (item.seconds + defaultTtl) * 1000;
}

export function livesUnder(item: Kept, defaultTtl: number | undefined, nowMs: number): boolean {
  const due = dueOf(item, defaultTtl);
  return due === undefined || nowMs < due;
}

function merged(patch: Write, current: Kept): Write {
  return { ...patch, body: { ...current.body, ...patch.body } };
}

function matches(ifMatch: string | undefined, current: Kept): boolean {
  return ifMatch === undefined || ifMatch === '*' || ifMatch === current.etag;
}

/** A number and its text are two keys, and so are a missing partition key and null. */
function nameOf({ partition, id }: Place): string {
  return JSON.stringify([partition === undefined ? {} : partition, id]);
}

/** A missing value counts as null. */
function valuesAt(body: Body, paths: readonly string[]): string {
  const values = paths.map((path) => {
    let value: unknown = body;
    for (const name of path.split('/').slice(1)) {
      value = (value as Record<string, unknown> | null | undefined)?.[name];
    }
    return value ?? null;
  });
  return JSON.stringify(values);
}
