// Work that one server should do at a time, such as purging a container. A lease only spares
// others the trouble: what they would do all the same is right, too.
import type { Instant } from '../../time/instant.js';
import type { Pool } from './connection.js';
import type { Place } from './head.js';
import type { Presence } from './presence.js';
import { sql } from './sql.js';

const TERM_MS = 5_000;
const HELD_MAX = 2_000;

export class Leases {
  readonly #pool: Pool;
  readonly #presence: Presence;
  readonly #held = new Map<string, number>();

  constructor(pool: Pool, presence: Presence) {
    this.#pool = pool;
    this.#presence = presence;
  }

  /** Undefined when it is ours; else for how long it is another server's. */
  async othersMs(place: Place, kind: string): Promise<number | undefined> {
    const now: Instant = this.#presence.wall();
    const name = `${kind}/${place.container.id}`;
    if ((this.#held.get(name) ?? 0) - now > TERM_MS / 2) return undefined;
    const { schema, bucket, container } = place;
    const until = now + TERM_MS;
    const me = this.#presence.server;
    const { rowCount } = await this.#pool.ask(sql`insert into ${schema.lease} as l
      (bucket, id, kind, owner, until)
      values (${bucket}, ${container.id}, ${kind}, ${me}, ${until})
      on conflict (bucket, id, kind) do update set owner = excluded.owner, until = excluded.until
      where l.owner = ${me} or l.until <= ${now}::bigint`);
    if (this.#held.size >= HELD_MAX) this.#held.clear();
    if (rowCount > 0) {
      this.#held.set(name, until);
      return undefined;
    }
    this.#held.delete(name);
    const { rows } = await this.#pool.ask(sql`select until from ${schema.lease}
      where bucket = ${bucket} and id = ${container.id} and kind = ${kind}`);
    return Math.max(1, ((rows[0]?.[0] as number | undefined) ?? now) - now);
  }
}
