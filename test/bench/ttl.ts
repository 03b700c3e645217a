// Part 3: changing a container's time to live takes the same time whatever the container holds.
import { containerBody } from './client.js';
import { type Bench, median } from './harness.js';
import { type Mayfly, startMayfly } from './mayfly.js';
import { judged, number, type Report } from './report.js';
import { filledFolder, largeFolder, SMALL_ITEMS, TEN_YEARS_SECONDS } from './stock.js';
import { CONTAINER_LINK } from './wire.js';

const CHANGES_PER_ROUND = 40;
const AIM = { most: 1.5 };

export async function ttlPart(bench: Bench, report: Report): Promise<void> {
  const { rounds, items } = bench.options;
  report.say(`filling folders with ${number(SMALL_ITEMS)} and ${number(items)} items ...`);
  const small = await filledFolder(bench, 'small', { living: SMALL_ITEMS, waves: [] });
  const servers = [
    { name: `${number(SMALL_ITEMS)} items`, server: await startMayfly(bench, { data: small }) },
    {
      name: `${number(items)} items`,
      server: await startMayfly(bench, { data: await largeFolder(bench) }),
    },
  ];
  const times = new Map<string, number[]>(servers.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, server } of servers) {
      const taken = await changeTtl(server, round * CHANGES_PER_ROUND);
      if (round > 0) times.get(name)?.push(median(taken));
    }
  }
  for (const { server } of servers) await server.stop();
  report.keep('ttl', Object.fromEntries(times));
  const medians = [...times].map(([name, all]) => ({ name, ms: median(all) }));
  const first = medians[0]?.ms ?? Number.NaN;
  report.table({
    title:
      `Changing the TTL of a container: ${rounds} rounds of ${CHANGES_PER_ROUND} changes, ` +
      'medians of the wall time',
    columns: ['container', 'ms/change', 'ratio', 'aim'],
    rows: medians.map(({ name, ms }, index) =>
      index === 0
        ? [name, number(ms, 2), '1.00']
        : [name, number(ms, 2), ...judged(ms / first, AIM)],
    ),
  });
}

/** Every value is another one, and so long that nothing expires. */
async function changeTtl(server: Mayfly, from: number): Promise<readonly number[]> {
  const path = `/${CONTAINER_LINK}`;
  const headers = { 'content-type': 'application/json' };
  const times: number[] = [];
  for (let change = 0; change < CHANGES_PER_ROUND; change += 1) {
    const defaultTtl = TEN_YEARS_SECONDS + 1 + from + change;
    const body = JSON.stringify(containerBody({ defaultTtl, indexed: false }));
    const start = performance.now();
    const call = { verb: 'PUT', path, type: 'colls', link: CONTAINER_LINK, headers, body };
    const reply = await server.call(call);
    times.push(performance.now() - start);
    const answered = JSON.parse(reply.body).defaultTtl;
    if (answered !== defaultTtl) throw new Error(`the TTL is ${answered}, not ${defaultTtl}`);
  }
  return times;
}
