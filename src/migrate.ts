// Copies a store into another one: all containers with their items as they are, the catalog among
// them, and the log of all versions where it is kept. A copy that was broken off goes on where the
// target stands, and at the end both are read and compared.
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Container, Engine, Item, ItemKey, Version } from './engine/engine.js';
import { openKvEngine } from './engine/kv/kv-engine.js';
import { openLmdb } from './engine/kv/lmdb.js';
import { lockFolder } from './engine/kv/lock.js';
import { openPostgres } from './engine/postgres/postgres-engine.js';
import { systemClock } from './time/clock.js';
import { systemEntropy } from './time/entropy.js';
import { instant } from './time/instant.js';

export interface Migration {
  /** A folder, or `postgres://…`. */
  readonly from: string;
  readonly to: string;
  readonly progress: (progress: Progress) => void;
}
export interface Progress {
  readonly phase: 'copying' | 'verifying';
  readonly container: string;
  readonly containers: number;
  readonly index: number;
  readonly items: number;
  readonly itemsAll: number;
}
export interface Migrated {
  readonly containers: number;
  readonly items: number;
  readonly bytes: number;
  readonly versions: number;
  /** Of all items and versions of all containers, as they changed; the same on both sides. */
  readonly checksum: string;
}

const PAGE = { rowsMax: 500, bytesMax: 8_000_000 };
const CATALOG = 'catalog';

export async function migrate({ from, to, progress }: Migration): Promise<Migrated> {
  if (from === to) throw new Error('--from and --to are the same store.');
  const closing: (() => Promise<void> | void)[] = [];
  try {
    const source = await openStore(from, closing);
    const target = await openStore(to, closing);
    const containers = inOrder(await source.containers());
    await prepare(target, containers);
    for (const [index, container] of containers.entries()) {
      await copy(source, target, container, (items, itemsAll) =>
        progress({
          ...{ phase: 'copying', container: container.id, containers: containers.length },
          ...{ index, items, itemsAll },
        }),
      );
    }
    return await verify(source, target, containers, progress);
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

async function openStore(place: string, closing: (() => Promise<void> | void)[]): Promise<Engine> {
  const { wall } = systemClock();
  const { uuid, fraction } = systemEntropy();
  if (/^postgres(ql)?:/.test(place)) {
    const { engine, presence } = await openPostgres({ url: place, server: uuid(), fraction, wall });
    closing.push(() => engine.close());
    if (presence.others > 0)
      throw new Error('Servers are running over the database; stop them first.');
    return engine;
  }
  const lock = lockFolder(place, { startedAt: new Date(wall()).toISOString() });
  closing.push(() => lock.release());
  const engine = await openKvEngine(openLmdb(place));
  closing.push(() => engine.close());
  return engine;
}

/** The catalog first: a server that starts too early then knows what the other containers are. */
function inOrder(containers: readonly Container[]): readonly Container[] {
  const isCatalog = ({ id }: Container) => id === CATALOG;
  return [...containers.filter(isCatalog), ...containers.filter((each) => !isCatalog(each))];
}

async function prepare(target: Engine, containers: readonly Container[]): Promise<void> {
  const there = new Map((await target.containers()).map((each) => [each.id, each]));
  const known = new Set(containers.map(({ id }) => id));
  for (const id of there.keys()) {
    if (known.has(id)) continue;
    throw new Error(`The target holds something else: container '${id}' is not in the source.`);
  }
  for (const container of containers) {
    const made = there.get(container.id);
    if (!made) await target.createContainer(container);
    else if (!isDeepStrictEqual(plain(made), plain(container)))
      await target.alterContainer(container);
  }
}

function plain(container: Container): unknown {
  return JSON.parse(JSON.stringify(container));
}

async function copy(
  source: Engine,
  target: Engine,
  container: Container,
  report: (items: number, itemsAll: number) => void,
): Promise<void> {
  const { nextSerial, items: itemsAll, lsn } = await source.stats(container);
  const reached = await target.stats(container);
  let copied = reached.items;
  report(copied, itemsAll);
  for await (const { items, upTo } of pages(source, container, reached.lsn)) {
    // What serials are still to come is known only at the end.
    const last = Math.max(1, ...items.map(({ serial }) => serial + 1));
    await target.restore(container, {
      items,
      lsn: upTo,
      nextSerial: upTo >= lsn ? nextSerial : last,
    });
    copied += items.length;
    report(copied, itemsAll);
  }
  await target.restore(container, { items: [], lsn, nextSerial });
  await copyVersions(source, target, container);
}

/** The log comes last: by then the change order of the target is as far as that of the source. */
async function copyVersions(source: Engine, target: Engine, container: Container): Promise<void> {
  const { lsn, nextSerial, versionsFrom } = await source.stats(container);
  if (versionsFrom === undefined) return;
  const about = { items: [], lsn, nextSerial, versionsFrom };
  let reached = versionsFrom;
  if ((await target.stats(container)).versionsFrom === versionsFrom) {
    for await (const { versions } of versionPages(target, container, versionsFrom)) {
      reached = versions.at(-1)?.lsn ?? reached;
    }
  }
  await target.restore(container, about);
  for await (const { versions } of versionPages(source, container, reached)) {
    await target.restore(container, { ...about, versions });
  }
}

/** All that are kept, however old: whether they are too old is for their readers to ask. */
async function* versionPages(engine: Engine, container: Container, start: number) {
  for (let after = start; ; ) {
    const scan = { partition: undefined, span: undefined, after };
    const page = await engine.versions?.(container, scan, instant(0), PAGE);
    if (!page) return;
    if (page.versions.length > 0) yield page;
    if (page.isEnd) return;
    after = page.upTo;
  }
}

/** In the order they changed, dead ones included: without rules nothing dies. */
async function* pages(engine: Engine, container: Container, start: number) {
  const immortal = { ...container, expiry: [] };
  const { now } = systemClock();
  for (let after = start; ; ) {
    const scan = { partition: undefined, span: undefined, after };
    const page = await engine.changes(immortal, scan, now(), PAGE);
    if (page.items.length > 0) yield page;
    if (page.isEnd) return;
    after = page.upTo;
  }
}

async function verify(
  source: Engine,
  target: Engine,
  containers: readonly Container[],
  progress: Migration['progress'],
): Promise<Migrated> {
  const sum = createHash('sha256');
  const total = { items: 0, bytes: 0, versions: 0 };
  for (const [index, container] of containers.entries()) {
    const { items: itemsAll, bytes } = await source.stats(container);
    const about = {
      phase: 'verifying',
      container: container.id,
      containers: containers.length,
    } as const;
    const report = (items: number) => progress({ ...about, index, items, itemsAll });
    const wanted = await checksumOf(source, container, () => undefined);
    const found = await checksumOf(target, container, report);
    if (!isDeepStrictEqual(wanted, found)) {
      throw new Error(
        `Container '${container.id}' differs: ${told(wanted)} in the source, ${told(found)} in the target. Was it written meanwhile?`,
      );
    }
    sum.update(wanted.checksum);
    total.items += wanted.items;
    total.bytes += bytes;
    total.versions += wanted.versions;
  }
  return { containers: containers.length, ...total, checksum: sum.digest('hex') };
}

interface Sum {
  readonly items: number;
  readonly versions: number;
  readonly checksum: string;
}

function told({ items, versions, checksum }: Sum): string {
  return `${items} items and ${versions} versions with checksum ${checksum}`;
}

async function checksumOf(
  engine: Engine,
  container: Container,
  report: (items: number) => void,
): Promise<Sum> {
  const hash = createHash('sha256');
  let [items, versions] = [0, 0];
  for await (const page of pages(engine, container, 0)) {
    for (const item of page.items) addTo(hash, item);
    items += page.items.length;
    report(items);
  }
  const { versionsFrom, nextSerial, lsn } = await engine.stats(container);
  hash.update(JSON.stringify([nextSerial, lsn, versionsFrom ?? -1]));
  if (versionsFrom !== undefined) {
    for await (const page of versionPages(engine, container, versionsFrom)) {
      for (const version of page.versions) addVersionTo(hash, version);
      versions += page.versions.length;
    }
  }
  return { items, versions, checksum: hash.digest('hex') };
}

function addVersionTo(hash: ReturnType<typeof createHash>, version: Version): void {
  const { kind, key, serial, lsn, at, previous, expired, doc = previous?.doc } = version;
  const about = [kind, plainKey(key), serial, lsn, at, previous?.lsn ?? 0, expired];
  hash.update(JSON.stringify([about, doc?.bytes.length]));
  if (doc) hash.update(doc.bytes);
}

function plainKey({ partition, id }: ItemKey): unknown {
  return [partition.map((part) => (part === undefined ? {} : part)), id];
}

function addTo(
  hash: ReturnType<typeof createHash>,
  { key, serial, lsn, etag, fuses, doc }: Item,
): void {
  const fused = [...fuses].sort((a, b) => a.at - b.at || (a.rule < b.rule ? -1 : 1));
  hash.update(JSON.stringify([plainKey(key), serial, lsn, etag, fused, doc.bytes.length]));
  hash.update(doc.bytes);
}
