// A decorator that asserts the engine's side of the SPI: on in tests, off in production. A broken
// promise crashes.
import assert from 'node:assert/strict';
import { isLive } from '../time/expiry.js';
import type { Instant } from '../time/instant.js';
import { samePartitionKey } from '../value/partition-key.js';
import {
  type Batch,
  type ChangeScan,
  type Changes,
  type Container,
  type Engine,
  type Item,
  type ItemKey,
  type Purge,
  type Serial,
  type Stats,
  type TogetherOutcome,
  VERSIONS_PER_ROW,
  type Versions,
  type WriteGroup,
  type WriteOutcome,
} from './engine.js';

export function withContract(engine: Engine): Engine {
  return {
    containers: () => engine.containers(),
    createContainer: (container) => engine.createContainer(container),
    alterContainer: (container) => engine.alterContainer(container),
    dropContainer: (id) => engine.dropContainer(id),
    stats: (container) => engine.stats(container).then(assertStats),
    size: () => engine.size(),
    get: async (container, keys, at) => {
      const answer = await engine.get(container, keys, at);
      assert.equal(answer.items.length, keys.length, 'one answer per key');
      for (const [index, item] of answer.items.entries()) {
        if (item) assertFound(container, keys[index] as ItemKey | Serial, item, at);
      }
      return answer;
    },
    plan: (container, request) => {
      const plan = engine.plan(container, request);
      return {
        ...plan,
        run: async function* (at, budget) {
          for await (const batch of plan.run(at, budget)) {
            assertBatch(container, batch, at, budget.rowsMax);
            yield batch;
          }
        },
      };
    },
    commit: async (container, batches, at) => {
      const before = (await engine.stats(container)).lsn;
      const outcomes = await engine.commit(container, batches, at);
      assert.equal(outcomes.length, batches.length, 'one outcome per batch');
      outcomes.forEach((outcome, index) => {
        assertOutcome(container, outcome, batches[index]?.changes.length ?? 0, before, at);
      });
      return outcomes;
    },
    commitTogether: (groups, at) => commitTogether(engine, groups, at),
    restore: (container, restored) => engine.restore(container, restored),
    changes: async (container, scan, at, budget) => {
      const page = await engine.changes(container, scan, at, budget);
      assertChanges(container, scan, page, at, budget.rowsMax);
      return page;
    },
    ...(engine.versions && {
      versions: async (container, scan, at, budget) => {
        const page = await (engine as Required<Engine>).versions(container, scan, at, budget);
        assertVersions(scan, page, budget.rowsMax);
        return page;
      },
    }),
    nextExpiry: (container) => engine.nextExpiry(container),
    purge: async (container, at, rowsMax) => {
      const purge = await engine.purge(container, at, rowsMax);
      assertPurge(purge, at, rowsMax);
      return purge;
    },
    expiries: async (container, scan) => {
      const page = await engine.expiries(container, scan);
      assert(page.expiries.length <= scan.rowsMax, 'a page has at most the rows asked for');
      for (const { due } of page.expiries) assert(due <= scan.until, 'due later than asked for');
      return page;
    },
    inspect: (container, key) => engine.inspect(container, key),
    check: () => engine.check(),
    close: () => engine.close(),
  };
}

async function commitTogether(
  engine: Engine,
  groups: readonly WriteGroup[],
  at: Instant,
): Promise<TogetherOutcome> {
  const ids = groups.map(({ container }) => container.id);
  assert.equal(new Set(ids).size, ids.length, 'each container comes once');
  const before: number[] = [];
  // One that is gone is for the engine to refuse.
  for (const { container } of groups) {
    before.push(
      await engine.stats(container).then(
        ({ lsn }) => lsn,
        () => 0,
      ),
    );
  }
  const outcome = await engine.commitTogether(groups, at);
  if ('refused' in outcome) {
    const batch = groups[outcome.group]?.batches[outcome.batch];
    assert(outcome.index < (batch?.changes.length ?? 0), 'the refused change is one of them');
    return outcome;
  }
  assert.equal(outcome.groups.length, groups.length, 'one answer per group');
  outcome.groups.forEach(({ batches, lsn }, index) => {
    const { container, batches: asked } = groups[index] as WriteGroup;
    assert.equal(batches.length, asked.length, 'one answer per batch');
    for (const [place, items] of batches.entries()) {
      const changes = asked[place]?.changes.length ?? 0;
      assertOutcome(container, { items, lsn }, changes, before[index] ?? 0, at);
    }
  });
  return outcome;
}

function assertStats(stats: Stats): Stats {
  assert(stats.items >= 0 && stats.bytes >= 0, 'counts are never negative');
  return stats;
}

function assertFound(container: Container, asked: ItemKey | Serial, item: Item, at: Instant): void {
  assertAlive(container, item, at);
  if (typeof asked === 'number') {
    assert.equal(item.serial, asked);
    return;
  }
  assert.equal(item.key.id, asked.id);
  assert(samePartitionKey(item.key.partition, asked.partition), 'an item of another partition');
}

function assertAlive(container: Container, item: Item, at: Instant): void {
  assert(
    isLive(item.fuses, container.expiry, at),
    `the dead item '${item.key.id}' left the engine`,
  );
}

function assertBatch(container: Container, batch: Batch, at: Instant, rowsMax: number): void {
  assert(batch.items.length <= rowsMax, 'a batch has at most the rows asked for');
  for (const item of batch.items) assertAlive(container, item, at);
}

function assertChanges(
  container: Container,
  scan: ChangeScan,
  { items, upTo, isEnd, lsn }: Changes,
  at: Instant,
  rowsMax: number,
): void {
  const after = scan.after === 'now' ? upTo : scan.after;
  assert(upTo <= lsn, 'a position that the container has not reached');
  assert(isEnd ? upTo >= after : upTo > after, 'a page of changes makes progress');
  let last = after;
  for (const item of items) {
    assertAlive(container, item, at);
    assert(item.lsn >= last && item.lsn > after && item.lsn <= upTo, 'a change out of order');
    last = item.lsn;
  }
  const whole = items.filter((item) => item.lsn < last);
  assert(whole.length < Math.max(1, rowsMax), 'one batch more than asked for');
}

function assertPurge({ purged, trimmed = 0, next }: Purge, at: Instant, rowsMax: number): void {
  const done = purged + Math.ceil(trimmed / VERSIONS_PER_ROW);
  assert(done <= rowsMax, 'a purge removes and forgets at most what it may');
  const due = next !== undefined && next <= at;
  assert(!due || done > 0, 'a purge with something due makes progress');
}

function assertVersions(
  scan: ChangeScan,
  { versions, upTo, isEnd, lsn }: Versions,
  rowsMax: number,
): void {
  const after = scan.after === 'now' ? upTo : scan.after;
  assert(upTo <= lsn, 'a position that the container has not reached');
  assert(isEnd ? upTo >= after : upTo > after, 'a page of versions makes progress');
  let last = after;
  for (const version of versions) {
    assert(version.lsn >= last && version.lsn > after && version.lsn <= upTo, 'out of order');
    assert((version.kind === 'create') === (version.previous === undefined), 'what came before');
    assert((version.kind === 'delete') === (version.doc === undefined), 'what came of it');
    assert(!version.previous || version.previous.lsn <= version.lsn, 'before comes earlier');
    last = version.lsn;
  }
  const whole = versions.filter((version) => version.lsn < last);
  assert(whole.length < Math.max(1, rowsMax), 'one batch more than asked for');
}

function assertOutcome(
  container: Container,
  outcome: WriteOutcome,
  changes: number,
  lsnBefore: number,
  at: Instant,
): void {
  assert(outcome.lsn >= lsnBefore, 'the change order never goes back');
  if ('refused' in outcome) {
    assert(outcome.index < changes, 'the refused change is one of the batch');
    return;
  }
  assert.equal(outcome.items.length, changes, 'one answer per change');
  for (const item of outcome.items) {
    if (!item) continue;
    assert(item.lsn <= outcome.lsn, 'an item is not newer than its commit');
    assert(
      item.lsn === outcome.lsn || isLive(item.fuses, container.expiry, at),
      'a dead item kept',
    );
  }
}
