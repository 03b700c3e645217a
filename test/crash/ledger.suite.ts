// The books of the crash test: what was sent to each item, what was answered, and whether what a
// server shows after a crash can be.
import assert from 'node:assert/strict';
import type { Answer } from '../simulation/client.suite.js';
import { type Body, dueOf, type Partition, type Place } from '../simulation/model.suite.js';
import { viewOfDocument } from '../simulation/wire.suite.js';
import { type Entry, Register } from './register.suite.js';

/** One write of an item. Seconds and etag are known when it was answered. */
export interface Version {
  readonly body: Body;
  /** It was written at this second or later. */
  readonly fromSeconds: number;
  seconds: number | undefined;
  etag: string | undefined;
}
type State = Version | 'absent';

export interface Stored {
  readonly id: string;
  readonly pk?: Partition;
  readonly _etag: string;
  readonly _ts: number;
}

export class Ledger {
  readonly #items = new Map<string, Register<State>>();
  /** Every default the container may have had while its items lived. */
  readonly #defaults: Set<number | undefined>;

  constructor(defaults: readonly (number | undefined)[]) {
    this.#defaults = new Set(defaults);
  }

  sendWrite(place: Place, body: Body, nowMs: number): Entry<State> {
    const fromSeconds = Math.floor(nowMs / 1000);
    const version = { body, fromSeconds, seconds: undefined, etag: undefined };
    return this.#register(place).send(version);
  }

  sendDelete(place: Place): Entry<State> {
    return this.#register(place).send('absent');
  }

  answered(place: Place, entry: Entry<State>, answer: Answer): void {
    const register = this.#register(place);
    if (answer.status >= 300) {
      assert([404, 409, 412].includes(answer.status), `status ${answer.status}`);
      register.refused(entry);
      return;
    }
    if (entry.value !== 'absent') {
      const { _etag, _ts } = answer.body as Stored;
      Object.assign(entry.value, { etag: _etag, seconds: _ts });
    }
    register.done(entry);
  }

  /** An etag that the item may have. */
  etagOf(place: Place): string | undefined {
    const value = this.#register(place).candidates().at(-1)?.value;
    return value === undefined || value === 'absent' ? undefined : value.etag;
  }

  /** Compares with all that a server shows, at an instant and under the default that it tells. */
  verify(shown: readonly Stored[], defaultTtl: number | undefined, nowMs: number): void {
    const seen = new Map(shown.map((document) => [nameOf(placeOf(document)), document]));
    assert.equal(seen.size, shown.length, 'an item is listed twice');
    for (const [name, document] of seen) {
      const candidates = this.#items.get(name)?.candidates() ?? [];
      const fits = candidates.some(({ value }) => isShown(value, document));
      assert(fits, `${name} is something else: ${tell(document, candidates)}`);
      const due = dueOf(keptOf(document), defaultTtl);
      assert(due === undefined || due > nowMs, `${name} is dead at ${nowMs} and visible`);
    }
    for (const [name, register] of this.#items) {
      if (seen.has(name)) continue;
      const candidates = register.candidates();
      const mayLack = candidates.some(({ value }) => this.#mayBeGone(value, nowMs));
      assert(mayLack, `${name} is lost: ${tell(undefined, candidates)}`);
    }
  }

  /** To be called when nothing dead is left in the store: what is not shown is gone for good. */
  settle(shown: readonly Stored[]): void {
    const seen = new Map(shown.map((document) => [nameOf(placeOf(document)), document]));
    for (const [name, register] of this.#items) {
      const document = seen.get(name);
      const match = register.candidates().find(({ value }) => document && isShown(value, document));
      if (!document || !match || match.value === 'absent') {
        register.settle('absent');
        continue;
      }
      const { _etag: etag, _ts: seconds } = document;
      register.settle({ ...match.value, etag, seconds });
    }
  }

  /** It may have been dead at any time up to now, and purged then. */
  #mayBeGone(value: State, nowMs: number): boolean {
    if (value === 'absent') return true;
    const kept = { ...NOWHERE, body: value.body, seconds: value.seconds ?? value.fromSeconds };
    return [...this.#defaults].some((defaultTtl) => {
      const due = dueOf(kept, defaultTtl);
      return due !== undefined && due <= nowMs;
    });
  }

  #register(place: Place): Register<State> {
    const name = nameOf(place);
    const register = this.#items.get(name) ?? new Register<State>('absent');
    this.#items.set(name, register);
    return register;
  }
}

const NOWHERE = { partition: undefined, id: '', etag: '', serial: 0 };

/** Exactly this version, and with the etag and second that its answer told. */
function isShown(value: State, document: Stored): boolean {
  if (value === 'absent' || value.body.n !== (document as { n?: unknown }).n) return false;
  const { _ts, ...view } = viewOfDocument(document) as Record<string, unknown>;
  assert.deepEqual(view, value.body, 'a document is torn');
  if (value.etag === undefined) return Number(_ts) >= value.fromSeconds;
  return document._etag === value.etag && _ts === value.seconds;
}

function keptOf(document: Stored) {
  return { ...NOWHERE, body: document as unknown as Body, seconds: document._ts };
}

function placeOf({ pk, id }: Stored): Place {
  return { partition: pk, id };
}

function nameOf({ partition, id }: Place): string {
  return `${JSON.stringify(partition)} ${id}`;
}

/** Long texts are left out. */
function tell(document: unknown, candidates: readonly Entry<State>[]): string {
  return JSON.stringify({ document, candidates }, (name, value) => (name === 'pad' ? '…' : value));
}
