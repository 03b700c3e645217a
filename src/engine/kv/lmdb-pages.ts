// Finds whether all pages that the trees of an LMDB file refer to are inside the file. A sound file
// may end before its last page: one that a transaction took and gave back was never written. So
// only a walk can tell such a file from one that was cut off.
//
// A page: 0 its number (8)   18 flags (2)   20 end of its offsets (2)   24 offsets of nodes (2)
// A node, at 24 + its offset: 0 low, 2 high, 4 flags, 6 bytes of its key (2 each)   8 key and data.
// In a branch the first three are the number of the page below. In a leaf the flags tell whether
// the data is a record of a tree, whose root is at 40, or is on pages of its own:
// 0 their first number (8)   16 how many (8).
import { readSync } from 'node:fs';

export const NO_PAGE = 0xffff_ffff_ffff_ffffn;

const HEADER_BYTES = 24;
const NODE_BYTES = 8;
const PAGE = { branch: 0x01, leaf: 0x02, fixedLeaf: 0x20 };
const NODE = { onOwnPages: 0x01, isTree: 0x02 };
const ROOT_IN_TREE = 40;
/** Beyond all that page numbers of 48 bits can make; a loop of pages ends here. */
const DEPTH_MAX = 32;

export interface Pages {
  readonly file: number;
  readonly pageSize: number;
  /** How many whole pages the file has. */
  readonly count: bigint;
}

/** False where a page is missing, or is not what the page above it says. */
export function hasAllPages(pages: Pages, roots: readonly bigint[]): boolean {
  return roots.every((root) => root === NO_PAGE || hasTree(pages, root, 0));
}

function hasTree(pages: Pages, number: bigint, depth: number): boolean {
  const page = depth < DEPTH_MAX ? readPage(pages, number) : undefined;
  if (!page) return false;
  const flags = page.readUInt16LE(18);
  // Fixed leaves hold keys only, which refer to nothing.
  if (flags & PAGE.fixedLeaf) return true;
  const below = flags & PAGE.branch ? hasBranch : flags & PAGE.leaf ? hasLeaf : undefined;
  if (!below) return false;
  const nodes = page.readUInt16LE(20) >> 1;
  for (let index = 0; index < nodes; index++) {
    const at = HEADER_BYTES + page.readUInt16LE(HEADER_BYTES + 2 * index);
    if (at + NODE_BYTES > page.length || !below(pages, page, at, depth)) return false;
  }
  return true;
}

function hasBranch(pages: Pages, page: Buffer, at: number, depth: number): boolean {
  return hasTree(pages, BigInt(page.readUIntLE(at, 6)), depth + 1);
}

function hasLeaf(pages: Pages, page: Buffer, at: number, depth: number): boolean {
  const flags = page.readUInt16LE(at + 4);
  if (!(flags & (NODE.isTree | NODE.onOwnPages))) return true;
  const data = at + NODE_BYTES + page.readUInt16LE(at + 6);
  if (data + (flags & NODE.isTree ? ROOT_IN_TREE + 8 : 24) > page.length) return false;
  if (flags & NODE.isTree) {
    const root = page.readBigUInt64LE(data + ROOT_IN_TREE);
    return root === NO_PAGE || hasTree(pages, root, depth + 1);
  }
  return page.readBigUInt64LE(data) + page.readBigUInt64LE(data + 16) <= pages.count;
}

function readPage(pages: Pages, number: bigint): Buffer | undefined {
  if (number >= pages.count) return undefined;
  const page = Buffer.allocUnsafe(pages.pageSize);
  readSync(pages.file, page, 0, pages.pageSize, Number(number) * pages.pageSize);
  return page.readBigUInt64LE(0) === number ? page : undefined;
}
