// What the parts work on and share: the large and the small folder, a PostgreSQL cluster, and the
// waves of items that expire together.
import { randomBytes } from 'node:crypto';
import { chownSync, readFileSync } from 'node:fs';
import type { Child } from './child.js';
import type { FillPlan, Wave } from './fill.js';
import type { Bench } from './harness.js';
import type { Options } from './options.js';
import type { PgAddress } from './packages.js';
import type { PostgresAnswer, PostgresPlan } from './postgres.js';
import { HOST } from './wire.js';

export const SMALL_ITEMS = 10_000;
/** Documents of the large folder are small, so that it is quickly filled. */
export const SMALL_BYTES = 200;
export const TEN_YEARS_SECONDS = 315_360_000;
/** So many times fewer items expire where all paths are indexed. */
const INDEXED_SHARE = 5;
const FILL_MS_MAX = 1_200_000;

export interface Waves {
  readonly foreground: readonly Wave[];
  readonly purge: readonly Wave[];
  /** In a folder of their own, because indexed items take long to write. */
  readonly indexed: readonly Wave[];
  readonly flat: readonly Wave[];
}

/** In the order in which the parts run, one day each, for the parts that were asked for. */
export function wavesOf({ parts, rounds, waveItems, flatItems }: Options): Waves {
  let day = 0;
  const waves = (count: number, items: number): readonly Wave[] =>
    Array.from({ length: count }, () => {
      day += 1;
      return { day, items };
    });
  return {
    foreground: waves(parts.includes('foreground') ? rounds : 0, waveItems),
    purge: waves(parts.includes('purge') ? rounds : 0, waveItems),
    indexed: Array.from({ length: rounds }, (_, index) => ({
      day: index + 1,
      items: waveItems / INDEXED_SHARE,
    })),
    flat: waves(parts.includes('purge') ? rounds : 0, flatItems),
  };
}

export function largeFolder(bench: Bench): Promise<string> {
  return bench.once('large', () => {
    const { foreground, purge, flat } = wavesOf(bench.options);
    const waves = [...foreground, ...purge, ...flat];
    return filledFolder(bench, 'large', { living: bench.options.items, waves });
  });
}

export async function filledFolder(
  bench: Bench,
  name: string,
  content: Pick<FillPlan, 'living' | 'waves' | 'orders'> & { readonly indexed?: boolean },
): Promise<string> {
  const folder = bench.newFolder(name);
  const filler = bench.child('fill.js');
  const plan: FillPlan = {
    indexed: false,
    ...content,
    folder,
    bytes: SMALL_BYTES,
    defaultTtl: TEN_YEARS_SECONDS,
  };
  await filler.call('fill', plan, FILL_MS_MAX);
  await filler.stop();
  return folder;
}

export interface Postgres {
  readonly pid: number;
  readonly address: PgAddress;
  readonly load: Child;
}

export function postgres(bench: Bench): Promise<Postgres> {
  return bench.once('postgres', async () => {
    const account = serviceAccount();
    const folder = bench.newFolder('postgres', true);
    if (account) chownSync(folder, account.uid, account.gid);
    const host = bench.child('postgres.js', account);
    const login = { user: 'bench', password: randomBytes(16).toString('hex') };
    const plan: PostgresPlan = { folder, ...login };
    const { port, pid } = await host.call<PostgresAnswer>('serve', plan);
    const address = { host: HOST, port, ...login, database: 'postgres' };
    return { pid, address, load: bench.child('postgres-load.js') };
  });
}

/** PostgreSQL refuses to run as root; then it gets an account that every system has. */
function serviceAccount(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const lines = readFileSync('/etc/passwd', 'latin1').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('PostgreSQL does not run as root, and there is no account postgres or nobody.');
}
