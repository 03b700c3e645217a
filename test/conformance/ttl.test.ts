// When an item dies: every cell of T1, for every operation, one millisecond before its instant, at
// it and after it, with the purge far behind and with the purge just done (T2, T12).
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { instant } from '../../src/time/instant.js';
import {
  type Box,
  type Json,
  keyHeader,
  NOON,
  NOON_SECONDS,
  type Reply,
  serve,
} from './support.suite.js';

const server = await serve();

/** The container's default, the item's own value, and the seconds that the item then has. */
interface Cell {
  readonly defaultTtl: number | null | undefined;
  readonly ttl: number | undefined;
  readonly lifetime: number | 'for ever';
}
const CELLS: readonly Cell[] = [
  { defaultTtl: undefined, ttl: undefined, lifetime: 'for ever' },
  { defaultTtl: undefined, ttl: -1, lifetime: 'for ever' },
  { defaultTtl: undefined, ttl: 20, lifetime: 'for ever' },
  { defaultTtl: null, ttl: 20, lifetime: 'for ever' },
  { defaultTtl: -1, ttl: undefined, lifetime: 'for ever' },
  { defaultTtl: -1, ttl: -1, lifetime: 'for ever' },
  { defaultTtl: -1, ttl: 20, lifetime: 20 },
  { defaultTtl: 60, ttl: undefined, lifetime: 60 },
  { defaultTtl: 60, ttl: -1, lifetime: 'for ever' },
  { defaultTtl: 60, ttl: 20, lifetime: 20 },
  { defaultTtl: 60, ttl: 90, lifetime: 90 },
  { defaultTtl: 1, ttl: 1, lifetime: 1 },
];

interface Operation {
  readonly name: string;
  run(box: Box, item: Json): Promise<Reply>;
  /** What is answered while the item lives, and when it has expired. */
  readonly live: number;
  readonly expired: number;
}
const OPERATIONS: readonly Operation[] = [
  {
    name: 'read',
    run: (box, { id, pk }) => box.read(String(id), pk),
    live: 200,
    expired: 404,
  },
  { name: 'replace', run: (box, item) => box.replace(item), live: 200, expired: 404 },
  { name: 'upsert', run: (box, item) => box.upsert(item), live: 200, expired: 201 },
  { name: 'create', run: (box, item) => box.create(item), live: 409, expired: 201 },
  {
    name: 'delete',
    run: (box, { id, pk }) => box.remove(String(id), pk),
    live: 204,
    expired: 404,
  },
];

const boxes = new Map<number | null | undefined, Box>();
let items = 0;

before(async () => {
  for (const defaultTtl of new Set(CELLS.map((cell) => cell.defaultTtl))) {
    boxes.set(defaultTtl, await server.box(defaultTtl === undefined ? {} : { defaultTtl }));
  }
});

for (const cell of CELLS) {
  const { defaultTtl, ttl, lifetime } = cell;
  const title = `T1 T2 T12: defaultTtl ${defaultTtl}, ttl ${ttl ?? 'absent'}, ${lifetime}`;
  for (const operation of OPERATIONS) {
    test(`${title}: ${operation.name}`, async () => {
      for (const { ms, dead, purged, what } of looks(cell)) {
        const { box, item } = await bear(cell);
        await moveTo(ms, purged);
        const { status, text } = await operation.run(box, item);
        assert.equal(status, dead ? operation.expired : operation.live, `${what}: ${text}`);
      }
    });
  }

  test(`${title}: list`, async () => {
    for (const { ms, dead, purged, what } of looks(cell)) {
      const { box, item } = await bear(cell);
      await moveTo(ms, purged);
      assert.deepEqual(await box.ids(keyHeader(item.pk)), dead ? [] : [item.id], what);
    }
  });
}

interface Look {
  readonly ms: number;
  readonly dead: boolean;
  readonly purged: boolean;
  readonly what: string;
}

const CENTURY_SECONDS = 3_155_760_000;

/**
 * The instants to look at, counted from the full second of the write. An item that lives for ever
 * is looked at where it would have died by either value, and in a hundred years.
 */
function looks({ lifetime }: Cell): readonly Look[] {
  const look = (seconds: number, ms: number, purged: boolean): Look => ({
    ms: seconds * 1000 + ms,
    dead: lifetime !== 'for ever' && ms >= 0,
    purged,
    what: `at ${seconds} s and ${ms} ms, ${purged ? '' : 'not '}purged`,
  });
  if (lifetime === 'for ever') {
    const either = [20, 60].flatMap((seconds) =>
      [-1, 0, 1].map((ms) => look(seconds, ms, seconds === 60)),
    );
    return [...either, look(CENTURY_SECONDS, 0, true)];
  }
  return [-1, 0, 1].flatMap((ms) => [look(lifetime, ms, false), look(lifetime, ms, true)]);
}

/** A fresh item in a partition of its own, written at noon. */
async function bear({ defaultTtl, ttl }: Cell): Promise<{ box: Box; item: Json }> {
  const box = boxes.get(defaultTtl);
  assert.ok(box);
  server.clock.set(NOON);
  items += 1;
  const item = { id: `i${items}`, pk: `p${items}`, ...(ttl === undefined ? {} : { ttl }) };
  const { status, json } = await box.create(item);
  assert.equal(status, 201);
  assert.equal(json._ts, NOON_SECONDS);
  return { box, item };
}

async function moveTo(ms: number, purged: boolean): Promise<void> {
  server.clock.set(instant(NOON_SECONDS * 1000 + ms));
  if (purged) await server.mayfly.purge();
}
