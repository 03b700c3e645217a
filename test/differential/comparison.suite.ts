// One comparison of a query's answers with the reference's, and the random life of the documents
// between comparisons.
import assert from 'node:assert/strict';
import type { Scope } from '../../src/documents/list.js';
import { parseSql } from '../../src/sql/parser.js';
import { MayflyError } from '../../src/value/errors.js';
import { type Random, randomInteger, randomPick } from '../../src/value/random.suite.js';
import { PARTITIONS, type RandomQuery, randomDocument } from './generator.suite.js';
import type { Policy } from './policy.suite.js';
import { Refused, refer } from './reference.suite.js';
import { checkRows } from './verdict.suite.js';
import { EVERYTHING, type Kept, type World } from './world.suite.js';

/** How many documents there are about; ids are out of twice as many. */
export const DOCUMENTS = 200;

export async function fill(world: World, random: Random, documents = DOCUMENTS): Promise<void> {
  const ids = Array.from({ length: documents }, (_, at) => `i${2 * at}`);
  await world.putAll(ids.map((id) => [id, randomMembers(random)]));
}

export async function putRandom(
  world: World,
  random: Random,
  documents = DOCUMENTS,
): Promise<void> {
  await world.putAll([[`i${randomInteger(random, 2 * documents)}`, randomMembers(random)]]);
}

function randomMembers(random: Random): Readonly<Record<string, unknown>> {
  const ttl = randomPick(random, [undefined, undefined, -1, 5, 30, 100]);
  return { ...randomDocument(random), ...(ttl === undefined ? {} : { ttl }) };
}

export async function changeRandomly(
  world: World,
  random: Random,
  documents = DOCUMENTS,
): Promise<void> {
  world.advance(randomPick(random, [0, 0, 1, 3, 10]));
  if (random() < 0.3) await world.purge(randomPick(random, [1, 10, 1000]));
  for (let left = randomInteger(random, 5); left > 0; left--)
    await putRandom(world, random, documents);
  const live = world.live();
  const victim = live[randomInteger(random, live.length)];
  if (victim && random() < 0.3) await world.remove(victim);
  while (world.live().length < documents / 2) await putRandom(world, random, documents);
}

export function randomScope(random: Random): Scope {
  const kind = random();
  if (kind < 0.7) return EVERYTHING;
  const bound = () => randomPick(random, ['', '0A', '1333', '26', '34', 'FF']);
  const span = { from: bound(), to: bound() };
  if (kind < 0.85) return { partition: undefined, span };
  const partition = [randomPick(random, [...PARTITIONS, undefined, 'nobody'])];
  return { partition, span: kind < 0.97 ? undefined : span };
}

export async function compareOne(
  world: World,
  random: Random,
  policy: Policy,
  scope: Scope,
  asked: RandomQuery,
): Promise<void> {
  const query = parseSql(asked.text);
  const items = world.liveIn(scope);
  const answer = caught(() => refer(query, asked.parameters, policy, items));
  const rows = typeof answer === 'string' ? 10 : answer.rows.length;
  for (const indexed of [true, false]) {
    const size = random() < (indexed ? 0.5 : 0.2) ? randomInteger(random, rows) : 1000;
    // Pages of one row each would look at everything for each of the rows.
    const pageSize = () => Math.max(1, size, Math.floor(rows / 4));
    const found = await caughtLater(world.drain(policy, scope, asked, { indexed, pageSize }));
    try {
      if (typeof answer === 'string' || typeof found === 'string') assert.equal(found, answer);
      else checkRows(query, found, answer);
    } catch (error) {
      const shown = { indexed, size: pageSize(), found, answer };
      throw new Error(told(policy, scope, asked, items, shown), { cause: error });
    }
  }
}

/** The value, or the code of the refusal. */
export function caught<T>(work: () => T): T | string {
  try {
    return work();
  } catch (error) {
    if (error instanceof Refused) return error.message;
    throw error;
  }
}

async function caughtLater<T>(work: Promise<T>): Promise<T | string> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof MayflyError) return error.code;
    throw error;
  }
}

const SHOWN_MAX = 4000;

export function told(
  policy: Policy,
  scope: Scope,
  asked: RandomQuery,
  items: readonly Kept[],
  more: { readonly found: unknown; readonly answer: unknown },
): string {
  const clip = (value: unknown) =>
    JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === 'string' && inner.length > 100
        ? `${inner.length}:${inner.slice(-20)}`
        : inner,
    )?.slice(0, SHOWN_MAX);
  const answer = more.answer as { readonly rows?: readonly { readonly value: unknown }[] };
  return [
    `The query: ${asked.text.length > SHOWN_MAX ? clip(asked.text) : asked.text}`,
    `Parameters: ${clip([...asked.parameters])}`,
    `Policy ${policy.name}, scope ${clip(scope)}`,
    `Found: ${clip(more)}`,
    `Wanted: ${clip(answer.rows?.map(({ value }) => value) ?? answer)}`,
    `Among: ${clip(items.map(({ value }) => value))}`,
  ].join('\n');
}
