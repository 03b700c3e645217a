// The first rows of an order, out of any number of rows, in bounded memory. Rows at or before the
// position of the last page are passed over; with `distinct` equal rows count once, as the first of
// them.
import { compareKeys, type SortKey } from './evaluate.js';
import type { Position, RowText } from './page.js';

export interface SortedRow {
  readonly keys: readonly SortKey[];
  /** Breaks ties: the document's serial and the row in it, or with `distinct` the row's value. */
  readonly identity: string;
  readonly text: () => RowText;
}
interface Place {
  readonly keys: readonly SortKey[];
  readonly identity: string;
}
interface KeptRow extends Place {
  readonly text: RowText;
}
type After = Pick<Extract<Position, { way: 'sorted' }>, 'keys' | 'identity'>;

export class SortedRows {
  readonly #order: readonly { readonly descending: boolean }[];
  readonly #distinct: boolean;
  readonly #wanted: number;
  readonly #after: Place | undefined;
  readonly #recalled = new Set<string>();
  #identities: ReadonlySet<string> | undefined;
  #kept: KeptRow[] = [];
  #sorted = true;
  #dropped = false;
  #last: KeptRow | undefined;

  constructor(
    order: readonly { readonly descending: boolean }[],
    distinct: boolean,
    wanted: number,
    after: After | undefined,
  ) {
    this.#order = order;
    this.#distinct = distinct;
    this.#wanted = wanted;
    this.#after = after && {
      keys: after.keys.map(fromBase64),
      identity: fromBase64(after.identity),
    };
  }

  add(row: SortedRow): void {
    if (this.#after && this.#compare(row, this.#after) <= 0) return;
    const worst = this.#sorted ? this.#kept[this.#wanted - 1] : undefined;
    if (worst && this.#compare(row, worst) >= 0) {
      this.#dropped ||= this.#compare(row, worst) > 0;
      return;
    }
    this.#kept.push({ keys: row.keys, identity: row.identity, text: ownText(row) });
    this.#sorted = false;
    if (this.#kept.length >= 2 * this.#wanted + MARGIN) this.#trim();
  }

  /**
   * Told of all rows again, after the last was added, it finds those that had their turn before.
   */
  recall(row: SortedRow): void {
    if (!this.#after || this.#compare(row, this.#after) > 0) return;
    this.#identities ??= new Set(this.rows().map(({ identity }) => identity));
    if (this.#identities.has(row.identity)) this.#recalled.add(row.identity);
  }

  isRecalled(row: KeptRow): boolean {
    return this.#recalled.has(row.identity);
  }

  /** In order. */
  rows(): readonly KeptRow[] {
    this.#trim();
    return this.#kept;
  }

  passed(row: KeptRow): void {
    this.#last = row;
  }

  get hasMore(): boolean {
    return this.#dropped || this.#last !== this.#kept.at(-1);
  }

  get lastPassed(): After | undefined {
    const last = this.#last;
    if (!last) return undefined;
    return { keys: last.keys.map(toBase64), identity: toBase64(last.identity) };
  }

  #trim(): void {
    if (this.#sorted && this.#kept.length <= this.#wanted) return;
    this.#kept.sort((a, b) => this.#compare(a, b));
    if (this.#distinct) this.#kept = firstOfEach(this.#kept);
    if (this.#kept.length > this.#wanted) {
      this.#kept.length = this.#wanted;
      this.#dropped = true;
    }
    this.#sorted = true;
  }

  #compare(a: Place, b: Place): number {
    const difference = compareKeys(a.keys, b.keys, this.#order);
    if (difference !== 0) return difference;
    if (a.identity === b.identity) return 0;
    // Ties go in the direction of the order, as they do in an index that is read backwards.
    const backwards = !this.#distinct && this.#order[0]?.descending === true;
    return a.identity < b.identity === backwards ? 1 : -1;
  }
}

/** Stored bytes are part of a larger piece of memory, which a row that stays must not keep. */
function ownText(row: SortedRow): RowText {
  const text = row.text();
  return typeof text === 'string' ? text : Buffer.from(text);
}

/** Sorting pays when there is a good deal to sort. */
const MARGIN = 64;

function firstOfEach(rows: readonly KeptRow[]): KeptRow[] {
  const seen = new Set<string>();
  return rows.filter(({ identity }) => !seen.has(identity) && seen.add(identity));
}

function toBase64(text: string): string {
  return Buffer.from(text, 'latin1').toString('base64');
}

function fromBase64(text: string): string {
  return Buffer.from(text, 'base64').toString('latin1');
}
