// The store on disk: LMDB. A write is acknowledged after fsync; many writes share one transaction.
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { checkLmdbFile } from './lmdb-file.js';
import { type Entry, KEY_BYTES_MAX, type Key, type Slab, type Store, type Write } from './store.js';

const FILE = 'store.mdb';
/** Beside a store that is being made: until it is gone, the store's file may be empty. */
const MAKING = 'store.mdb.making';
/** Files that Mayfly itself keeps beside the store. */
const COMPANIONS = [/^store\.mdb(-lock|\.making)?$/, /^mayfly\.lock/, /^certificate(-key)?\.pem/];

export function openLmdb(folder: string): Store {
  refuseForeignFolder(folder);
  mkdirSync(folder, { recursive: true });
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
  return new LmdbStore(database, path);
}

class LmdbStore implements Store {
  readonly #database: RootDatabase<Buffer, Buffer>;
  readonly #path: string;

  constructor(database: RootDatabase<Buffer, Buffer>, path: string) {
    this.#database = database;
    this.#path = path;
  }

  get(key: Key): Uint8Array | undefined {
    return this.#database.getBinary(key);
  }

  getInto(slab: Slab, key: Key): Uint8Array | undefined {
    // What this gives is overwritten by the next read.
    const found = this.#database.getBinaryFast(key);
    return found && slab.copy(found, found.length);
  }

  range(from: Key, to: Key, limit: number): readonly Entry[] {
    if (limit <= 0) return [];
    const found = this.#database.getRange({ start: from, end: to, limit });
    return Array.from(found, ({ key, value }) => [key, value] as const);
  }

  keys(from: Key, to: Key, limit: number): readonly Key[] {
    if (limit <= 0) return [];
    return Array.from(this.#database.getKeys({ start: from, end: to, limit }));
  }

  keysDown(from: Key, to: Key, limit: number): readonly Key[] {
    if (limit <= 0) return [];
    // LMDB's own range down includes its start and excludes its end; ours is the other way round.
    const found = this.#database.getKeys({ start: to, reverse: true, limit: limit + 1 });
    const keys: Key[] = [];
    for (const key of found) {
      if (Buffer.compare(key, from) < 0 || keys.length >= limit) break;
      if (Buffer.compare(key, to) < 0) keys.push(key);
    }
    return keys;
  }

  keyAt(from: Key, to: Key, places: number): Key | undefined {
    if (Buffer.compare(from, to) >= 0) return undefined;
    const found = this.#database.getKeys({ start: from, end: to, offset: places, limit: 1 });
    for (const key of found) return key;
    return undefined;
  }

  count(from: Key, to: Key): number {
    if (Buffer.compare(from, to) >= 0) return 0;
    return this.#database.getKeysCount({ start: from, end: to });
  }

  async write(writes: Iterable<Write>): Promise<void> {
    await this.#database.batch(() => {
      for (const [key, value] of writes) {
        if (key.length > KEY_BYTES_MAX) throw new Error(`a key of ${key.length} bytes`);
        if (value === undefined) void this.#database.remove(key);
        else void this.#database.put(key, value as Buffer);
      }
    });
  }

  size(): number {
    return statSync(this.#path).size;
  }

  async close(): Promise<void> {
    await this.#database.close();
  }
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
