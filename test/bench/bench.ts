// `npm run bench`: runs the parts that were asked for one after the other, prints their tables, and
// leaves nothing behind.
import { containerPart } from './container.js';
import { foregroundPart } from './foreground.js';
import { Bench } from './harness.js';
import { indexingPart } from './indexing.js';
import { leftoversPart } from './leftovers.js';
import { mongoPart } from './mongo.js';
import { HELP, type Options, type Part, parseOptions, UsageError } from './options.js';
import { reportProfile } from './profile.js';
import { purgePart } from './purge.js';
import { queryPart } from './query.js';
import { readPart } from './read.js';
import { openReport, type Report } from './report.js';
import { scaleOutPart } from './scale-out.js';
import { scriptsPart } from './scripts.js';
import { startPart } from './start.js';
import { ttlPart } from './ttl.js';
import { upsertPart } from './upsert.js';

const TOTAL_MS_MAX = 3_600_000;
/** Which profiles a part leaves. */
const PROFILES: Partial<Record<Part, readonly string[]>> = {
  read: ['read'],
  upsert: ['upsert', 'upsert-plain'],
  query: ['query'],
  indexing: ['indexing'],
  foreground: ['foreground'],
  purge: ['purge', 'purge-plain'],
  container: ['container'],
  mongo: ['mongo'],
  scripts: ['scripts'],
};

const parts: Readonly<Record<Part, (bench: Bench, report: Report) => Promise<void>>> = {
  read: readPart,
  upsert: upsertPart,
  query: queryPart,
  indexing: indexingPart,
  ttl: ttlPart,
  start: startPart,
  foreground: foregroundPart,
  purge: purgePart,
  container: containerPart,
  leftovers: leftoversPart,
  scripts: scriptsPart,
  postgres: scaleOutPart,
  mongo: mongoPart,
};

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  if (options === 'help') {
    process.stdout.write(HELP);
    return;
  }
  if (process.platform !== 'linux') {
    throw new UsageError('CPU times are read from /proc, so the benchmark runs on Linux only.');
  }
  const bench = new Bench(options);
  const leave = (why: string, status: number) => {
    process.stderr.write(`bench: ${why}\n`);
    bench.close().then(
      () => process.exit(status),
      () => process.exit(status),
    );
  };
  process.on('SIGINT', () => leave('interrupted', 130));
  process.on('SIGTERM', () => leave('terminated', 143));
  const timer = setTimeout(() => leave('an hour is over', 1), TOTAL_MS_MAX);
  try {
    await runParts(bench, options);
  } finally {
    clearTimeout(timer);
    await bench.close();
  }
}

async function runParts(bench: Bench, options: Options): Promise<void> {
  const report = openReport(options);
  const start = performance.now();
  for (const part of options.parts) {
    report.say(`${part} ...`);
    const began = performance.now();
    await parts[part](bench, report);
    report.say(`${part} took ${secondsSince(began)} s`);
    for (const name of PROFILES[part] ?? []) {
      if (options.profile !== undefined) reportProfile(options.profile, name, report);
    }
  }
  report.finish();
  report.say(`done in ${secondsSince(start)} s`);
}

function secondsSince(start: number): number {
  return Math.round((performance.now() - start) / 1000);
}

main().catch((error: unknown) => {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(error instanceof UsageError ? `bench: ${error.message}\n` : `${text}\n`);
  process.exitCode = 1;
});
