// A plan over the items of a partition as a transaction sees them: those in the store, and what it
// has staged over them.
//
//   resume point   4 bytes: how much was staged when the scan began
//                  1 byte: 0 in the store, 1 behind it
//                  the store's own resume point, or 4 bytes: the number of the last staged item
//
// What was staged before the scan began is left out of the store's part and comes behind it. What
// is staged while it goes on stays in its place, so that a script which pages through items and
// changes them meets none of them twice.
import type { Batch, Budget, Item, Plan, Resume } from '../engine/engine.js';
import { BadResume } from '../engine/engine.js';
import type { Instant } from '../time/instant.js';

/** One item as staged: `item` is undefined where it was deleted. */
export interface StagedItem {
  readonly id: string;
  /** Counts the items that were ever staged, from 1. */
  readonly number: number;
  /** Whether the store has it, too. */
  readonly isStored: boolean;
  readonly item: Item | undefined;
}

export interface StagedView {
  find(id: string): StagedItem | undefined;
  /** In the order of their numbers. */
  all(): readonly StagedItem[];
  /** Called with every item that is read from the store. */
  saw(item: Item): void;
}

const HEADER_BYTES = 5;
const IN_STORE = 0;
const BEHIND = 1;

/** Where a scan goes on: at the store's resume point, or behind a staged item. */
export interface StagedResume {
  /** The number of the last item that was staged when the scan began. */
  readonly since: number;
  readonly inStore: Resume | undefined;
  readonly behind: number | undefined;
}

export function readResume(resume: Resume | undefined, staged: number): StagedResume {
  if (resume === undefined) return { since: staged, inStore: undefined, behind: undefined };
  const bytes = Buffer.from(resume);
  const since = bytes.length >= HEADER_BYTES ? bytes.readUInt32BE() : -1;
  const rest = bytes.subarray(HEADER_BYTES);
  if (since >= 0 && bytes[4] === IN_STORE && rest.length > 0) {
    return { since, inStore: rest as unknown as Resume, behind: undefined };
  }
  if (since >= 0 && bytes[4] === BEHIND && rest.length === 4) {
    return { since, inStore: undefined, behind: rest.readUInt32BE() };
  }
  throw new BadResume();
}

/** `base` is the plan for the store's part, which begins where `from` says. */
export function stagedPlan(base: Plan, view: StagedView, from: StagedResume): Plan {
  const isUntouched = view.all().length === 0;
  return {
    exact: base.exact && isUntouched,
    ordered: false,
    limited: false,
    explain: base.explain,
    indexes: base.indexes,
    count: async (at) => (isUntouched ? base.count(at) : undefined),
    countBy: async (path, at) => (isUntouched ? base.countBy(path, at) : undefined),
    ...(base.fold && isUntouched ? { fold: base.fold.bind(base) } : {}),
    run: (at, budget) => run(base, view, from, at, budget),
  };
}

async function* run(
  base: Plan,
  view: StagedView,
  from: StagedResume,
  at: Instant,
  budget: Budget,
): AsyncIterable<Batch> {
  const { since } = from;
  const behind = view
    .all()
    .filter((each) => (each.number <= since || !each.isStored) && each.item !== undefined);
  if (from.behind === undefined) {
    for await (const batch of base.run(at, budget)) {
      const shown = overlaid(batch, view, since);
      const isLast = batch.resume === undefined;
      const next = isLast && behind.length > 0 ? behindResume(since, 0) : undefined;
      const resume = batch.resume === undefined ? next : inStore(since, batch.resume);
      yield { ...shown, resume };
    }
  }
  const left = behind.filter(({ number }) => number > (from.behind ?? 0));
  for (let start = 0; start < left.length; start += budget.rowsMax) {
    const part = left.slice(start, start + budget.rowsMax);
    const isLast = start + budget.rowsMax >= left.length;
    const numberAt = (index: number) => part[index]?.number ?? 0;
    yield {
      items: part.map(({ item }) => item as Item),
      resumeAfter: (index) => behindResume(since, numberAt(index)),
      resumeAt: (index) => behindResume(since, numberAt(index) - 1),
      resume: isLast ? undefined : behindResume(since, numberAt(part.length - 1)),
      lsn: 0,
      lookupMs: 0,
      loadMs: 0,
    };
  }
}

/** The items of the store that are shown here, as they are by now. */
function overlaid(batch: Batch, view: StagedView, since: number): Omit<Batch, 'resume'> {
  const items: Item[] = [];
  const indexes: number[] = [];
  for (const [index, stored] of batch.items.entries()) {
    const staged = view.find(stored.key.id);
    if (!staged) view.saw(stored);
    const item = staged ? staged.item : stored;
    if ((staged && staged.number <= since) || !item) continue;
    items.push(item);
    indexes.push(index);
  }
  const { lsn, lookupMs, loadMs } = batch;
  return {
    items,
    resumeAfter: (index) => inStore(since, batch.resumeAfter(indexes[index] ?? 0)),
    resumeAt: (index) => inStore(since, batch.resumeAt(indexes[index] ?? 0)),
    ...{ lsn, lookupMs, loadMs },
  };
}

function inStore(since: number, resume: Resume): Resume {
  return Buffer.concat([header(since, IN_STORE), resume]) as unknown as Resume;
}

function behindResume(since: number, number: number): Resume {
  const rest = Buffer.alloc(4);
  rest.writeUInt32BE(number);
  return Buffer.concat([header(since, BEHIND), rest]) as unknown as Resume;
}

function header(since: number, part: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.writeUInt32BE(since);
  bytes[4] = part;
  return bytes;
}
