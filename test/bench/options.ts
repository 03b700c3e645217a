// What the benchmark can be told: which parts to run, how large, and where to leave the numbers.
import { parseArgs } from 'node:util';

export const PARTS = [
  'read',
  'upsert',
  'query',
  'indexing',
  'ttl',
  'start',
  'foreground',
  'purge',
  'container',
  'leftovers',
  'scripts',
  'postgres',
  'mongo',
] as const;
export type Part = (typeof PARTS)[number];

export interface Options {
  readonly parts: readonly Part[];
  readonly quick: boolean;
  /** Measured rounds of each comparison; medians are taken over them. */
  readonly rounds: number;
  /** Living items of the large folder. */
  readonly items: number;
  /** Items that expire at once, in the parts that purge. */
  readonly waveItems: number;
  /** Items that expire at once where the cost is compared over sizes of the container. */
  readonly flatItems: number;
  /** Documents of 1 KB that are read and replaced. */
  readonly documents: number;
  readonly readRequests: number;
  readonly upsertRequests: ReadonlyMap<number, number>;
  /** Items that are written in each round where the cost of an indexed path is measured. */
  readonly indexingRequests: number;
  /** Items that are written in each round where batches, bulk and single writes are compared. */
  readonly containerItems: number;
  /** Expired items beside a container at its limit, and how long it is kept there. */
  readonly leftoverItems: number;
  readonly leftoverMs: number;
  /** How long each question is asked in each round. */
  readonly queryMs: number;
  readonly foregroundMs: number;
  readonly json: string | undefined;
  readonly profile: string | undefined;
}

export class UsageError extends Error {}

export const HELP = `Usage: npm run bench -- [parts] [options]

Parts (all of them without any): ${PARTS.join(', ')}

  --quick         fewer rounds, requests and items: about a minute, rougher numbers
  --items N       living items of the large folder (1000000; 100000 with --quick)
  --rounds N      measured rounds of each comparison (5; 3 with --quick)
  --json FILE     write the numbers of every round to FILE
  --profile DIR   let Mayfly write CPU profiles to DIR, and list where its time went; that costs
                  CPU, so ratios are for runs without it
  --help          this text
`;

export function parseOptions(args: readonly string[]): Options | 'help' {
  const { values, positionals } = parsed(args);
  if (values.help) return 'help';
  const quick = values.quick ?? false;
  const unknown = positionals.find((name) => !PARTS.some((part) => part === name));
  if (unknown !== undefined) {
    throw new UsageError(`'${unknown}' is no part. Parts: ${PARTS.join(', ')}.`);
  }
  return {
    parts: PARTS.filter((part) => positionals.length === 0 || positionals.includes(part)),
    quick,
    rounds: countOf('rounds', values.rounds, quick ? 3 : 5),
    items: countOf('items', values.items, quick ? 100_000 : 1_000_000),
    waveItems: quick ? 10_000 : 100_000,
    flatItems: quick ? 2000 : 10_000,
    documents: quick ? 1000 : 10_000,
    readRequests: quick ? 4000 : 20_000,
    upsertRequests: new Map(
      quick
        ? [
            [1, 300],
            [16, 1000],
            [64, 2000],
          ]
        : [
            [1, 3000],
            [16, 10_000],
            [64, 16_000],
          ],
    ),
    indexingRequests: quick ? 1000 : 8000,
    containerItems: quick ? 2000 : 20_000,
    leftoverItems: quick ? 4000 : 50_000,
    leftoverMs: quick ? 5000 : 20_000,
    queryMs: quick ? 500 : 1500,
    foregroundMs: quick ? 2000 : 10_000,
    json: values.json,
    profile: values.profile,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        quick: { type: 'boolean' },
        help: { type: 'boolean' },
        items: { type: 'string' },
        rounds: { type: 'string' },
        json: { type: 'string' },
        profile: { type: 'string' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function countOf(name: string, text: string | undefined, preset: number): number {
  if (text === undefined) return preset;
  const count = Number(text);
  if (/^\d{1,9}$/.test(text) && count > 0) return count;
  throw new UsageError(`--${name} wants a number above 0, not '${text}'.`);
}
