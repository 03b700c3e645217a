// Mayfly as a subject: the command as people start it, in its own process, on a free port.
import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { WELL_KNOWN_KEY } from '../../src/http/keys.js';
import { ended, orKill, within } from './child.js';
import { type Client, openClient, type Reply } from './client.js';
import type { Bench } from './harness.js';
import { projectFolder } from './packages.js';
import { type Call, HOST } from './wire.js';

export interface Mayfly extends Client {
  readonly port: number;
  /** Where MongoDB clients are served. */
  readonly mongoPort: number;
  readonly pid: number;
  /** A request to the control API. */
  control(verb: string, path: string, body?: object): Promise<Record<string, unknown>>;
  metrics(): Promise<Reply>;
  stop(): Promise<void>;
}
export interface MayflyPlan {
  readonly data: string;
  readonly clock?: 'system' | 'virtual';
  readonly throughput?: 'enforce';
  /** The profile's name, where profiles are wanted. */
  readonly profile?: string;
}

const BEARER = { authorization: `Bearer ${WELL_KNOWN_KEY}` };
const METRICS = { verb: 'GET', path: '/_mayfly/metrics', type: '', link: '' };
const START_MS_MAX = 60_000;
const STOP_MS_MAX = 30_000;
const LINES_MAX = 30;

export async function startMayfly(bench: Bench, plan: MayflyPlan): Promise<Mayfly> {
  const child = spawn(process.execPath, argumentsOf(bench, plan), {
    env: environment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const gone = ended(child);
  const ready = new Promise<readonly [port: number, mongoPort: number]>((found) => {
    const look = (line: string) => {
      lines.push(line);
      if (lines.length > LINES_MAX) lines.shift();
      const port = /"event":"ready".*"cosmos":"http:\/\/[^"]+:(\d+)\/"/.exec(line)?.[1];
      const mongoPort = /"mongo":"[^"]*:(\d+)\/"/.exec(line)?.[1];
      if (port) found([Number(port), Number(mongoPort)]);
    };
    createInterface(child.stdout).on('line', look);
    createInterface(child.stderr).on('line', look);
  });
  let client: Client | undefined;
  const stop = async () => {
    client?.close();
    child.kill('SIGTERM');
    await orKill(child, gone, STOP_MS_MAX);
  };
  bench.atEnd(stop);
  const early = gone.then((how) => {
    throw new Error(`Mayfly ended ${how}:\n${lines.join('\n')}`);
  });
  early.catch(() => undefined);
  const started = within(START_MS_MAX, Promise.race([ready, early]), 'the start of Mayfly');
  const [port, mongoPort] = await started;
  const opened = openClient(port);
  client = opened;
  const call = (asked: Call, headers?: Readonly<Record<string, string>>): Promise<Reply> =>
    Promise.race([opened.call(asked, headers), early]);
  const control: Mayfly['control'] = async (verb, path, body) => {
    const asked = { verb, path: `/_mayfly/${path}`, type: '', link: '' };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const reply = await call({ ...asked, ...text }, BEARER);
    return JSON.parse(reply.body);
  };
  const metrics = () => call(METRICS, BEARER);
  const { pid = 0 } = child;
  return { port, mongoPort, pid, call, control, metrics, stop, close: opened.close };
}

function argumentsOf({ options }: Bench, plan: MayflyPlan): string[] {
  const { data, clock, profile, throughput = 'measure' } = plan;
  const profiling =
    options.profile === undefined || profile === undefined
      ? []
      : [
          '--cpu-prof',
          `--cpu-prof-dir=${resolve(options.profile)}`,
          `--cpu-prof-name=${profile}.cpuprofile`,
        ];
  const command = join(projectFolder, 'dist', 'src', 'cli', 'mayfly.js');
  const more = ['--port', '0', '--host', HOST, '--data', data, '--clock', clock ?? 'system'];
  more.push('--throughput', throughput);
  return [...profiling, command, 'start', ...more];
}

/** Settings of whoever runs the benchmark must not reach the server. */
function environment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(MAYFLY|NODE)_/.test(name));
  return Object.fromEntries(own);
}
