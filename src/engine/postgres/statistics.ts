// What the database's planner knows of a container's rows. Autovacuum looks once a minute and
// after many changes; a container that fills up in between would be planned for as an empty one,
// so it is told here whenever it has grown by much.
import type { Pool } from './connection.js';
import type { Place } from './head.js';
import { sql } from './sql.js';

/** With fewer any plan will do. */
const ITEMS_MIN = 500;
const GROWTH = 3;
const KNOWN_MAX = 5_000;

export class Statistics {
  readonly #pool: Pool;
  /** By container: how many items there were when it was first seen, or told of last. */
  readonly #known = new Map<string, number>();
  #running: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** What is lost here is made up for by autovacuum. */
  note({ schema, container: { id } }: Place, items: number): void {
    const known = this.#known.get(id);
    if (known !== undefined && items < Math.max(ITEMS_MIN, known * GROWTH)) return;
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.set(id, items);
    if (known === undefined || this.#waiting >= WAITING_MAX) return;
    this.#waiting += 1;
    this.#running = this.#running
      .then(() => this.#pool.askAlone(sql`analyze ${schema.of(id).items}`))
      .then(done, done)
      .finally(() => {
        this.#waiting -= 1;
      });
  }

  idle(): Promise<void> {
    return this.#running;
  }
}

const WAITING_MAX = 100;

function done(): void {}
