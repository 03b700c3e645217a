// All versions and deletes of a container that keeps them, page by page.
import type { StoredContainer } from '../catalog/resources.js';
import { type Lsn, type Version, type Versions, VersionsForgotten } from '../engine/engine.js';
import { breathe } from '../time/clock.js';
import type { Instant } from '../time/instant.js';
import { failure } from '../value/errors.js';
import { type Documents, whileThere } from './documents.js';
import { knownPosition } from './feed.js';
import type { Scope } from './list.js';

const PAGE_BYTES_MAX = 4 * 1024 * 1024;
/** A page that finds nothing for so many batches says how far it came; the next one goes on. */
const BATCHES_MAX = 20;

export function readVersions(
  documents: Documents,
  container: StoredContainer,
  scope: Scope,
  page: { readonly itemsMax: number; readonly after: Lsn | 'now' },
  at: Instant,
): Promise<Versions> {
  if (container.engine.retentionMs === undefined) throw failure('versionsNotKept');
  const { engine } = documents;
  if (!engine.versions) {
    const what = 'The change feed of all versions and deletes in this store';
    throw failure('notSupported', { what, hint: '' });
  }
  const read = (after: Lsn | 'now', rowsMax: number, bytesMax: number) =>
    (engine as Required<typeof engine>).versions(container.engine, { ...scope, after }, at, {
      rowsMax,
      bytesMax,
    });
  return whileThere(container, knownPosition(kept(readPage(read, page.after, page.itemsMax))));
}

async function readPage(
  read: (after: Lsn | 'now', rowsMax: number, bytesMax: number) => Promise<Versions>,
  from: Lsn | 'now',
  itemsMax: number,
): Promise<Versions> {
  const versions: Version[] = [];
  let bytes = 0;
  let page: Versions | undefined;
  for (let count = 0; count < BATCHES_MAX; count++) {
    const left = itemsMax - versions.length;
    page = await read(page?.upTo ?? from, left, PAGE_BYTES_MAX - bytes);
    versions.push(...page.versions);
    for (const { doc, previous } of page.versions) {
      bytes += (doc?.bytes.length ?? 0) + (previous?.doc?.bytes.length ?? 0);
    }
    if (page.isEnd || versions.length >= itemsMax || bytes >= PAGE_BYTES_MAX) break;
    await breathe();
  }
  return { ...(page as Versions), versions };
}

async function kept<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof VersionsForgotten ? failure('outsideRetention') : error;
  }
}
