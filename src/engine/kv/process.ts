// Tells whether a process that once wrote its number down is still the one that runs under it.
import { readFileSync } from 'node:fs';

/**
 * When a process started: the boot of the machine, and the clock tick after it. Numbers are reused,
 * and in a container every server is process 1, so only this tells one start from another. Only
 * Linux says it.
 */
export function startOf(pid: number): string | undefined {
  const ticks = statOf(pid)?.[START_FIELD];
  return ticks === undefined ? undefined : `${readIfThere(BOOT_FILE)?.trim() ?? ''}/${ticks}`;
}

/** Whether the process runs and, as far as the system says, is the one that started then. */
export function isRunning(pid: number, start: string): boolean {
  if (!exists(pid)) return false;
  const state = statOf(pid)?.[STATE_FIELD];
  // A killed process keeps its number as a zombie until its parent takes notice.
  if (state === 'Z' || state === 'X') return false;
  const actual = startOf(pid);
  // No answer means that the process has ended just now, or that the system does not say.
  return actual === undefined ? exists(pid) : actual === start;
}

const BOOT_FILE = '/proc/sys/kernel/random/boot_id';
/** Places after the process name: in proc(5) the state is field 3 and the start is field 22. */
const STATE_FIELD = 0;
const START_FIELD = 19;

/** The name stands in parentheses and may hold some itself, so the last one ends it. */
function statOf(pid: number): readonly string[] | undefined {
  const text = readIfThere(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** Undefined also where there is no such file system, and for processes of others that it hides. */
function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return undefined;
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Not being permitted to signal a process proves that it is there.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
