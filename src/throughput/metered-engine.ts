// An engine that tells what it is asked to do costs, for a face whose commands are not priced one
// by one: reads by what they load, writes by what they leave.
import type {
  Change,
  Container,
  Decide,
  Engine,
  Item,
  Plan,
  TogetherOutcome,
  WriteBatch,
  WriteOutcome,
} from '../engine/engine.js';
import {
  bytesOf,
  deleteCharge,
  itemReadCharge,
  pageCharge,
  REFUSAL_CHARGE,
  writeCharge,
} from './charges.js';

export interface Meter {
  /** Before anything is done; throws where there is nothing left. */
  admit(container: Container): void;
  spend(container: Container, charge: number): void;
}

export function meteredEngine(engine: Engine, meter: Meter): Engine {
  const { versions } = engine;
  return {
    containers: () => engine.containers(),
    createContainer: (container) => engine.createContainer(container),
    alterContainer: (container) => engine.alterContainer(container),
    dropContainer: (id) => engine.dropContainer(id),
    stats: (container) => engine.stats(container),
    size: () => engine.size(),
    get: async (container, keys, at) => {
      meter.admit(container);
      const answer = await engine.get(container, keys, at);
      meter.spend(container, sumOf(answer.items.map((item) => itemReadCharge(item))));
      return answer;
    },
    plan: (container, request) => meteredPlan(engine.plan(container, request), container, meter),
    commit: async (container, batches, at) => {
      meter.admit(container);
      const notes = batches.map(noted);
      const asked = notes.map(({ batch }) => batch);
      const outcomes = await engine.commit(container, asked, at);
      const charges = outcomes.map((outcome, index) =>
        outcomeCharge(container, outcome, notes[index]?.before ?? []),
      );
      meter.spend(container, sumOf(charges));
      return outcomes;
    },
    commitTogether: async (groups, at) => {
      for (const { container } of groups) meter.admit(container);
      const notes = groups.map(({ batches }) => batches.map(noted));
      const asked = groups.map(({ container }, index) => ({
        container,
        batches: (notes[index] ?? []).map(({ batch }) => batch),
      }));
      const outcome = await engine.commitTogether(asked, at);
      for (const [index, { container }] of groups.entries()) {
        meter.spend(container, groupCharge(container, outcome, index, notes[index] ?? []));
      }
      return outcome;
    },
    restore: (container, restored) => engine.restore(container, restored),
    changes: (container, scan, at, budget) => engine.changes(container, scan, at, budget),
    ...(versions ? { versions: versions.bind(engine) } : {}),
    nextExpiry: (container) => engine.nextExpiry(container),
    purge: (container, at, rowsMax) => engine.purge(container, at, rowsMax),
    expiries: (container, scan) => engine.expiries(container, scan),
    inspect: (container, key) => engine.inspect(container, key),
    check: () => engine.check(),
    close: () => engine.close(),
  };
}

function meteredPlan(plan: Plan, container: Container, meter: Meter): Plan {
  const indexes = plan.indexes.used.length;
  const spend = (items: readonly Item[], isFirst: boolean) => {
    const bytes = bytesOf(items);
    const documents = items.length;
    const work = { documents, documentBytes: bytes, answerBytes: bytes, indexes, ranges: 1 };
    meter.spend(container, pageCharge(work, isFirst));
  };
  const foldOf =
    (fold: NonNullable<Plan['fold']>): NonNullable<Plan['fold']> =>
    (...request) => {
      meter.admit(container);
      spend([], true);
      return fold(...request);
    };
  // Spelled out: what is added behind a spread is slow.
  const { exact, ordered, limited, explain } = plan;
  return {
    exact,
    ordered,
    limited,
    explain,
    indexes: plan.indexes,
    ...(plan.isWithin ? { isWithin: plan.isWithin.bind(plan) } : {}),
    ...(plan.fold ? { fold: foldOf(plan.fold.bind(plan)) } : {}),
    run: async function* (at, budget) {
      meter.admit(container);
      let isFirst = true;
      for await (const batch of plan.run(at, budget)) {
        spend(batch.items, isFirst);
        isFirst = false;
        yield batch;
      }
      if (isFirst) spend([], true);
    },
    count: (at) => {
      meter.admit(container);
      spend([], true);
      return plan.count(at);
    },
    countBy: (path, at) => {
      meter.admit(container);
      spend([], true);
      return plan.countBy(path, at);
    },
  };
}

/** The batch, and what its decisions found: a write is priced by what it replaces or removes. */
function noted(batch: WriteBatch): {
  readonly batch: WriteBatch;
  readonly before: (Item | undefined)[];
} {
  const before: (Item | undefined)[] = [];
  const changes = batch.changes.map((change, index): Change => {
    if (change.kind !== 'update') return change;
    const decide: Decide = (current, serial) => {
      before[index] = current;
      return change.decide(current, serial);
    };
    return { kind: 'update', id: change.id, decide };
  });
  return { batch: { partition: batch.partition, changes }, before };
}

/** One that was refused is charged where it was. */
function groupCharge(
  container: Container,
  outcome: TogetherOutcome,
  group: number,
  notes: readonly { readonly before: readonly (Item | undefined)[] }[],
): number {
  if ('refused' in outcome) return outcome.group === group ? REFUSAL_CHARGE : 0;
  const written = outcome.groups[group];
  if (!written) return 0;
  const { batches, lsn } = written;
  return sumOf(
    batches.map((items, index) =>
      outcomeCharge(container, { items, lsn }, notes[index]?.before ?? []),
    ),
  );
}

function outcomeCharge(
  container: Container,
  outcome: WriteOutcome,
  before: readonly (Item | undefined)[],
): number {
  if ('refused' in outcome) return REFUSAL_CHARGE;
  return sumOf(
    outcome.items.map((item, index) => {
      const previous = before[index];
      if (!item)
        return previous ? deleteCharge(container, previous.doc) : itemReadCharge(undefined);
      if (item.lsn !== outcome.lsn) return itemReadCharge(item);
      return writeCharge(container, item.doc, previous !== undefined);
    }),
  );
}

function sumOf(charges: readonly number[]): number {
  return charges.reduce((sum, charge) => sum + charge, 0);
}
