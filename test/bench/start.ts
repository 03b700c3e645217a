// Part 6: from the command to the first answer, with nothing stored and with a lot; and the memory
// that a server with a lot takes at rest.
import { type Bench, median, pause } from './harness.js';
import { startMayfly } from './mayfly.js';
import { type Memory, memoryOf } from './proc.js';
import { judged, number, type Report } from './report.js';
import { largeFolder } from './stock.js';
import { type Call, readCall } from './wire.js';

const REST_MS = 1000;
const EMPTY_MS_MAX = 500;
const LARGE_MS_MAX = 2000;
const RESIDENT_MB_MAX = 150;

interface Started {
  readonly ms: number;
  readonly memory: Memory;
}

const listDatabases: Call = { verb: 'GET', path: '/dbs', type: 'dbs', link: '' };

export async function startPart(bench: Bench, report: Report): Promise<void> {
  const { rounds, items } = bench.options;
  report.say(`filling a folder with ${number(items)} items, unless there is one ...`);
  const large = await largeFolder(bench);
  const empty: Started[] = [];
  const full: Started[] = [];
  for (let round = 0; round < rounds; round += 1) {
    empty.push(await startOnce(bench, bench.newFolder('empty'), listDatabases));
    full.push(await startOnce(bench, large, readCall(items - 1)));
  }
  report.keep('start', { empty, full });
  const row = (name: string, all: readonly Started[], msMax: number) => {
    const ms = median(all.map((each) => each.ms));
    return [name, number(ms), ...judged(ms / msMax, { most: 1 })];
  };
  report.table({
    title: `Start to first answer: ${rounds} starts each, medians`,
    columns: ['folder', 'ms', 'of the limit', 'aim'],
    rows: [
      row(`empty (limit ${EMPTY_MS_MAX} ms)`, empty, EMPTY_MS_MAX),
      row(`${number(items)} items (limit ${LARGE_MS_MAX} ms)`, full, LARGE_MS_MAX),
    ],
  });
  const memory = (pick: (memory: Memory) => number) =>
    median(full.map((each) => pick(each.memory)));
  const resident = memory((each) => each.residentMb);
  report.table({
    title: `Memory at rest with ${number(items)} items, medians`,
    columns: ['kind', 'MB', 'of the limit', 'aim'],
    rows: [
      [
        `resident (limit ${RESIDENT_MB_MAX} MB)`,
        number(resident),
        ...judged(resident / RESIDENT_MB_MAX, { most: 1 }),
      ],
      ['  its own', number(memory((each) => each.anonymousMb))],
      ['  pages of files', number(memory((each) => each.fileMb))],
    ],
  });
}

async function startOnce(bench: Bench, data: string, first: Call): Promise<Started> {
  const start = performance.now();
  const server = await startMayfly(bench, { data });
  await server.call(first);
  const ms = performance.now() - start;
  await pause(REST_MS);
  const memory = memoryOf(server.pid);
  await server.stop();
  return { ms, memory };
}
