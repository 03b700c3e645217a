// A retryable write on its way: which of its statements were done by an earlier attempt, and which
// by this one. What it writes is committed together with a record of it.
import type { Beside } from '../documents/collection-write.js';
import type { Instant } from '../time/instant.js';
import type { MongoError } from '../value/mongo-errors.js';
import type { Call } from './call.js';
import type { Done, SessionRecord, SessionRecords } from './session-records.js';
import { tooOld } from './sessions.js';

/** An earlier attempt has done some of it: the command runs again, without these statements. */
export class DoneBefore extends Error {}

/** The statement that a call is about. */
export interface RetriedStatement {
  readonly retry: Retry;
  readonly index: number;
  /** What of the document is answered, and so has to be remembered. */
  readonly image: 'before' | 'after' | undefined;
}

/** What is remembered of an edit when it is committed. */
export interface Remembered {
  readonly statement: number;
  readonly done: () => Done;
}

/** How a command counts its statements. */
export interface StatementIds {
  readonly first: number;
  readonly all: readonly number[] | undefined;
}
export interface RetriedCommand {
  readonly session: string;
  readonly number: bigint;
  readonly ids: StatementIds;
}

export class Retry {
  readonly #records: SessionRecords;
  readonly #session: string;
  readonly #number: bigint;
  readonly #at: Instant;
  readonly #ids: StatementIds;
  /** Done by an earlier attempt. */
  #known: ReadonlyMap<number, Done> = new Map();
  readonly #written = new Set<number>();
  /** The collections it wants to write to, beside which the records are. */
  readonly #beside = new Set<string>();
  #problem: MongoError | undefined;

  constructor(records: SessionRecords, { session, number, ids }: RetriedCommand, at: Instant) {
    this.#records = records;
    this.#session = session;
    this.#number = number;
    this.#ids = ids;
    this.#at = at;
  }

  /** What a statement is called by its client, or else by its place. */
  idOf(index: number): number {
    return this.#ids.all?.[index] ?? this.#ids.first + index;
  }

  done(statement: number): Done | undefined {
    return this.#known.get(statement);
  }

  /** Whether so many statements are all done, by this attempt or an earlier one. */
  isComplete(statements: number): boolean {
    return this.#written.size + this.#known.size >= statements;
  }

  note(beside: string): void {
    this.#beside.add(beside);
  }

  /** Whether the store knows of statements that this attempt does not: it is to run again then. */
  async lookUp(): Promise<boolean> {
    const known = new Map<number, Done>();
    for (const beside of this.#beside) {
      const record = await this.#records.read(this.#session, beside, this.#at);
      if (record?.number !== this.#number) continue;
      for (const [statement, done] of record.statements) known.set(statement, done);
    }
    const isNews = [...known.keys()].some(
      (statement) => !this.#known.has(statement) && !this.#written.has(statement),
    );
    if (isNews) this.#known = known;
    if (isNews) this.#written.clear();
    return isNews;
  }

  /** The record of what some edits do, as a part of their commit. */
  beside(container: string, edits: readonly (Remembered | undefined)[]): Beside {
    this.note(container);
    const decide = (record: SessionRecord | undefined, changed: readonly number[]) => {
      this.#problem = undefined;
      const before = record?.number === this.#number ? record.statements : NONE;
      const statements = new Map(before);
      for (const index of changed) {
        const edit = edits[index];
        if (!edit) continue;
        if (before.has(edit.statement)) return CONFLICT;
        statements.set(edit.statement, edit.done());
      }
      if (record && record.number > this.#number) {
        this.#problem = tooOld(this.#session, this.#number, record.number);
        return CONFLICT;
      }
      if (statements.size === before.size) return 'keep';
      return { number: this.#number, transaction: undefined, statements };
    };
    return {
      group: (changed) =>
        this.#records.change(this.#session, container, this.#at, (record) =>
          decide(record, changed()),
        ),
      refusal: () => this.#problem ?? new DoneBefore(),
      written: (changed) => {
        for (const index of changed) {
          const edit = edits[index];
          if (edit) this.#written.add(edit.statement);
        }
      },
    };
  }
}

const NONE: ReadonlyMap<number, Done> = new Map();
const CONFLICT = { refuse: 'conflict' } as const;

/** The same call for the statement at this place. */
export function forStatement(call: Call, index: number, image?: RetriedStatement['image']): Call {
  const { retried } = call;
  if (!retried) return call;
  return { ...call, retried: { retry: retried.retry, index, image } };
}

/** What an earlier attempt has done with the statement of a call. */
export function doneBefore({ retried }: Call): Done | undefined {
  return retried?.retry.done(retried.retry.idOf(retried.index));
}
