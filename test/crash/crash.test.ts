// A server under load, killed again and again on the same data folder: what it has acknowledged is
// there after every start, nothing else is, and the store is whole.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { randomInteger, seededRandom, seedFromEnvironment } from '../../src/value/random.suite.js';
import { partitionHeader } from '../simulation/client.suite.js';
import { documentsOf } from '../simulation/wire.suite.js';
import { newFolder, type Server, startServer } from './child.suite.js';
import type { Stored } from './ledger.suite.js';
import {
  type Box,
  DATABASE,
  definitionOf,
  moveClock,
  newStory,
  operate,
  pathOf,
  type Story,
  WRITERS,
  write,
} from './load.suite.js';
import { checkFolder, checkNothingLeft } from './whole.suite.js';

const ROUNDS = 30;
const CHECK_EVERY = 5;
/** A server lives for a random number of writes, but not for ever on a slow machine. */
const LIFE_WRITES_MAX = 120;
const LIFE_MS_MAX = 1000;
/**
 * Later than the clock of the world, which a server has until it is told another: so that until
 * then nothing is due.
 */
const START_MS = Date.UTC(2100, 0, 1);
const BACKGROUND_MS = 15_000;
const POINT_READS = 2;
const ITEMS_MAX = 10_000;

test('what is acknowledged survives every crash, and nothing else does', async () => {
  const seed = seedFromEnvironment();
  process.stdout.write(`# crash: SEED=${seed}\n`);
  const story = newStory(seededRandom(seed), START_MS);
  const folder = newFolder();
  for (let round = 0; round < ROUNDS; round++) {
    const server = await startServer(folder);
    await moveClock(story, server, 0);
    if (round === 0) await createBoxes(story, server);
    await look(story, server);
    const writers = Array.from({ length: WRITERS }, (_, writer) => write(story, server, writer));
    const work = Promise.allSettled([operate(story, server), ...writers]);
    await aLife(story);
    await server.kill();
    for (const each of await work) if (each.status === 'rejected') throw each.reason;
    if (round % CHECK_EVERY === CHECK_EVERY - 1) await checkFolder(folder);
  }
  const server = await startServer(folder);
  await moveClock(story, server, 0);
  await look(story, server);
  await letBackgroundCatchUp(story, server);
  await server.kill();
  await checkFolder(folder);
  await checkNothingLeft(folder);
  const { writes, answers } = story;
  assert(answers > 10 * ROUNDS, `only ${answers} writes were acknowledged`);
  process.stdout.write(`# crash: ${ROUNDS} kills, ${writes} writes sent, ${answers} done\n`);
});

async function aLife(story: Story): Promise<void> {
  const enough = story.answers + randomInteger(story.random, LIFE_WRITES_MAX);
  const deadline = performance.now() + LIFE_MS_MAX;
  while (story.answers < enough && performance.now() < deadline) await pause(1);
}

async function createBoxes(story: Story, { client }: Server): Promise<void> {
  await client.cosmos('POST', 'dbs', { body: { id: DATABASE } });
  for (const box of story.boxes) {
    const body = definitionOf(box, box.defaultTtl.candidates()[0]?.value);
    const { status } = await client.cosmos('POST', `dbs/${DATABASE}/colls`, { body });
    assert.equal(status, 201);
  }
}

/** After a start: what is there is right, the purge goes on, and then the counts agree. */
async function look(story: Story, server: Server): Promise<void> {
  for (const box of story.boxes) {
    const defaultTtl = await defaultOf(box, server);
    const shown = await listed(box, server);
    box.ledger.verify(shown, defaultTtl, story.nowMs);
    box.defaultTtl.settle(defaultTtl);
    for (const document of shown.slice(0, POINT_READS)) await readAgain(box, server, document);
  }
  await moveClock(story, server, randomInteger(story.random, 1500));
  const { status } = await server.client.control('POST', 'purge');
  assert.equal(status, 200);
  for (const box of story.boxes) {
    const shown = await listed(box, server);
    const { live, expired } = await countsOf(box, server);
    assert.deepEqual({ live, expired }, { live: shown.length, expired: 0 });
    box.ledger.verify(shown, await defaultOf(box, server), story.nowMs);
    box.ledger.settle(shown);
  }
}

/** T17: also without being told, the purge of a new server finds what an old one left. */
async function letBackgroundCatchUp(story: Story, server: Server): Promise<void> {
  await moveClock(story, server, 3_600_000);
  const deadline = performance.now() + BACKGROUND_MS;
  for (const box of story.boxes) {
    while ((await countsOf(box, server)).expired > 0) {
      assert(performance.now() < deadline, 'the background purge does not come');
      await pause(100);
    }
    const shown = await listed(box, server);
    assert.equal((await countsOf(box, server)).live, shown.length);
    box.ledger.verify(shown, await defaultOf(box, server), story.nowMs);
  }
}

/** Finds by its key what a list has found in another way. */
async function readAgain(box: Box, { client }: Server, document: Stored): Promise<void> {
  const headers = partitionHeader(document.pk);
  const answer = await client.cosmos('GET', `${pathOf(box)}/docs/${document.id}`, { headers });
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.body, document);
}

/** The default is one that was acknowledged, or a later one that was sent. */
async function defaultOf(box: Box, { client }: Server): Promise<number | undefined> {
  const { status, body } = await client.cosmos('GET', pathOf(box));
  assert.equal(status, 200);
  const { defaultTtl } = body as { readonly defaultTtl?: number };
  const candidates = box.defaultTtl.candidates().map((entry) => entry.value);
  assert(candidates.includes(defaultTtl), `${defaultTtl} is none of ${candidates}`);
  return defaultTtl;
}

async function listed(box: Box, { client }: Server): Promise<readonly Stored[]> {
  const documents: Stored[] = [];
  let continuation = '';
  do {
    assert(documents.length < ITEMS_MAX, 'the list does not end');
    const answer = await client.cosmos('GET', `${pathOf(box)}/docs`, {
      headers: { 'x-ms-max-item-count': '1000', 'x-ms-continuation': continuation },
    });
    assert.equal(answer.status, 200);
    documents.push(...(documentsOf(answer) as unknown as readonly Stored[]));
    continuation = String(answer.headers['x-ms-continuation'] ?? '');
  } while (continuation !== '');
  return documents;
}

async function countsOf(box: Box, { client }: Server): Promise<{ live: number; expired: number }> {
  const { body } = await client.control('GET', `${pathOf(box)}/ttl`);
  return body as { live: number; expired: number };
}
