// Part 5: what readers notice of the background purge. Point reads come at a fixed rate, whether or
// not the server keeps up, first in peace and then while many items are being purged.
import type { Child } from './child.js';
import { type Bench, median, pause } from './harness.js';
import type { FlowResult, LoadPlan } from './load.js';
import { type Mayfly, startMayfly } from './mayfly.js';
import { judged, number, type Report } from './report.js';
import { largeFolder, SMALL_BYTES, wavesOf } from './stock.js';

const PER_SECOND = 1000;
const CONNECTIONS = 32;
const DOCUMENTS = 5000;
const POLL_MS = 100;
const PURGE_START_MS_MAX = 10_000;
const REST_ATTEMPTS_MAX = 20;
const AIM = { most: 1.2 };

interface Round {
  readonly quiet: FlowResult;
  readonly purging: FlowResult & { readonly purgedPerSecond: number };
}

export async function foregroundPart(bench: Bench, report: Report): Promise<void> {
  const { items, rounds, waveItems, foregroundMs } = bench.options;
  report.say(`filling a folder with ${number(items)} items, unless there is one ...`);
  const data = await largeFolder(bench);
  const server = await startMayfly(bench, { data, clock: 'virtual', profile: 'foreground' });
  const load = bench.child('load.js');
  const work = { kind: 'read', count: DOCUMENTS, among: items } as const;
  const plan = { port: server.port, connections: CONNECTIONS, work, bodyBytesMin: SMALL_BYTES };
  const flow = async (): Promise<FlowResult> => {
    await load.call('prepare', plan satisfies LoadPlan);
    return load.call('flow', { perSecond: PER_SECOND, msMax: foregroundMs });
  };
  await flow();
  const kept: Round[] = [];
  for (const wave of wavesOf(bench.options).foreground) {
    const quiet = await flow();
    kept.push({ quiet, purging: await whilePurging(server, load, flow, wave.items) });
  }
  await server.stop();
  report.keep('foreground', kept);
  const values = (pick: (round: Round) => number) => median(kept.map(pick));
  const ratio = values((round) => round.purging.p99Ms / round.quiet.p99Ms);
  const row = (name: string, pick: (round: Round) => FlowResult) => [
    name,
    number(
      values((round) => pick(round).p50Ms),
      2,
    ),
    number(
      values((round) => pick(round).p99Ms),
      2,
    ),
    number(
      values((round) => pick(round).maxMs),
      1,
    ),
  ];
  const rate = values((round) => round.purging.purgedPerSecond);
  report.table({
    title:
      `Point reads at ${number(PER_SECOND)} per second, without and with the background purge ` +
      `of ${number(waveItems)} items: ${rounds} rounds, medians`,
    columns: ['reads', 'p50 ms', 'p99 ms', 'max ms', 'ratio of p99', 'aim'],
    rows: [
      [...row('in peace', (round) => round.quiet), '1.00'],
      [...row('beside a purge', (round) => round.purging), ...judged(ratio, AIM)],
    ],
    notes: [`Beside these reads the purge removed ${number(rate)} items per second.`],
  });
}

/** Measures only while the purge is at work: from its first items to its last ones. */
async function whilePurging(
  server: Mayfly,
  load: Child,
  flow: () => Promise<FlowResult>,
  items: number,
): Promise<Round['purging']> {
  const purged = async () => Number((await server.control('GET', 'purge')).purgedTotal);
  const before = await purged();
  await server.control('POST', 'clock', { advance: '1d' });
  const deadline = performance.now() + PURGE_START_MS_MAX;
  while ((await purged()) === before) {
    if (performance.now() > deadline) throw new Error('the background purge does not begin');
    await pause(POLL_MS);
  }
  const first = await purged();
  const start = performance.now();
  let flowing = true;
  const result = flow().finally(() => {
    flowing = false;
  });
  let last = first;
  while (flowing && last - before < items) {
    await pause(POLL_MS);
    last = await purged();
  }
  const seconds = (performance.now() - start) / 1000;
  await load.call('stop', {});
  const measured = await result;
  await purgeRest(server, async () => (await purged()) - before, items);
  return { ...measured, purgedPerSecond: (last - first) / seconds };
}

/**
 * What is left would disturb the next round. A purge on demand may meet a pass of the background
 * purge that is still under way, so one is not always enough.
 */
async function purgeRest(server: Mayfly, purged: () => Promise<number>, items: number) {
  for (let attempt = 0; attempt < REST_ATTEMPTS_MAX; attempt += 1) {
    await server.control('POST', 'purge');
    if ((await purged()) >= items) break;
  }
  const total = await purged();
  if (total !== items) throw new Error(`${total} items were purged instead of ${items}`);
}
