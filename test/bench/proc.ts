// What the system says of processes: the CPU time of one and all below it, and resident memory.
// Only Linux says it this way.
import { readdirSync, readFileSync } from 'node:fs';

/** Places after the process name: in proc(5) the parent is field 4, the four CPU times 14 to 17. */
const PARENT = 1;
const FIRST_TIME = 11;
const TIMES = 4;
/** Linux counts these times in hundredths of a second on every architecture Node runs on. */
const TICK_MS = 10;

/**
 * User and system time of a process and everything below it. A process that has ended lives on in
 * its parent's times, so nothing is lost when backends come and go.
 */
export function cpuMsOf(root: number): number {
  const processes = readAll();
  const children = new Map<number, number[]>();
  for (const [pid, { parent }] of processes) {
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  let ticks = 0;
  const waiting = [root];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    const found = processes.get(pid);
    if (!found) throw new Error(`process ${pid} is gone`);
    ticks += found.ticks;
    waiting.push(...(children.get(pid) ?? []));
  }
  return ticks * TICK_MS;
}

export interface Memory {
  readonly residentMb: number;
  /** The process's own memory. */
  readonly anonymousMb: number;
  /** Pages of files, the store's included, which the system takes back when it needs them. */
  readonly fileMb: number;
}

export function memoryOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/status`, 'latin1');
  const megabytes = (name: string) => {
    const match = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text);
    if (!match) throw new Error(`the system does not say ${name} of process ${pid}`);
    return Number(match[1]) / 1024;
  };
  return {
    residentMb: megabytes('VmRSS'),
    anonymousMb: megabytes('RssAnon'),
    fileMb: megabytes('RssFile') + megabytes('RssShmem'),
  };
}

interface Seen {
  readonly parent: number;
  readonly ticks: number;
}

function readAll(): ReadonlyMap<number, Seen> {
  const found = new Map<number, Seen>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const text = readIfThere(`/proc/${name}/stat`);
    if (text === undefined) continue;
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const times = fields.slice(FIRST_TIME, FIRST_TIME + TIMES).map(Number);
    found.set(Number(name), {
      parent: Number(fields[PARENT]),
      ticks: times.reduce((sum, time) => sum + time, 0),
    });
  }
  return found;
}

/** Processes end while the list is read. */
function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return undefined;
  }
}
