// The change feed: what changed last in a container, page by page, each item as it is now.
import type { StoredContainer } from '../catalog/resources.js';
import { BadResume, type Changes, type Item, type Lsn } from '../engine/engine.js';
import { breathe } from '../time/clock.js';
import type { Instant } from '../time/instant.js';
import { failure } from '../value/errors.js';
import { type Documents, whileThere } from './documents.js';
import type { Scope } from './list.js';

export interface FeedPosition {
  /** All changes up to here have been passed. */
  readonly after: Lsn | 'now';
  /** While set, the feed still looks for its first change: one of this second or later. */
  readonly since: number | undefined;
}
export interface FeedPage {
  readonly items: readonly Item[];
  readonly next: FeedPosition & { readonly after: Lsn };
  /** Whether there is nothing more for now. */
  readonly isEnd: boolean;
  readonly lsn: Lsn;
}

const PAGE_BYTES_MAX = 4 * 1024 * 1024;
/** A page that finds nothing for so many batches says how far it came; the next one goes on. */
const BATCHES_MAX = 20;
const SEARCHED_PER_BATCH = 1000;

export function readFeed(
  documents: Documents,
  container: StoredContainer,
  scope: Scope,
  page: { readonly itemsMax: number; readonly from: FeedPosition },
  at: Instant,
): Promise<FeedPage> {
  const read: Read = (after, rowsMax, bytesMax) =>
    documents.engine.changes(container.engine, { ...scope, after }, at, { rowsMax, bytesMax });
  return whileThere(container, knownPosition(readPage(read, page.from, page.itemsMax)));
}

type Read = (after: Lsn | 'now', rowsMax: number, bytesMax: number) => Promise<Changes>;

async function readPage(read: Read, from: FeedPosition, itemsMax: number): Promise<FeedPage> {
  const { since } = from;
  const first = since === undefined ? from : await findStart(read, from.after, since);
  if ('items' in first) return first;
  const items: Item[] = [];
  let bytes = 0;
  let page: Changes | undefined;
  for (let count = 0; count < BATCHES_MAX; count++) {
    page = await read(page?.upTo ?? first.after, itemsMax - items.length, PAGE_BYTES_MAX - bytes);
    items.push(...page.items);
    bytes += page.items.reduce((sum, item) => sum + item.doc.bytes.length, 0);
    if (page.isEnd || items.length >= itemsMax || bytes >= PAGE_BYTES_MAX) break;
    await breathe();
  }
  const { upTo, isEnd, lsn } = page as Changes;
  return { items, next: { after: upTo, since: undefined }, isEnd, lsn };
}

/**
 * The position right before the first change of that second or later; or an empty page, where it
 * was not found yet. Clocks may be set back, so that later changes are not always younger: all that
 * comes behind the first one is shown, whatever its time.
 */
async function findStart(
  read: Read,
  from: Lsn | 'now',
  since: number,
): Promise<{ readonly after: Lsn } | FeedPage> {
  let page: Changes | undefined;
  for (let count = 0; count < BATCHES_MAX; count++) {
    page = await read(page?.upTo ?? from, SEARCHED_PER_BATCH, PAGE_BYTES_MAX);
    const found = page.items.find((item) => writtenSeconds(item) >= since);
    if (found) return { after: found.lsn - 1 };
    if (page.isEnd) break;
    await breathe();
  }
  const { upTo, isEnd, lsn } = page as Changes;
  return { items: [], next: { after: upTo, since }, isEnd, lsn };
}

function writtenSeconds(item: Item): number {
  return (item.doc.value as { readonly _ts: number })._ts;
}

/** Going on from a position of another container, or of one restored, would skip changes. */
export async function knownPosition<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof BadResume)) throw error;
    const why =
      'The position of the change feed (If-None-Match) is one that this container has not reached.';
    throw failure('invalidInput', { why });
  }
}
