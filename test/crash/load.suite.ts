// The load that a server is killed under: writers that never rest, and an operator who moves the
// clock, purges, and changes the time to live.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { type Random, randomInteger, randomPick } from '../../src/value/random.suite.js';
import type { Answer } from '../simulation/client.suite.js';
import { partitionHeader } from '../simulation/client.suite.js';
import type { Body, Partition, Place } from '../simulation/model.suite.js';
import type { Server } from './child.suite.js';
import { Ledger } from './ledger.suite.js';
import { Register } from './register.suite.js';

export const DATABASE = 'db';
export const WRITERS = 16;
const PARTITIONS: readonly [Partition, ...Partition[]] = ['a', 'b', 3];
const PAD_MAX = 400;
const PAD_LARGE = 20_000;
const MOVING_DEFAULTS = [undefined, -1, 2, 30, 1000] as const;

export interface Box {
  readonly name: string;
  readonly ledger: Ledger;
  readonly defaultTtl: Register<number | undefined>;
  readonly moves: boolean;
}

/** What lasts over all crashes: the books, and the virtual time, which only goes forward. */
export interface Story {
  readonly random: Random;
  readonly boxes: readonly Box[];
  /** What the clock was set to last; its answer may be on the way. */
  nowMs: number;
  /** What a clock has said it is set to: no write that is sent from now on is earlier. */
  surelyMs: number;
  writes: number;
  answers: number;
}

export function newStory(random: Random, nowMs: number): Story {
  const box = (name: string, defaults: readonly (number | undefined)[]): Box => ({
    name,
    ledger: new Ledger(defaults),
    defaultTtl: new Register(defaults[0]),
    moves: defaults.length > 1,
  });
  const boxes = [box('lasting', [undefined]), box('own', [-1]), box('moving', MOVING_DEFAULTS)];
  return { random, boxes, nowMs, surelyMs: nowMs, writes: 0, answers: 0 };
}

export function pathOf(box: Box): string {
  return `dbs/${DATABASE}/colls/${box.name}`;
}

export function definitionOf(box: Box, defaultTtl: number | undefined): object {
  const partitionKey = { paths: ['/pk'], kind: 'Hash', version: 2 };
  return { id: box.name, partitionKey, ...(defaultTtl === undefined ? {} : { defaultTtl }) };
}

/** Writes until the server dies. */
export async function write(story: Story, server: Server, writer: number): Promise<void> {
  while (true) {
    const box = randomPick(story.random, story.boxes as readonly [Box, ...Box[]]);
    const { done } = await outcomeOf(() => writeOnce(story, server, box, writer));
    if (done) return;
  }
}

/** Works until the server dies. */
export async function operate(story: Story, server: Server): Promise<void> {
  while (true) {
    const roll = story.random();
    const { done } = await outcomeOf(async () => {
      if (roll < 0.4) await moveClock(story, server, randomInteger(story.random, 700));
      else if (roll < 0.7) await server.client.control('POST', 'purge');
      else if (roll < 0.9) await changeDefault(story, server);
      else await comeAndGo(server);
    });
    if (done) return;
    await pause(randomInteger(story.random, 10));
  }
}

/** The clock of a new server is that of the world, which is earlier, so it is set first of all. */
export async function moveClock(story: Story, server: Server, byMs: number): Promise<void> {
  // Counted before it is sent: a write may be stamped with it although no answer comes.
  story.nowMs += byMs;
  const body = { freeze: true, set: new Date(story.nowMs).toISOString() };
  const { status } = await server.client.control('POST', 'clock', body);
  assert.equal(status, 200);
  story.surelyMs = Math.max(story.surelyMs, Date.parse(body.set));
}

/** A connection that breaks is the end; whatever else goes wrong is a failure of the test. */
async function outcomeOf(work: () => Promise<void>): Promise<{ readonly done: boolean }> {
  try {
    await work();
    return { done: false };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ECONNRESET', 'ECONNREFUSED', 'EPIPE'].includes(code)) return { done: true };
    throw error;
  }
}

async function writeOnce(
  story: Story,
  { client }: Server,
  box: Box,
  writer: number,
): Promise<void> {
  const { random } = story;
  const place = placeFor(random, writer);
  const feed = `${pathOf(box)}/docs`;
  const roll = random();
  const etag = random() < 0.3 ? box.ledger.etagOf(place) : undefined;
  const headers = {
    ...partitionHeader(place.partition),
    ...(etag === undefined ? {} : { 'if-match': etag }),
  };
  story.writes += 1;
  let sent: ReturnType<Ledger['sendWrite']>;
  let answer: Answer;
  if (roll < 0.15) {
    sent = box.ledger.sendDelete(place);
    answer = await client.cosmos('DELETE', `${feed}/${place.id}`, { headers });
  } else {
    const body = bodyFor(story, place);
    sent = box.ledger.sendWrite(place, body, story.surelyMs);
    const isUpsert = { 'x-ms-documentdb-is-upsert': String(roll < 0.7) };
    answer =
      roll < 0.4
        ? await client.cosmos('PUT', `${feed}/${place.id}`, { headers, body })
        : await client.cosmos('POST', feed, { headers: { ...headers, ...isUpsert }, body });
  }
  box.ledger.answered(place, sent, answer);
  if (answer.status < 300) story.answers += 1;
}

/** Some items belong to one writer, others are fought over. */
function placeFor(random: Random, writer: number): Place {
  const number = randomInteger(random, 4);
  const id = random() < 0.7 ? `w${writer}-${number}` : `shared-${number}`;
  return { partition: randomPick(random, PARTITIONS), id };
}

/** The padding repeats the number of the write, so that no two writes can be mixed unseen. */
function bodyFor({ random, writes }: Story, { partition, id }: Place): Body {
  const ttl = random() < 0.4 ? randomPick(random, [1, 2, 5, 60, -1]) : undefined;
  const size = random() < 0.03 ? PAD_LARGE : randomInteger(random, PAD_MAX);
  const pad = `${writes} `.repeat(Math.ceil(size / `${writes} `.length));
  return { id, pk: partition, n: writes, pad, ...(ttl === undefined ? {} : { ttl }) };
}

async function changeDefault(story: Story, { client }: Server): Promise<void> {
  const box = story.boxes.find((each) => each.moves);
  assert(box);
  const value = randomPick(story.random, MOVING_DEFAULTS);
  const sent = box.defaultTtl.send(value);
  const { status } = await client.cosmos('PUT', pathOf(box), { body: definitionOf(box, value) });
  assert.equal(status, 200);
  box.defaultTtl.done(sent);
}

/** A container that is made, filled and dropped; how far that comes is left to chance. */
async function comeAndGo({ client }: Server): Promise<void> {
  const path = `dbs/${DATABASE}/colls/fleeting`;
  const partitionKey = { paths: ['/pk'], kind: 'Hash', version: 2 };
  await client.cosmos('POST', `dbs/${DATABASE}/colls`, { body: { id: 'fleeting', partitionKey } });
  const headers = { ...partitionHeader('a'), 'x-ms-documentdb-is-upsert': 'true' };
  await Promise.all(
    Array.from({ length: 20 }, (_, index) => {
      const body = { id: `${index}`, pk: 'a', ttl: 1 };
      return client.cosmos('POST', `${path}/docs`, { headers, body });
    }),
  );
  await client.cosmos('DELETE', path);
}
