// A process that writes numbered groups to a store until it is killed, by its own hand, at a moment
// that its plan names. Every group that was acknowledged is told before anything else happens.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import { argv, pid } from 'node:process';
import type { Store, Write } from '../../src/engine/kv/store.js';

/** Where the end comes: at the so-manieth time that the process gets there. */
export interface VictimPlan {
  readonly folder: string;
  readonly first: number;
  readonly moment: Moment;
  readonly times: number;
  readonly delayUs: number;
}
export const MOMENTS = [
  'before a record is written',
  'when half a record is written',
  'when a record is written and not flushed',
  'when a record is flushed and not acknowledged',
  'when half of the first record of a file is written',
  'while a layer goes down',
  'when a layer went down',
  'while the store closes',
  'before a file of the journal is removed',
  'while what was left is read back',
] as const;
export type Moment = (typeof MOMENTS)[number];
const CLOSING: readonly Moment[] = [
  'while the store closes',
  'before a file of the journal is removed',
];

const SPREAD = 2000;
const KEPT = 15;
const KEYS_PER_GROUP = 150;
const GROUPS_MAX = 400;
const LARGE_EVERY = 17;
const LARGE_BYTES = 600_000;

export const headKey = Buffer.from('head');
export const groupKey = (group: number): Buffer => {
  const key = Buffer.alloc(8, 'g');
  key.writeUInt32BE(group, 4);
  return key;
};
export const spreadKey = (group: number, index: number): Buffer => {
  const key = Buffer.alloc(8, 's');
  key.writeUInt32BE((group * 977 + index * 61) % SPREAD, 4);
  return key;
};
export const valueOfGroup = (group: number): Buffer =>
  Buffer.alloc(group % LARGE_EVERY === 0 ? LARGE_BYTES : 100 + (group % 50), `${group},`);

export function writesOf(group: number): readonly Write[] {
  const spread = Array.from({ length: KEYS_PER_GROUP }, (_, index): Write => {
    return [spreadKey(group, index), Buffer.from(String(group))];
  });
  return [
    ...spread,
    [groupKey(group), valueOfGroup(group)],
    [groupKey(Math.max(group - KEPT, 0)), undefined],
    [headKey, Buffer.from(String(group))],
  ];
}
/** The groups whose own entries are there after this one. */
export const keptAfter = (group: number): readonly number[] =>
  Array.from({ length: Math.min(KEPT, group) }, (_, index) => group - index).reverse();

async function main(plan: VictimPlan): Promise<void> {
  let left = plan.times;
  const arrive = (moment: Moment) => {
    if (moment === plan.moment && --left <= 0) die(plan.delayUs);
  };
  harmFiles(arrive);
  const { openLmdb } = await import('../../src/engine/kv/lmdb.js');
  const store = openLmdb(plan.folder);
  await soon();
  if (plan.moment === 'while what was left is read back') die(plan.delayUs);
  const end = plan.first + GROUPS_MAX;
  for (let group = plan.first; group < end; group++) {
    await store.write(writesOf(group), group % 2 === 0);
    tell(group);
    if (group % 10 === 9) await goDown(store, arrive);
    if (CLOSING.includes(plan.moment) && group - plan.first >= plan.times) break;
  }
  // The first file of the journal, or the second.
  left = plan.moment === 'while the store closes' ? 1 : 1 + (plan.times % 2);
  const closing = store.close();
  await soon();
  arrive('while the store closes');
  await closing;
}

async function goDown(store: Store, arrive: (moment: Moment) => void): Promise<void> {
  const settled = store.settle();
  await soon();
  arrive('while a layer goes down');
  await settled;
  arrive('when a layer went down');
}

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const tell = (group: number): void => void realWriteSync(1, `${group}\n`);
const realWriteSync = fs.writeSync;

/** Blocks this thread meanwhile, and not the one that commits. */
function die(delayUs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, delayUs / 1000);
  process.kill(pid, 'SIGKILL');
}

/** Puts the ends that come inside of a call of the file system into it. */
function harmFiles(arrive: (moment: Moment) => void): void {
  const used = new Set<number>();
  const writeSync = fs.writeSync as (...args: unknown[]) => number;
  const { fdatasync, rmSync } = fs;
  const isRecord = (bytes: unknown) =>
    Buffer.isBuffer(bytes) && bytes.toString('latin1', 0, 7) === 'mayflyJ';
  fs.writeSync = ((file: number, bytes: Buffer, from: number, length: number, at: number) => {
    if (!isRecord(bytes)) return writeSync(file, bytes, from, length, at);
    arrive('before a record is written');
    const isFirst = at === 0 && used.has(file);
    used.add(file);
    writeSync(file, bytes, from, length >> 1, at);
    arrive('when half a record is written');
    if (isFirst) arrive('when half of the first record of a file is written');
    const written = writeSync(file, bytes, from, length, at);
    arrive('when a record is written and not flushed');
    return written;
  }) as typeof fs.writeSync;
  fs.fdatasync = ((file: number, done: (error: Error | null) => void) =>
    fdatasync(file, (error) => {
      arrive('when a record is flushed and not acknowledged');
      done(error);
    })) as typeof fs.fdatasync;
  fs.rmSync = ((path: string, options: fs.RmOptions) => {
    if (basename(path).startsWith('store.journal'))
      arrive('before a file of the journal is removed');
    rmSync(path, options);
  }) as typeof fs.rmSync;
  syncBuiltinESMExports();
}

if (argv[2]?.startsWith('{')) await main(JSON.parse(argv[2]) as VictimPlan);
