// Looks at an LMDB file before LMDB maps it into memory: a foreign, cut or overwritten file would
// otherwise crash the process at the first read instead of being refused with a message.
//
// The file begins with two meta pages, written in turn; the one with the higher transaction is
// current:
//   24 magic (4)   28 version (4)   48 page size (4)   88 root of the tree of free pages (8)
//   136 root of the main tree (8)   144 last page (8)   152 transaction (8)
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { hasAllPages, NO_PAGE } from './lmdb-pages.js';

const MAGIC = 0xbeefc0de;
const HEADER_BYTES = 160;
const PAGE_SIZES = { min: 512, max: 65_536 };

export function checkLmdbFile(path: string): void {
  const file = openSync(path, 'r');
  try {
    const size = fstatSync(file).size;
    if (size === 0) throw refuse(path, 'it is empty');
    const first = readMeta(file, 0);
    if (!first) throw refuse(path, 'it is not an LMDB file');
    const second = readMeta(file, first.pageSize);
    if (!second) throw refuse(path, 'its second meta page is missing or overwritten');
    const current = second.transaction > first.transaction ? second : first;
    const bytes = (current.lastPage + 1n) * BigInt(current.pageSize);
    if (bytes > BigInt(size) && !isWhole(file, size, current)) {
      throw refuse(path, `it is cut off at ${size} of ${bytes} bytes`);
    }
    if (current.root !== NO_PAGE) checkRoot(file, path, current);
  } finally {
    closeSync(file);
  }
}

interface Meta {
  readonly pageSize: number;
  readonly freeRoot: bigint;
  readonly root: bigint;
  readonly lastPage: bigint;
  readonly transaction: bigint;
}

function readMeta(file: number, at: number): Meta | undefined {
  const page = Buffer.alloc(HEADER_BYTES);
  if (readSync(file, page, 0, HEADER_BYTES, at) < HEADER_BYTES) return undefined;
  if (page.readUInt32LE(24) !== MAGIC) return undefined;
  const pageSize = page.readUInt32LE(48);
  if (pageSize < PAGE_SIZES.min || pageSize > PAGE_SIZES.max) return undefined;
  return {
    pageSize,
    freeRoot: page.readBigUInt64LE(88),
    root: page.readBigUInt64LE(136),
    lastPage: page.readBigUInt64LE(144),
    transaction: page.readBigUInt64LE(152),
  };
}

/** Reads every page of the trees, and so is for the rare file that is shorter than it says. */
function isWhole(file: number, size: number, meta: Meta): boolean {
  const pages = { file, pageSize: meta.pageSize, count: BigInt(size) / BigInt(meta.pageSize) };
  return hasAllPages(pages, [meta.freeRoot, meta.root]);
}

/** Every page begins with its own number. */
function checkRoot(file: number, path: string, meta: Meta): void {
  const number = Buffer.alloc(8);
  readSync(file, number, 0, 8, Number(meta.root) * meta.pageSize);
  if (meta.root > meta.lastPage || number.readBigUInt64LE() !== meta.root) {
    throw refuse(path, 'the root of its tree is overwritten');
  }
}

function refuse(path: string, why: string): Error {
  return new Error(
    `The store ${path} is damaged or not Mayfly's: ${why}. It was left as it is; ` +
      'restore it from a backup, or choose another folder with --data.',
  );
}
