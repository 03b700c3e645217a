// What people read: the header, one table per comparison, and whether its aim is met. The same
// numbers, round by round, go to the JSON file.
import { writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import type { Options } from './options.js';

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly notes?: readonly string[];
}
export interface Report {
  table(table: Table): void;
  say(text: string): void;
  /** Numbers for the JSON file, under the name of their part. */
  keep(part: string, numbers: unknown): void;
  finish(): void;
}

export function openReport(options: Options): Report {
  const kept: Record<string, unknown> = {};
  const write = (text: string) => process.stdout.write(text);
  write(header());
  if (options.profile !== undefined) write(PROFILED);
  return {
    table: (table) => write(render(table)),
    say: (text) => process.stderr.write(`bench: ${text}\n`),
    keep: (part, numbers) => {
      kept[part] = numbers;
    },
    finish: () => {
      if (options.json === undefined) return;
      const { upsertRequests, ...plain } = options;
      const told = { ...plain, upsertRequests: Object.fromEntries(upsertRequests) };
      const all = { machine: machine(), options: told, parts: kept };
      writeFileSync(options.json, `${JSON.stringify(all, undefined, 2)}\n`);
    },
  };
}

/** A ratio against its aim: `1.23   >= 1: met`. */
export function judged(ratio: number, aim: { readonly least?: number; readonly most?: number }) {
  const { least, most } = aim;
  const met = (least === undefined || ratio >= least) && (most === undefined || ratio <= most);
  const bound = least === undefined ? `<= ${most}` : `>= ${least}`;
  return [ratio.toFixed(2), `${bound}: ${met ? 'met' : 'MISSED'}`] as const;
}

export const number = (value: number, digits = 0): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });

const PROFILED = `
  Mayfly is being profiled, which costs CPU itself: take its ratios from a run without --profile.
`;

function header(): string {
  const { node, cpu, cores, memoryGb, system } = machine();
  return `
Mayfly benchmark
  Node ${node}, ${cores} cores of ${cpu}, ${memoryGb} GB, ${system}

  CPU is user and system time of the server's processes. Compare only within this run: machines
  differ and are shared, so the ratios count and the absolute numbers do not.
`;
}

function machine() {
  const all = cpus();
  return {
    node: process.version,
    cpu: all[0]?.model.trim() ?? 'unknown',
    cores: all.length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${release()}`,
  };
}

/** The first column is text and stands left, the others are numbers and stand right. */
function render({ title, columns, rows, notes = [] }: Table): string {
  const all = [columns, ...rows];
  const widths = columns.map((_, at) => Math.max(...all.map((row) => (row[at] ?? '').length)));
  const line = (row: readonly string[]) =>
    widths
      .map((width, at) =>
        at === 0 ? (row[at] ?? '').padEnd(width) : (row[at] ?? '').padStart(width),
      )
      .join('   ')
      .trimEnd();
  const rule = widths.map((width) => '-'.repeat(width)).join('   ');
  const lines = [line(columns), rule, ...rows.map(line), ...notes];
  return `\n${title}\n\n${lines.map((text) => `  ${text}`).join('\n')}\n`;
}
