// Logical sessions: they outlive connections, so that a write that is sent again after a lost
// connection is answered and not done again.
import type { Clock } from '../time/clock.js';
import type { Instant } from '../time/instant.js';
import { type MongoError, mongoFailure } from '../value/mongo-errors.js';
import type { Reply } from './call.js';
import { SESSION_MINUTES, type SessionRecords } from './session-records.js';
import { noSuch, Transaction, type TransactionParts } from './transaction.js';

const SESSIONS_MAX = 100_000;

export interface Session {
  readonly id: string;
  usedAt: Instant;
  /** The highest number that was used, for a write or a transaction. */
  number: bigint;
  /** The answer to the write of that number, or what will be, and to which of its statements. */
  written: { readonly statements: string; readonly reply: Promise<Reply> } | undefined;
  transaction: Transaction | undefined;
}

export class Sessions {
  readonly records: SessionRecords;
  readonly #clock: Clock;
  readonly #parts: TransactionParts;
  /** In the order of their last use. */
  readonly #sessions = new Map<string, Session>();

  constructor(clock: Clock, parts: TransactionParts) {
    this.#clock = clock;
    this.records = parts.records;
    this.#parts = parts;
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
  async once(
    session: Session,
    { number, statements }: { readonly number: bigint; readonly statements: string },
    write: () => Promise<Reply>,
  ): Promise<Reply> {
    checkNumber(session, number);
    if (number === session.number && session.written?.statements === statements) {
      return session.written.reply;
    }
    session.transaction?.abort();
    session.transaction = undefined;
    session.number = number;
    const written = { statements, reply: write() };
    session.written = written;
    try {
      return await written.reply;
    } catch (error) {
      // What has failed as a whole has written nothing, so the next try is a try.
      if (session.written === written) session.written = undefined;
      throw error;
    }
  }

  /** The transaction a command is part of; the first of its commands begins it. */
  transaction(session: Session, number: bigint, isFirst: boolean): Transaction {
    checkNumber(session, number);
    const { transaction } = session;
    transaction?.expire(this.#clock.wall());
    if (!isFirst) {
      if (transaction?.number === number) return transaction;
      throw noSuch(number);
    }
    if (transaction?.number === number) {
      throw mongoFailure(
        'NoSuchTransaction',
        `Transaction ${number} has been started already on this session.`,
      );
    }
    transaction?.abort();
    session.number = number;
    session.written = undefined;
    session.transaction = new Transaction(
      { session: session.id, number },
      this.#parts,
      this.#clock.wall(),
    );
    return session.transaction;
  }

  end(id: string): void {
    this.#sessions.get(id)?.transaction?.abort();
    this.#sessions.delete(id);
  }

  ids(): readonly string[] {
    return [...this.#sessions.keys()];
  }

  sweep(): void {
    const oldest = this.#clock.wall() - SESSION_MINUTES * 60_000;
    for (const [id, session] of this.#sessions) {
      session.transaction?.expire(this.#clock.wall());
      if (session.usedAt < oldest) this.end(id);
    }
  }

  #begin(id: string): Session {
    for (const oldest of this.#sessions.keys()) {
      if (this.#sessions.size < SESSIONS_MAX) break;
      this.end(oldest);
    }
    const usedAt = this.#clock.wall();
    return { id, usedAt, number: -1n, written: undefined, transaction: undefined };
  }
}

export function checkNumber(session: Session, number: bigint): void {
  if (number < session.number) throw tooOld(session.id, number, session.number);
}

export function tooOld(session: string, number: bigint, newer: bigint): MongoError {
  return mongoFailure(
    'TransactionTooOld',
    `Retryable write with txnNumber ${number} is prohibited on session ${session} because a ` +
      `newer retryable write or transaction with txnNumber ${newer} has already started ` +
      'on this session.',
  );
}
