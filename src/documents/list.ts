// Listing items page by page. A page ends at its item count, its size or its share of time, and
// says where to go on.
import type { StoredContainer } from '../catalog/resources.js';
import {
  BadResume,
  type EpkSpan,
  type Item,
  type Lsn,
  type Plan,
  type Resume,
} from '../engine/engine.js';
import { breathe } from '../time/clock.js';
import type { Instant } from '../time/instant.js';
import { failure } from '../value/errors.js';
import type { PartitionKey } from '../value/partition-key.js';
import { decodeContinuation, encodeContinuation } from './continuation.js';
import { type Documents, whileThere } from './documents.js';

export interface Scope {
  readonly partition: PartitionKey | undefined;
  readonly span: EpkSpan | undefined;
}
export interface Page {
  readonly items: readonly Item[];
  readonly continuation: string | undefined;
  readonly lsn: Lsn;
}

const PAGE_BYTES_MAX = 4 * 1024 * 1024;
/**
 * A page over a backlog of dead items stops looking after this many batches; the next page goes on.
 */
const BATCHES_MAX = 20;

export function listItems(
  documents: Documents,
  container: StoredContainer,
  scope: Scope,
  page: { readonly itemsMax: number; readonly continuation: string | undefined },
  at: Instant,
): Promise<Page> {
  return whileThere(container, readPage(documents, container, scope, page, at));
}

async function readPage(
  documents: Documents,
  container: StoredContainer,
  scope: Scope,
  page: { readonly itemsMax: number; readonly continuation: string | undefined },
  at: Instant,
): Promise<Page> {
  // Without the span: when a range is split, the token of the parent is good for its children.
  const tag = `${container.serial} ${JSON.stringify([scope.partition])}`;
  const request = { filter: undefined, order: [], limit: undefined, ...scope };
  let resume: Resume | undefined =
    page.continuation === undefined
      ? undefined
      : (decodeContinuation(page.continuation, tag) as Resume);
  const items: Item[] = [];
  let bytes = 0;
  let lsn = 0;
  for (let count = 0; count < BATCHES_MAX; count++) {
    const budget = { rowsMax: page.itemsMax - items.length, bytesMax: PAGE_BYTES_MAX - bytes };
    const plan = planned(() =>
      documents.engine.plan(container.engine, { after: resume, ...request }),
    );
    for await (const batch of plan.run(at, budget)) {
      items.push(...batch.items);
      bytes += batch.items.reduce((sum, item) => sum + item.doc.bytes.length, 0);
      ({ resume, lsn } = batch);
      break;
    }
    if (resume === undefined || items.length >= page.itemsMax || bytes >= PAGE_BYTES_MAX) break;
    await breathe();
  }
  return { items, continuation: resume && encodeContinuation(resume, tag), lsn };
}

/** A token that passes its check but leads nowhere in this scope is junk all the same. */
function planned(plan: () => Plan): Plan {
  try {
    return plan();
  } catch (error) {
    if (error instanceof BadResume) throw failure('invalidContinuation');
    throw error;
  }
}
