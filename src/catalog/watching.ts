// A container as the purger sees it.
import { type Container, ContainerGone, type Engine } from '../engine/engine.js';
import type { Purgeable } from '../time/purger.js';

export function purgeable(engine: Engine, container: Container): Purgeable {
  return {
    id: container.id,
    nextExpiry: () => engine.nextExpiry(container),
    purge: async (at, rowsMax) => {
      try {
        return await engine.purge(container, at, rowsMax);
      } catch (error) {
        if (error instanceof ContainerGone) return { purged: 0, bytes: 0, next: undefined };
        throw error;
      }
    },
  };
}
