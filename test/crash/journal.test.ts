// A store whose process is killed in every phase of a write: before and after the journal has it,
// while it goes down into the store, and while the journal is used again or removed. What was
// acknowledged is there afterwards; what was under way is there as a whole or not at all.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openLmdb } from '../../src/engine/kv/lmdb.js';
import { randomInteger, seededRandom, seedFromEnvironment } from '../../src/value/random.suite.js';
import { newFolder } from './child.suite.js';
import {
  groupKey,
  headKey,
  keptAfter,
  MOMENTS,
  type VictimPlan,
  valueOfGroup,
  writesOf,
} from './victim.suite.js';

const LIVES_PER_MOMENT = 3;
const TIMES_MAX = 25;
const DELAY_US_MAX = 6000;
const VICTIM = fileURLToPath(new URL('victim.suite.js', import.meta.url));

test('nothing that was acknowledged is lost in any phase, and nothing is there by half', async () => {
  const seed = seedFromEnvironment();
  process.stdout.write(`# journal: SEED=${seed}\n`);
  const random = seededRandom(seed);
  const folder = newFolder();
  let head = 0;
  let killed = 0;
  for (let life = 0; life < LIVES_PER_MOMENT * MOMENTS.length; life++) {
    const moment = MOMENTS[life % MOMENTS.length] as (typeof MOMENTS)[number];
    const times = 1 + randomInteger(random, moment.includes('layer') ? 5 : TIMES_MAX);
    const delayUs = randomInteger(random, DELAY_US_MAX);
    const { told, signal } = await live({ folder, first: head + 1, moment, times, delayUs });
    if (signal === 'SIGKILL') killed += 1;
    const acknowledged = told ?? head;
    head = await verify(folder, acknowledged, `${moment}, ${times}, ${delayUs}`);
  }
  assert.equal(killed, LIVES_PER_MOMENT * MOMENTS.length, 'a process came to its natural end');
});

async function live(plan: VictimPlan): Promise<{ told: number | undefined; signal: string }> {
  const child = spawn(process.execPath, [VICTIM, JSON.stringify(plan)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (part) => {
    output += part;
  });
  const [, signal] = await once(child, 'close');
  const lines = output.split('\n').slice(0, -1);
  return { told: lines.length > 0 ? Number(lines.at(-1)) : undefined, signal };
}

/** Looks at a copy: the next process is to find the store as the crash left it. */
async function verify(left: string, acknowledged: number, how: string): Promise<number> {
  const folder = newFolder();
  cpSync(left, folder, { recursive: true });
  const store = openLmdb(folder);
  const stored = store.get(headKey);
  const head = stored ? Number(Buffer.from(stored).toString()) : 0;
  assert(head === acknowledged || head === acknowledged + 1, `${how}: ${head}, ${acknowledged}`);
  const expected = new Map<string, string>();
  for (let group = 1; group <= head; group++) {
    for (const [key, value] of writesOf(group)) {
      if (key[0] === 0x73 && value) expected.set(key.toString('latin1'), String(value));
    }
  }
  const spread = store.range(Buffer.from('s'), Buffer.from('t'), 10_000);
  const shown = spread.map(([key, value]) => [key.toString('latin1'), String(value)] as const);
  assert.deepEqual(new Map(shown), expected, how);
  const kept = store.range(Buffer.from('g'), Buffer.from('h'), 1000);
  const groups = keptAfter(head);
  assert.deepEqual(
    kept.map(([key]) => key),
    groups.map(groupKey),
    how,
  );
  for (const [index, group] of groups.entries()) {
    assert(
      valueOfGroup(group).equals(kept[index]?.[1] as Buffer),
      `${how}: group ${group} is torn`,
    );
  }
  await store.close();
  return head;
}
