// The store on disk: LMDB, with a journal in front (journaled.ts), because a commit of LMDB costs
// the same however small it is.
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase, type Transaction } from 'lmdb';
import { makeFolder } from './folder.js';
import { JournaledStore } from './journaled.js';
import { checkLmdbFile } from './lmdb-file.js';
import {
  type Entry,
  KEY_BYTES_MAX,
  type Key,
  type Reader,
  type Slab,
  type Snapshot,
  type Store,
  type Write,
} from './store.js';

const FILE = 'store.mdb';
/** Beside a store that is being made: until it is gone, the store's file may be empty. */
const MAKING = 'store.mdb.making';
/** Files that Mayfly itself keeps beside the store. */
const COMPANIONS = [
  /^store\.(mdb(-lock|\.making)?|journal-[12])$/,
  /^mayfly\.lock/,
  /^certificate(-key)?\.pem/,
];

export function openLmdb(folder: string): Store {
  refuseForeignFolder(folder);
  makeFolder(folder);
  const path = join(folder, FILE);
  const making = join(folder, MAKING);
  if (!existsSync(path)) writeFileSync(making, '');
  // Killed while it made its store, a server leaves an empty file, in which nothing is lost.
  else if (!existsSync(making) || statSync(path).size > 0) checkLmdbFile(path);
  const database = open<Buffer, Buffer>({
    path,
    noSubdir: true,
    keyEncoding: 'binary',
    encoding: 'binary',
    maxDbs: 1,
    // Commits wait for the disk, and start at once: grouping is the committer's job.
    overlappingSync: false,
    eventTurnBatching: false,
  });
  rmSync(making, { force: true });
  try {
    return new JournaledStore(new LmdbStore(database, path), folder);
  } catch (error) {
    void database.close();
    throw error;
  }
}

class LmdbReader implements Reader {
  readonly #database: RootDatabase<Buffer, Buffer>;
  /** Which moment is read; the latest where nothing is said. */
  readonly #moment: { readonly transaction?: Transaction };

  constructor(database: RootDatabase<Buffer, Buffer>, moment: { transaction?: Transaction } = {}) {
    this.#database = database;
    this.#moment = moment;
  }

  get(key: Key): Uint8Array | undefined {
    if (this.#moment.transaction) return this.#database.get(key, this.#moment);
    return this.#database.getBinary(key);
  }

  getInto(slab: Slab, key: Key): Uint8Array | undefined {
    if (this.#moment.transaction) return this.get(key);
    // What this gives is overwritten by the next read.
    const found = this.#database.getBinaryFast(key);
    return found && slab.copy(found, found.length);
  }

  has(key: Key): boolean {
    if (this.#moment.transaction) return this.get(key) !== undefined;
    return this.#database.doesExist(key);
  }

  range(from: Key, to: Key, limit: number): readonly Entry[] {
    if (limit <= 0) return [];
    const found = this.#database.getRange({ start: from, end: to, limit, ...this.#moment });
    return Array.from(found, ({ key, value }) => [key, value] as const);
  }

  keys(from: Key, to: Key, limit: number): readonly Key[] {
    if (limit <= 0) return [];
    const keys: Key[] = [];
    const range = { start: from, end: to, limit, ...this.#moment };
    for (const key of this.#database.getKeys(range)) keys.push(key);
    return keys;
  }

  keysDown(from: Key, to: Key, limit: number): readonly Key[] {
    if (limit <= 0) return [];
    // LMDB's own range down includes its start and excludes its end; ours is the other way round.
    const range = { start: to, reverse: true, limit: limit + 1, ...this.#moment };
    const keys: Key[] = [];
    for (const key of this.#database.getKeys(range)) {
      if (Buffer.compare(key, from) < 0 || keys.length >= limit) break;
      if (Buffer.compare(key, to) < 0) keys.push(key);
    }
    return keys;
  }

  keyAt(from: Key, to: Key, places: number): Key | undefined {
    if (Buffer.compare(from, to) >= 0) return undefined;
    const range = { start: from, end: to, offset: places, limit: 1, ...this.#moment };
    for (const key of this.#database.getKeys(range)) return key;
    return undefined;
  }

  count(from: Key, to: Key): number {
    if (Buffer.compare(from, to) >= 0) return 0;
    return this.#database.getKeysCount({ start: from, end: to, ...this.#moment });
  }
}

class LmdbStore extends LmdbReader implements Store {
  readonly #database: RootDatabase<Buffer, Buffer>;
  readonly #path: string;
  readonly #snapshots = new Set<Snapshot>();

  constructor(database: RootDatabase<Buffer, Buffer>, path: string) {
    super(database);
    this.#database = database;
    this.#path = path;
  }

  snapshot(): Snapshot {
    const transaction = this.#database.useReadTransaction();
    const snapshot: Snapshot = Object.assign(new LmdbReader(this.#database, { transaction }), {
      release: () => {
        if (this.#snapshots.delete(snapshot)) transaction.done();
      },
    });
    this.#snapshots.add(snapshot);
    return snapshot;
  }

  async write(writes: readonly Write[]): Promise<void> {
    try {
      await this.#database.batch(() => {
        for (const [key, value] of writes) {
          if (key.length > KEY_BYTES_MAX) throw new Error(`a key of ${key.length} bytes`);
          if (value === undefined) void this.#database.remove(key);
          else void this.#database.put(key, value as Buffer);
        }
      });
    } catch (error) {
      throw await reasonOf(error);
    }
  }

  async settle(): Promise<void> {}

  size(): number {
    return statSync(this.#path).size;
  }

  async close(): Promise<void> {
    for (const snapshot of this.#snapshots) snapshot.release();
    await this.#database.close();
  }
}

/** LMDB tells the reason in a promise beside the error; unheeded, it would end the process. */
async function reasonOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { readonly commitError?: Promise<never> };
  return commitError === undefined ? error : commitError.catch((reason: unknown) => reason);
}

/**
 * Nobody wants a database strewn into a folder of something else, such as a mistyped home
 * directory.
 */
function refuseForeignFolder(folder: string): void {
  if (!existsSync(folder)) return;
  if (!statSync(folder).isDirectory()) {
    throw new Error(`The data path ${folder} is a file; --data wants a folder.`);
  }
  const names = readdirSync(folder);
  if (names.includes(FILE)) return;
  const foreign = names.find((name) => !COMPANIONS.some((known) => known.test(name)));
  if (foreign === undefined) return;
  throw new Error(
    `The folder ${folder} is not empty and holds no Mayfly store (found '${foreign}'). ` +
      'Choose an empty or new folder with --data.',
  );
}
