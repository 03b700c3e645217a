// Logical sessions: they outlive connections, so that a write that is sent again after a lost
// connection is answered and not done again.
import type { Clock } from '../time/clock.js';
import type { Instant } from '../time/instant.js';
import { mongoFailure } from '../value/mongo-errors.js';
import type { Reply } from './call.js';

export const SESSION_MINUTES = 30;
const SESSIONS_MAX = 100_000;

export interface Session {
  readonly id: string;
  usedAt: Instant;
  /** The highest number that was used, for a write or a transaction. */
  number: bigint;
  /** The answer to the write of that number, or what will be. */
  written: Promise<Reply> | undefined;
}

export class Sessions {
  readonly #clock: Clock;
  /** In the order of their last use. */
  readonly #sessions = new Map<string, Session>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#sessions.size;
  }

  use(id: string): Session {
    const session = this.#sessions.get(id) ?? this.#begin(id);
    session.usedAt = this.#clock.wall();
    // Moved behind all others, so that the first of the map is the one to go.
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session;
  }

  find(id: string): Session | undefined {
    return this.#sessions.get(id);
  }

  /** A write is done once for its number, however often and by however many connections. */
  async once(session: Session, number: bigint, write: () => Promise<Reply>): Promise<Reply> {
    checkNumber(session, number);
    if (number === session.number && session.written) return session.written;
    session.number = number;
    const written = write();
    session.written = written;
    try {
      return await written;
    } catch (error) {
      // What has failed as a whole has written nothing, so the next try is a try.
      if (session.written === written) session.written = undefined;
      throw error;
    }
  }

  end(id: string): void {
    this.#sessions.delete(id);
  }

  ids(): readonly string[] {
    return [...this.#sessions.keys()];
  }

  sweep(): void {
    const oldest = this.#clock.wall() - SESSION_MINUTES * 60_000;
    for (const [id, session] of this.#sessions) {
      if (session.usedAt < oldest) this.end(id);
    }
  }

  #begin(id: string): Session {
    for (const oldest of this.#sessions.keys()) {
      if (this.#sessions.size < SESSIONS_MAX) break;
      this.end(oldest);
    }
    const usedAt = this.#clock.wall();
    return { id, usedAt, number: -1n, written: undefined };
  }
}

export function checkNumber(session: Session, number: bigint): void {
  if (number >= session.number) return;
  throw mongoFailure(
    'TransactionTooOld',
    `Retryable write with txnNumber ${number} is prohibited on session ${session.id} because a ` +
      `newer retryable write or transaction with txnNumber ${session.number} has already started ` +
      'on this session.',
  );
}
