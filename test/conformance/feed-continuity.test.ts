// Both change feeds beside eight writers and the purge, across a restart and splits of ranges: no
// event is missing, none comes late, and the order of each item is the one it was written in.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChangeFeedMode, ChangeFeedStartFrom, type Container } from '@azure/cosmos';
import { type Json, lastingStore, ok, type Server, serve } from './support.suite.js';

const WRITERS = 8;
const ITEMS_PER_ROUND = 10;
const place = lastingStore();

/** What happened to each item, in order, as its writer was told. */
const ledger = new Map<string, string[]>();

interface Reader {
  token: string | undefined;
  readonly mode: ChangeFeedMode;
  readonly seen: Json[];
}
const versions: Reader = {
  token: undefined,
  mode: ChangeFeedMode.AllVersionsAndDeletes,
  seen: [],
};
const latest: Reader = { token: undefined, mode: ChangeFeedMode.LatestVersion, seen: [] };

test('nothing is missing, late or out of order', async () => {
  const first = await serve(place);
  await first.client().databases.create({ id: 'd' });
  const changeFeedPolicy = { retentionDuration: 60 };
  const definition = { id: 'c', partitionKey: '/pk', defaultTtl: -1, throughput: 20_000 };
  await first
    .client()
    .database('d')
    .containers.create({ ...definition, changeFeedPolicy });
  await round(first, 'a');
  const { clock } = first;
  await first.close();
  const second = await serve({ ...place, clock });
  await round(second, 'b');
  clock.advance(60_000);
  await second.mayfly.purge();
  const container = containerOf(second);
  for (const reader of [versions, latest]) await follow(container, reader, () => false);
  assertVersions();
  await assertLatest(container);
});

/** Writers, two readers, a purge and a split at the same time; readers need not come to an end. */
async function round(server: Server, name: string): Promise<void> {
  const container = containerOf(server);
  if (!versions.token) await follow(container, versions, () => false);
  let writing = WRITERS;
  const isWriting = () => writing > 0;
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let n = 0; n < ITEMS_PER_ROUND; n++) await write(container, `p${writer}`, `${name}${n}`);
    writing -= 1;
  });
  const purge = async () => {
    for (let pass = 0; isWriting(); pass++) {
      server.clock.advance(500);
      await server.mayfly.purge();
      if (pass === 3) ok(await server.control('POST', 'dbs/d/colls/c/split'), 200);
      await new Promise(setImmediate);
    }
  };
  const readers = [versions, latest].map((reader) => follow(container, reader, isWriting));
  await Promise.all([...writers, purge(), ...readers]);
}

async function write(container: Container, pk: string, id: string): Promise<void> {
  const number = Number(id.slice(1));
  const ttl = number % 3 === 0 ? { ttl: 1 } : {};
  const note = (what: string) => {
    const name = `${pk}/${id}`;
    ledger.set(name, [...(ledger.get(name) ?? []), what]);
  };
  await container.items.create({ id, pk, n: 0, ...ttl });
  note('create 0');
  for (let n = 1; n <= number % 4; n++) {
    const { statusCode } = await carriedOut(container.item(id, pk).replace({ id, pk, n, ...ttl }));
    if (statusCode === 200) note(`replace ${n}`);
  }
  if (number % 5 !== 4) return;
  const { statusCode } = await carriedOut(container.item(id, pk).delete());
  if (statusCode === 204) note('delete');
}

/** What has expired meanwhile cannot be written any more. */
async function carriedOut(
  work: Promise<{ readonly statusCode: number }>,
): Promise<{ readonly statusCode: number }> {
  try {
    return await work;
  } catch (error) {
    assert.equal((error as { readonly code: number }).code, 404);
    return { statusCode: 404 };
  }
}

/** Reads while it goes on; then to the end, if it is not told to stop in the middle. */
async function follow(container: Container, reader: Reader, goesOn: () => boolean): Promise<void> {
  const begin =
    reader.mode === ChangeFeedMode.LatestVersion
      ? ChangeFeedStartFrom.Beginning()
      : ChangeFeedStartFrom.Now();
  const iterator = container.items.getChangeFeedIterator<Json>({
    changeFeedMode: reader.mode,
    changeFeedStartFrom: reader.token ? ChangeFeedStartFrom.Continuation(reader.token) : begin,
    maxItemCount: 5,
  });
  const stopsEarly = goesOn();
  for (let isDone = false; !isDone; ) {
    const page = await iterator.readNext();
    reader.seen.push(...(page.result ?? []));
    reader.token = page.continuationToken;
    isDone = stopsEarly ? !goesOn() : page.statusCode === 304;
  }
}

function assertVersions(): void {
  const told = new Map<string, string[]>();
  const positions = new Map<string, number>();
  for (const event of versions.seen as unknown as readonly Event[]) {
    const { current, previous, metadata } = event;
    const { id, pk, n } = (current ?? previous) as { id: string; pk: string; n: number };
    assert.ok(metadata.lsn >= (positions.get(pk) ?? 0), `${pk} went back to ${metadata.lsn}`);
    positions.set(pk, metadata.lsn);
    const what = metadata.timeToLiveExpired ? 'expire' : metadata.operationType;
    const name = `${pk}/${id}`;
    const text = current ? `${what} ${n}` : what;
    told.set(name, [...(told.get(name) ?? []), text]);
  }
  for (const [name, happened] of ledger) {
    const expires = Number(name.split('/')[1]?.slice(1)) % 3 === 0 && happened.at(-1) !== 'delete';
    assert.deepEqual(told.get(name), expires ? [...happened, 'expire'] : happened, name);
  }
  assert.equal(told.size, ledger.size);
  assert.ok([...told.values()].some((each) => each.includes('expire')));
}

interface Event {
  readonly current?: Json;
  readonly previous?: Json;
  readonly metadata: {
    readonly operationType: string;
    readonly lsn: number;
    readonly timeToLiveExpired?: boolean;
  };
}

/** Of what is there, the last version was the last to be shown. */
async function assertLatest(container: Container): Promise<void> {
  const shown = new Map<string, Json>();
  const positions = new Map<string, number>();
  for (const item of latest.seen) {
    const pk = String(item.pk);
    assert.ok(Number(item._lsn) > (positions.get(pk) ?? 0), `${pk} went back`);
    positions.set(pk, Number(item._lsn));
    shown.set(`${pk}/${item.id}`, item);
  }
  const { resources } = await container.items.readAll<Json>().fetchAll();
  assert.ok(resources.length > WRITERS);
  for (const item of resources) {
    assert.equal(shown.get(`${item.pk}/${item.id}`)?._etag, item._etag);
  }
}

function containerOf(server: Server): Container {
  return server.client().database('d').container('c');
}
