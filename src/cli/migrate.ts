// `mayfly migrate`: its options, its progress on the screen, and what it says at the end.
import { parseArgs } from 'node:util';
import { migrate, type Progress } from '../migrate.js';
import { UsageError } from './usage-error.js';

const BAR_WIDTH = 30;

export async function runMigrate(args: readonly string[]): Promise<void> {
  const { from, to } = parse(args);
  const isTerminal = process.stderr.isTTY === true;
  let shown = '';
  const progress = (step: Progress) => {
    const line = progressLine(step);
    const isLast = step.items >= step.itemsAll;
    if (isTerminal) process.stderr.write(`\r${line.padEnd(shown.length)}${isLast ? '\n' : ''}`);
    else if (isLast && line !== shown) process.stderr.write(`${line}\n`);
    shown = line;
  };
  const { containers, items, versions, bytes, checksum } = await migrate({ from, to, progress });
  process.stdout.write(
    `Copied and verified ${containers} containers with ${items} items and ${versions} logged versions, ${bytes} bytes; checksum ${checksum.slice(0, 16)}.\n`,
  );
}

export function progressLine({
  phase,
  container,
  containers,
  index,
  items,
  itemsAll,
}: Progress): string {
  const share = itemsAll === 0 ? 1 : Math.min(1, items / itemsAll);
  const full = Math.floor(share * BAR_WIDTH);
  const bar = `${'#'.repeat(full)}${'.'.repeat(BAR_WIDTH - full)}`;
  return `${phase} ${index + 1}/${containers} [${bar}] ${items}/${itemsAll} ${container}`;
}

function parse(args: readonly string[]): { readonly from: string; readonly to: string } {
  const option = { type: 'string' } as const;
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { from: option, to: option },
      strict: true,
    });
    if (values.from === undefined || values.to === undefined)
      throw new Error('--from and --to are needed.');
    return { from: values.from, to: values.to };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
