// One page of a query: its rows as JSON text, where the next page begins, and what it took.
import { stopwatch } from '../time/clock.js';
import type { Instant } from '../time/instant.js';
import type { UserFunctions } from './user-functions.js';

/** A JSON text, or the stored bytes of a whole document. */
export type RowText = string | Uint8Array;

export interface PageRequest {
  readonly itemsMax: number;
  readonly bytesMax: number;
  readonly at: Instant;
  /** A number in [0, 1) for RAND. */
  readonly random: () => number;
  /** Whether ORDER BY keeps the rows that lack what it sorts by. */
  readonly complete: boolean;
  /** True when nobody waits for the page any more. */
  readonly abandoned: () => boolean;
  /** Whether functions and output are timed as well, which costs two looks at the clock each. */
  readonly isTimed: boolean;
  /** Absent where queries may call none. */
  readonly userFunctions?: UserFunctions | undefined;
}

export interface QueryPage {
  readonly rows: readonly RowText[];
  readonly next: Position | undefined;
  readonly work: Work;
}

/** What a page cost, for metrics and charges. */
export interface Work {
  documents: number;
  documentBytes: number;
  /** Documents of which a row passed the filter. */
  matched: number;
  /** Expressions of the query, for each row they were evaluated on. */
  instructions: number;
  /** Calls of user-defined functions. */
  functionCalls: number;
  lsn: number;
  lookupMs: number;
  loadMs: number;
  functionMs: number;
  /** How long user-defined functions took. */
  userFunctionMs: number;
  outputMs: number;
}

export function noWork(): Work {
  const took = { lookupMs: 0, loadMs: 0, functionMs: 0, userFunctionMs: 0, outputMs: 0 };
  const done = { documents: 0, documentBytes: 0, matched: 0, instructions: 0, functionCalls: 0 };
  return { lsn: 0, ...done, ...took };
}

/**
 * Where a page ended. It names a place in the data, not in a result held somewhere, so that it
 * survives restarts and writes in between.
 */
export type Position = Counts &
  (
    | {
        readonly way: 'stream';
        /** Base64 of the engine's resume point, absent at the very beginning. */
        readonly resume: string | undefined;
        /** Rows of the next document that were on the page already, and the document's serial. */
        readonly skip: number;
        readonly skipOf: number;
      }
    | {
        readonly way: 'sorted';
        /** Base64 of the keys and of the identity of the last row. */
        readonly keys: readonly string[];
        readonly identity: string;
      }
    | { readonly way: 'groups'; readonly identity: string }
    /** How many rows of the ranking were on pages before. */
    | { readonly way: 'ranked'; readonly passed: number }
  );

/** What OFFSET and LIMIT still ask for. */
export interface Counts {
  readonly offset: number;
  /** Rows that were on the pages so far. */
  readonly taken?: number | undefined;
  readonly limit: number | undefined;
}

/** Collects rows until the page is full; OFFSET and LIMIT are counted down on the way. */
export class PageBuilder {
  readonly rows: RowText[] = [];
  #offset: number;
  #limit: number | undefined;
  readonly #taken: number;
  /** How long it took to write the rows, where that was asked for. */
  outputMs = 0;
  #bytes = 0;
  #closed = false;
  readonly #request: PageRequest;

  constructor(request: PageRequest, counts: Counts) {
    this.#request = request;
    this.#offset = counts.offset;
    this.#limit = counts.limit;
    this.#taken = counts.taken ?? 0;
  }

  get counts(): Counts {
    const taken = this.#taken + this.rows.length;
    return { offset: this.#offset, limit: this.#limit, taken };
  }

  /** No further row will ever be taken. */
  get exhausted(): boolean {
    return this.#limit === 0;
  }

  get full(): boolean {
    return this.#closed || this.rows.length >= this.#request.itemsMax;
  }

  /** How many rows can still matter: those to pass over and those to take. */
  get room(): number {
    const left = this.#request.itemsMax - this.rows.length;
    return this.#offset + Math.min(left, this.#limit ?? left);
  }

  /** False when the row is too much for this page: it opens the next one, where it may be alone. */
  add(row: () => RowText): boolean {
    if (this.#offset > 0) {
      this.#offset -= 1;
      return true;
    }
    const text = this.#request.isTimed ? this.#timed(row) : row();
    this.#bytes += typeof text === 'string' ? Buffer.byteLength(text) : text.length;
    if (this.#bytes > this.#request.bytesMax && this.rows.length > 0) {
      this.#closed = true;
      return false;
    }
    this.rows.push(text);
    if (this.#limit !== undefined) this.#limit -= 1;
    return true;
  }

  #timed(row: () => RowText): RowText {
    const took = stopwatch();
    const text = row();
    this.outputMs += took();
    return text;
  }
}
