// What may be in a place that was written concurrently and then lost its server: every write whose
// answer came must be there, unless another one that was sent after that answer took its place.

export interface Entry<T> {
  readonly value: T;
  readonly sentAt: number;
  /** Undefined: the answer never came, and nobody knows whether the write was done. */
  answeredAt: number | undefined;
}

/** One order for all events, so that "sent after it was answered" can be told. */
let events = 0;

export class Register<T> {
  #entries: Entry<T>[];

  constructor(first: T) {
    this.#entries = [settled(first)];
  }

  send(value: T): Entry<T> {
    const entry = { value, sentAt: ++events, answeredAt: undefined };
    this.#entries.push(entry);
    return entry;
  }

  /** The answer said that it was done. */
  done(entry: Entry<T>): void {
    entry.answeredAt = ++events;
    this.#entries = this.#entries.filter((each) => !isOver(each, entry));
  }

  /** The answer said that it was refused. */
  refused(entry: Entry<T>): void {
    this.#entries = this.#entries.filter((each) => each !== entry);
  }

  candidates(): readonly Entry<T>[] {
    return this.#entries;
  }

  /** From now on it is known to be this. */
  settle(value: T): void {
    this.#entries = [settled(value)];
  }
}

function settled<T>(value: T): Entry<T> {
  return { value, sentAt: ++events, answeredAt: ++events };
}

/** Whether the second was sent when the first had been answered, so that it came later for sure. */
function isOver<T>(first: Entry<T>, second: Entry<T>): boolean {
  return first.answeredAt !== undefined && first.answeredAt < second.sentAt;
}
