// /_mayfly/purge: observing, running, pausing and resuming the purge (T19).
import type { AdminRequest } from './server.js';

export function readPurge({ purger }: AdminRequest): object {
  const { lastRun, ...status } = purger.status();
  return { ...status, lastRun: lastRun === undefined ? null : new Date(lastRun).toISOString() };
}

/** Runs until nothing is due, also while the background purge is paused. */
export async function purgeNow({ purger }: AdminRequest): Promise<object> {
  return { purged: await purger.runNow() };
}

export function pausePurge({ purger }: AdminRequest): object {
  purger.pause();
  return { paused: true };
}

export function resumePurge({ purger }: AdminRequest): object {
  purger.resume();
  return { paused: false };
}
