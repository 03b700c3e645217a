// A query whose documents change between its pages. What was there all the time, and was never
// written, is found just once and in its place; whatever else is found was there at some time.
import type { Scope } from '../../src/documents/list.js';
import { parseSql } from '../../src/sql/parser.js';
import { type Random, randomInteger, randomPick } from '../../src/value/random.suite.js';
import { caught, putRandom, told } from './comparison.suite.js';
import { randomScan } from './generator.suite.js';
import type { Policy } from './policy.suite.js';
import { refer } from './reference.suite.js';
import { textOf } from './values.suite.js';
import { assertChosen, checkRows } from './verdict.suite.js';
import type { Kept, World } from './world.suite.js';

export async function comparePages(
  world: World,
  random: Random,
  policy: Policy,
  scope: Scope,
): Promise<void> {
  const asked = randomScan(random);
  const query = parseSql(asked.text);
  const before = world.liveIn(scope);
  const versions = new Set(before);
  const answer = caught(() => refer(query, asked.parameters, policy, before));
  if (typeof answer === 'string') return;
  const size = Math.max(1, Math.ceil(answer.rows.length / randomPick(random, [2, 3, 6])));
  const how = { indexed: random() < 0.8, pageSize: () => size };
  const found = await world.drain(policy, scope, asked, how, async () => {
    await changeSome(world, random);
    for (const kept of world.liveIn(scope)) versions.add(kept);
  });
  const left = new Set(world.liveIn(scope));
  const stable = before.filter((kept) => left.has(kept));
  const rowsOf = (items: readonly Kept[]) => refer(query, asked.parameters, policy, items);
  try {
    // An id alone does not tell a document: there may be one in each partition.
    const unstable = new Set([...versions].filter((kept) => !stable.includes(kept)).map(idOf));
    const isStable = (row: unknown) => !unstable.has((row as { readonly id: string }).id);
    const wanted = rowsOf(stable.filter((kept) => !unstable.has(kept.id)));
    checkRows(query, found.filter(isStable), wanted);
    const possible = [...versions].flatMap((kept) => rowsOf([kept]).rows);
    assertChosen(
      found.map(textOf),
      possible.map(({ value }) => textOf(value)),
    );
  } catch (error) {
    const shown = { ...how, size, found, answer };
    throw new Error(told(policy, scope, asked, before, shown), { cause: error });
  }
}

export const DOCUMENTS_MOVING = 60;

const idOf = ({ id }: Kept): string => id;

async function changeSome(world: World, random: Random): Promise<void> {
  world.advance(randomPick(random, [0, 0, 0, 1]));
  if (random() < 0.2) await world.purge(randomPick(random, [1, 1000]));
  for (let left = randomInteger(random, 8); left > 0; left--)
    await putRandom(world, random, DOCUMENTS_MOVING);
  for (let left = randomInteger(random, 8); left > 0; left--) {
    const live = world.live();
    const victim = live[randomInteger(random, live.length)];
    if (victim) await world.remove(victim);
  }
}
