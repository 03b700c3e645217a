// Part 4: how fast items that expire together are purged, against PostgreSQL's delete and vacuum;
// and that the cost follows what expired, not what did not.
import type { Wave } from './fill.js';
import { type Bench, median } from './harness.js';
import { type Mayfly, startMayfly } from './mayfly.js';
import type { PostgresFill, PostgresPurge } from './postgres-load.js';
import { cpuMsOf } from './proc.js';
import { judged, number, type Report } from './report.js';
import { filledFolder, largeFolder, postgres, SMALL_BYTES, wavesOf } from './stock.js';

const FILL_MS_MAX = 1_200_000;
const PURGE_MS_MAX = 600_000;
const SPEED_AIM = { least: 1 };
/** Within the noise of one round. */
const FLAT_AIM = { most: 1.5 };

interface Cost {
  readonly perSecond: number;
  readonly cpuUs: number;
}

export async function purgePart(bench: Bench, report: Report): Promise<void> {
  const { items, waveItems } = bench.options;
  const { foreground, purge, indexed } = wavesOf(bench.options);
  report.say(`filling a folder and a table with ${number(items)} items, unless there is one ...`);
  const data = await largeFolder(bench);
  const plain = { indexed: false, living: items, waves: purge, daysBefore: foreground.length };
  await comparePurge(bench, report, data, plain);
  report.say('filling a folder and a table with indexed items ...');
  const content = { living: waveItems, waves: indexed, indexed: true };
  const indexedData = await filledFolder(bench, 'indexed', content);
  await comparePurge(bench, report, indexedData, { ...content, daysBefore: 0 });
  await compareSizes(bench, report, data);
}

interface Comparison {
  readonly indexed: boolean;
  readonly living: number;
  readonly waves: readonly Wave[];
  /** Waves of other parts come first in the folder. */
  readonly daysBefore: number;
}

async function comparePurge(
  bench: Bench,
  report: Report,
  data: string,
  { indexed, living, waves, daysBefore }: Comparison,
): Promise<void> {
  const { address, load, pid } = await postgres(bench);
  const content: PostgresFill = { address, indexed, living, waves, bytes: SMALL_BYTES };
  await load.call('fill', content, FILL_MS_MAX);
  const profile = indexed ? 'purge' : 'purge-plain';
  const server = await startMayfly(bench, { data, clock: 'virtual', profile });
  await server.control('POST', 'purge/pause');
  if (daysBefore > 0) await server.control('POST', 'clock', { advance: `${daysBefore}d` });
  const mayfly: Cost[] = [];
  const postgresql: Cost[] = [];
  for (const { day, items } of waves) {
    mayfly.push(await purgeWave(server, items, 1));
    const purge = async () =>
      (await load.call<PostgresPurge>('purge', { day, indexed }, PURGE_MS_MAX)).deleted;
    postgresql.push(await costOf(pid, items, purge));
  }
  await server.stop();
  report.keep(indexed ? 'purge-indexed' : 'purge', { mayfly, postgresql });
  const [own, other] = [mayfly, postgresql].map(mediansOf) as [Cost, Cost];
  report.table({
    title:
      `Purge of ${number(waves[0]?.items ?? 0)} items that expire at once beside ` +
      `${number(living)} others, ${indexed ? 'all' : 'no'} paths indexed: ` +
      `${waves.length} rounds, medians`,
    columns: ['subject', 'items/s', 'ratio', 'aim', 'CPU µs/item', 'ratio of CPU', 'aim'],
    rows: rowsOf(own, other),
  });
}

function rowsOf(own: Cost, other: Cost): readonly (readonly string[])[] {
  const speed = judged(own.perSecond / other.perSecond, SPEED_AIM);
  const cost = judged(other.cpuUs / own.cpuUs, SPEED_AIM);
  const peer = [number(other.perSecond), '1.00', '', number(other.cpuUs, 1), '1.00'];
  return [
    ['Mayfly', number(own.perSecond), ...speed, number(own.cpuUs, 1), ...cost],
    ['PostgreSQL 18, delete + vacuum', ...peer],
  ];
}

/** Every purge gets a fresh server, so that both sizes are equally cold. */
async function compareSizes(bench: Bench, report: Report, data: string): Promise<void> {
  const { rounds, items, flatItems } = bench.options;
  const { foreground, purge, flat } = wavesOf(bench.options);
  const small: Cost[] = [];
  const large: Cost[] = [];
  const purgeFresh = async (folder: string, days: number) => {
    const server = await startMayfly(bench, { data: folder, clock: 'virtual' });
    await server.control('POST', 'purge/pause');
    const cost = await purgeWave(server, flatItems, days);
    await server.stop();
    return cost;
  };
  for (const [index] of flat.entries()) {
    const waves = [{ day: 1, items: flatItems }];
    const folder = await filledFolder(bench, 'flat', { living: 0, waves });
    small.push(await purgeFresh(folder, 1));
    large.push(await purgeFresh(data, foreground.length + purge.length + index + 1));
  }
  report.keep('purge-flatness', { small, large });
  const [few, many] = [small, large].map(mediansOf) as [Cost, Cost];
  report.table({
    title:
      `Purge of ${number(flatItems)} items from containers of different sizes: ` +
      `${rounds} rounds, medians`,
    columns: ['container', 'items/s', 'CPU µs/item', 'ratio of CPU', 'aim'],
    rows: [
      [`${number(flatItems)} items`, number(few.perSecond), number(few.cpuUs, 1), '1.00'],
      [
        `${number(items)} items and more`,
        number(many.perSecond),
        number(many.cpuUs, 1),
        ...judged(many.cpuUs / few.cpuUs, FLAT_AIM),
      ],
    ],
  });
}

async function purgeWave(server: Mayfly, items: number, days: number): Promise<Cost> {
  await server.control('POST', 'clock', { advance: `${days}d` });
  return costOf(server.pid, items, async () =>
    Number((await server.control('POST', 'purge')).purged),
  );
}

async function costOf(pid: number, items: number, purge: () => Promise<number>): Promise<Cost> {
  const cpu = cpuMsOf(pid);
  const start = performance.now();
  const purged = await purge();
  const seconds = (performance.now() - start) / 1000;
  if (purged !== items) throw new Error(`${purged} items were purged instead of ${items}`);
  return { perSecond: items / seconds, cpuUs: ((cpuMsOf(pid) - cpu) * 1000) / items };
}

function mediansOf(costs: readonly Cost[]): Cost {
  return {
    perSecond: median(costs.map((cost) => cost.perSecond)),
    cpuUs: median(costs.map((cost) => cost.cpuUs)),
  };
}
