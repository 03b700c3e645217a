// The purge against changes of time to live that come at its worst moments.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type Mayfly, start, VirtualClock } from '../../src/main.js';
import { instantOfSeconds } from '../../src/time/instant.js';
import { Client, partitionHeader } from './client.suite.js';
import { DATABASE, definitionOf, pathOf } from './wire.suite.js';

const NOW = instantOfSeconds(1_700_000_000);
const BOX = pathOf(0);
const AT_ONCE = 64;
const DEADLINE_MS = 10_000;

const opened: Opened[] = [];
after(async () => {
  for (const { mayfly, client } of opened) {
    client.close();
    await mayfly.close();
  }
});

interface Opened {
  readonly mayfly: Mayfly;
  readonly client: Client;
  readonly clock: VirtualClock;
}

async function openWith(defaultTtl: number | undefined): Promise<Opened> {
  const clock = new VirtualClock();
  clock.freeze();
  clock.set(NOW);
  const mayfly = await start({ clock });
  const client = new Client(mayfly.port);
  await client.cosmos('POST', 'dbs', { body: { id: DATABASE } });
  const body = definitionOf(0, defaultTtl);
  await client.cosmos('POST', `dbs/${DATABASE}/colls`, { body });
  opened.push({ mayfly, client, clock });
  return { mayfly, client, clock };
}

async function create(client: Client, count: number, ttl?: number): Promise<void> {
  const headers = partitionHeader('a');
  for (let made = 0; made < count; made += AT_ONCE) {
    const size = Math.min(AT_ONCE, count - made);
    const answers = await Promise.all(
      Array.from({ length: size }, (_, index) => {
        const body = { id: `${made + index}`, pk: 'a', ...(ttl === undefined ? {} : { ttl }) };
        return client.cosmos('POST', `${BOX}/docs`, { headers, body });
      }),
    );
    for (const { status } of answers) assert.equal(status, 201);
  }
}

async function statusOf(client: Client): Promise<{ live: number; expired: number }> {
  const { body } = await client.control('GET', `${BOX}/ttl`);
  return body as { live: number; expired: number };
}

test('T7: a purge under way takes no item that a change of the default has revived', async () => {
  const { client, clock } = await openWith(1);
  await client.control('POST', 'purge/pause');
  const items = 800;
  await create(client, items);
  clock.advance(1000);
  assert.equal((await statusOf(client)).expired, items);
  const purging = client.control('POST', 'purge');
  const changed = await client.cosmos('PUT', BOX, { body: definitionOf(0, undefined) });
  assert.equal(changed.status, 200);
  const revived = (await statusOf(client)).live;
  assert(revived > 0, 'the purge was over before the change; give it more items');
  await purging;
  const { live } = await statusOf(client);
  assert.equal(live, revived, 'items that were alive again are gone');
});

test('T17: an item whose write began before time to live was on is purged too', async () => {
  const { client, clock } = await openWith(undefined);
  const written = await client.cosmos('POST', `${BOX}/docs`, {
    headers: partitionHeader('a'),
    body: { id: 'slow', pk: 'a', ttl: 1 },
    beforeBody: async () => {
      // By then the server has the headers and waits for the body.
      await pause(100);
      const { status } = await client.cosmos('PUT', BOX, { body: definitionOf(0, -1) });
      assert.equal(status, 200);
    },
  });
  assert.equal(written.status, 201);
  clock.advance(1000);
  assert.deepEqual(await liveAndExpired(client), [0, 1]);
  const deadline = performance.now() + DEADLINE_MS;
  while ((await statusOf(client)).expired > 0) {
    assert(performance.now() < deadline, 'the background purge never comes');
    await pause(50);
  }
});

async function liveAndExpired(client: Client): Promise<readonly number[]> {
  const { live, expired } = await statusOf(client);
  return [live, expired];
}

test('T21: a write is judged by the default that holds when its body is there', async () => {
  const { client } = await openWith(undefined);
  const { status } = await client.cosmos('POST', `${BOX}/docs`, {
    headers: partitionHeader('a'),
    body: { id: 'slow', pk: 'a', ttl: 'soon' },
    beforeBody: async () => {
      await pause(100);
      await client.cosmos('PUT', BOX, { body: definitionOf(0, 5) });
    },
  });
  assert.equal(status, 400);
});

test('closing ends at once and wholly while the background purge gathers its work', async () => {
  const main = new URL('../../src/main.js', import.meta.url);
  const program = `
    import { start, VirtualClock } from ${JSON.stringify(main.href)};
    const clock = new VirtualClock();
    const server = await start({ clock });
    const { Client, partitionHeader } = await import(${JSON.stringify(clientUrl)});
    const client = new Client(server.port);
    await client.cosmos('POST', 'dbs', { body: { id: 'db' } });
    const body = ${JSON.stringify(definitionOf(0, 1))};
    await client.cosmos('POST', 'dbs/db/colls', { body });
    const item = { id: '1', pk: 'a' };
    await client.cosmos('POST', '${BOX}/docs', { headers: partitionHeader('a'), body: item });
    clock.advance(5000);
    await new Promise((resolve) => setTimeout(resolve, 50));
    client.close();
    await server.close();
    process.stdout.write('closed');
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
  let output = '';
  child.stdout.on('data', (part) => {
    output += part;
  });
  child.stderr.pipe(process.stderr);
  const [code] = await once(child, 'close');
  assert.deepEqual([code, output], [0, 'closed']);
});

const clientUrl = new URL('./client.suite.js', import.meta.url).href;
