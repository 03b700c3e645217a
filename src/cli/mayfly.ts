#!/usr/bin/env node
// The command `mayfly`: starts a server, says where it is, and stops it on Ctrl-C.
import { pathToFileURL } from 'node:url';
import { type Mayfly, start } from '../main.js';
import { stopwatch, systemClock } from '../time/clock.js';
import { VERSION } from '../version.js';
import { banner, withoutPassword } from './banner.js';
import { helpText } from './help.js';
import { jsonLog, textLog } from './log.js';
import { runMigrate } from './migrate.js';
import { parseOptions, strayVariables } from './options.js';
import { UsageError } from './usage-error.js';

const EXIT = { usage: 2, failed: 1 };
const SAME_SIGNAL_MS = 500;

async function main(args: readonly string[]): Promise<void> {
  const [command = '', ...rest] = args;
  if (args.includes('--help') || args.includes('-h') || command === 'help') {
    process.stdout.write(helpText());
    return;
  }
  if (command === '--version' || command === 'version') {
    process.stdout.write(`mayfly ${VERSION}\n`);
    return;
  }
  if (command === 'migrate') {
    await runMigrate(rest);
    return;
  }
  if (command !== 'start') {
    const what = command === '' ? 'no command is given' : `'${command}' is no command`;
    throw new UsageError(`${what}; the commands are 'start' and 'migrate'.`);
  }
  await serve(rest);
}

async function serve(args: readonly string[]): Promise<void> {
  const { logLevel, ...options } = parseOptions(args, process.env);
  const isTerminal = process.stdout.isTTY === true;
  const write = (line: string) => process.stdout.write(`${line}\n`);
  // Whoever read the log may have gone: no reason to stop serving.
  process.stdout.on('error', () => undefined);
  const now = () => new Date(systemClock().wall()).toISOString();
  const log = isTerminal ? textLog(logLevel, write) : jsonLog(logLevel, write, now);
  const server = await start({ ...options, log });
  // First, because a script may stop the server as soon as it is ready.
  stopOnSignals(server, log);
  if (isTerminal) write(banner(server, options));
  const { cosmos } = server;
  // A key that is not known to everybody does not go into logs.
  const isSecret = options.key !== undefined && server.mongo !== undefined;
  const mongo = isSecret ? withoutPassword(server.mongo) : server.mongo;
  const data = options.store === undefined ? options.data : withoutPassword(options.store);
  const clock = server.clock.mode;
  // Scripts wait for this line, whatever else they want to be told.
  if (!isTerminal)
    jsonLog('info', write, now)('info', 'ready', { cosmos, mongo, data, clock, version: VERSION });
  // No more than a warning, because some platforms set variables by the names of services.
  const stray = strayVariables(process.env);
  if (stray.length > 0) log('warn', 'unknown-environment', { variables: stray.join(', ') });
}

/** The first signal drains and closes; a second one, from somebody in a hurry, ends at once. */
function stopOnSignals(server: Mayfly, log: ReturnType<typeof jsonLog>): void {
  let stopping: (() => number) | undefined;
  const stop = (signal: NodeJS.Signals) => {
    // One Ctrl-C may arrive twice, from the terminal and from a parent that passes it on.
    if (stopping && stopping() > SAME_SIGNAL_MS) process.exit(EXIT.failed);
    if (stopping) return;
    stopping = stopwatch();
    log('info', 'stopping', { signal });
    server.close().then(
      () => {
        log('info', 'stopped');
        process.exit(0);
      },
      (error: unknown) => {
        log('error', 'stop-failed', { error });
        process.exit(EXIT.failed);
      },
    );
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}

if (
  import.meta.url === pathToFileURL(process.argv[1] ?? '').href ||
  process.argv[1]?.endsWith('mayfly')
) {
  main(process.argv.slice(2)).catch((error: unknown) => {
    const text = error instanceof Error ? error.message : String(error);
    const hint = error instanceof UsageError ? ' See mayfly --help.' : '';
    const end = hint === '' || text.endsWith('.') ? '' : '.';
    process.stderr.write(`mayfly: ${text}${end}${hint}\n`);
    process.exitCode = error instanceof UsageError ? EXIT.usage : EXIT.failed;
  });
}
