// Crashes at the edges of a server's life: while it starts, right after an answer, and two servers
// that want the same folder.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { randomInteger, seededRandom, seedFromEnvironment } from '../../src/value/random.suite.js';
import { partitionHeader } from '../simulation/client.suite.js';
import { kill, launch, newFolder, refusalOf, type Server, startServer } from './child.suite.js';
import { checkFolder } from './whole.suite.js';

const KILLS_AFTER_ANSWER = 20;
const KILLS_WHILE_STARTING = 5;
const FIRST_STARTS = 2;
const START_MS_MAX = 200;
const APPEARS_MS = 20_000;
const BOX = 'dbs/db/colls/box';
/** Large enough that writing it takes longer than killing the server. */
const PAD = 'x'.repeat(400_000);

const seed = seedFromEnvironment();
const random = seededRandom(seed);
before(() => {
  process.stdout.write(`# start-up: SEED=${seed}\n`);
});

test('an acknowledged write is there although the server is killed with its answer', async () => {
  const folder = newFolder();
  const etags: string[] = [];
  for (let round = 0; round <= KILLS_AFTER_ANSWER; round++) {
    const server = await startServer(folder);
    if (round === 0) await createBox(server);
    for (const [index, etag] of etags.entries()) {
      if (index < etags.length - 2) continue;
      const answer = await read(server, `${index}`);
      assert.deepEqual([answer.status, answer.headers.etag], [200, etag], `write ${index}`);
    }
    let dying: Promise<void> | undefined;
    const answer = await server.client.cosmos('POST', `${BOX}/docs`, {
      headers: { ...partitionHeader('a'), prefer: 'return=minimal' },
      body: { id: `${round}`, pk: 'a', pad: PAD },
      onStatus: (status) => {
        assert.equal(status, 201);
        dying = server.kill();
      },
    });
    etags.push(String(answer.headers.etag));
    await dying;
  }
  await checkFolder(folder);
});

test('a server that is killed while it starts leaves a folder that the next one opens', async () => {
  const folder = newFolder();
  const first = await startServer(folder);
  await createBox(first);
  await create(first, 'kept');
  await first.kill();
  for (let count = 0; count < KILLS_WHILE_STARTING; count++) {
    const child = launch(folder);
    await pause(randomInteger(random, START_MS_MAX));
    await kill(child);
  }
  await checkFolder(folder);
  const server = await startServer(folder);
  assert.equal((await read(server, 'kept')).status, 200);
  await server.kill();
});

for (const file of ['mayfly.lock', 'store.mdb']) {
  test(`a first start that is killed when ${file} appears does not spoil the next`, async () => {
    for (let count = 0; count < FIRST_STARTS; count++) {
      const folder = newFolder();
      const child = launch(folder);
      const deadline = performance.now() + APPEARS_MS;
      // Without a pause, because what is looked for lasts for less than a millisecond.
      while (!existsSync(join(folder, file)) && performance.now() < deadline);
      await kill(child);
      const server = await startServer(folder);
      await createBox(server);
      await create(server, 'made');
      await server.kill();
      await checkFolder(folder);
    }
  });
}

test('a folder has one server, and a new one at once when that is killed', async () => {
  const folder = newFolder();
  const first = await startServer(folder);
  await createBox(first);
  await create(first, 'before');
  assert.match(await refusalOf(folder), /is in use by another Mayfly/);
  assert.equal((await read(first, 'before')).status, 200);
  await first.kill();
  const second = await startServer(folder);
  assert.equal((await read(second, 'before')).status, 200);
  assert.match(await refusalOf(folder), /is in use by another Mayfly/);
  await second.kill();
});

async function createBox({ client }: Server): Promise<void> {
  const partitionKey = { paths: ['/pk'], kind: 'Hash', version: 2 };
  await client.cosmos('POST', 'dbs', { body: { id: 'db' } });
  await client.cosmos('POST', 'dbs/db/colls', { body: { id: 'box', partitionKey } });
}

async function create({ client }: Server, id: string): Promise<void> {
  const body = { id, pk: 'a' };
  const headers = partitionHeader('a');
  const { status } = await client.cosmos('POST', `${BOX}/docs`, { headers, body });
  assert.equal(status, 201);
}

function read({ client }: Server, id: string) {
  return client.cosmos('GET', `${BOX}/docs/${id}`, { headers: partitionHeader('a') });
}
