// GET and POST /_mayfly/clock: reading the clock, and freezing, setting or advancing a virtual one.
import { type Clock, VirtualClock } from '../time/clock.js';
import { parseDurationMs } from '../time/duration.js';
import { type Instant, instant, LAST_INSTANT } from '../time/instant.js';
import { failure } from '../value/errors.js';
import { fieldsOf } from './fields.js';
import type { AdminRequest } from './server.js';

export function readClock({ clock }: AdminRequest): object {
  return stateOf(clock);
}

/** Everything is checked before anything moves; then freeze, set and advance act in this order. */
export async function setClock(request: AdminRequest): Promise<object> {
  const { clock } = request;
  if (!(clock instanceof VirtualClock)) throw failure('clockNotVirtual');
  const fields = fieldsOf(await request.body(), ['freeze', 'set', 'advance']);
  const freeze = freezeOf(fields.freeze);
  const set = instantOf(fields.set);
  const advanceMs = advanceOf(fields.advance);
  if (freeze === undefined && set === undefined && advanceMs === undefined) {
    throw failure('invalidInput', { why: 'Give one of freeze, set or advance.' });
  }
  const target = (set ?? clock.now()) + (advanceMs ?? 0);
  if (target > LAST_INSTANT)
    throw failure('invalidInput', { why: 'Time ends with the year 9999.' });
  if (freeze === true) clock.freeze();
  if (set !== undefined) clock.set(set);
  if (advanceMs !== undefined) clock.advance(advanceMs);
  if (freeze === false) clock.unfreeze();
  return stateOf(clock);
}

function stateOf(clock: Clock): object {
  return { mode: clock.mode, now: new Date(clock.now()).toISOString(), frozen: clock.frozen };
}

function freezeOf(value: unknown): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value;
  throw failure('invalidInput', { why: `freeze must be true or false, not ${text(value)}.` });
}

function instantOf(value: unknown): Instant | undefined {
  if (value === undefined) return undefined;
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (ms >= 0 && ms <= LAST_INSTANT) return instant(ms);
  const why = `set must be an ISO time from 1970 to 9999, not ${text(value)}.`;
  throw failure('invalidInput', { why });
}

function advanceOf(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const ms = parseDurationMs(value);
  if (ms !== undefined && ms >= 0) return ms;
  const why = `advance must be seconds or a text such as "90d", "12h", "30m", "45s" or "500ms", not ${text(value)}. To go back in time, use set.`;
  throw failure('invalidInput', { why });
}

const text = (value: unknown): string => JSON.stringify(value);
