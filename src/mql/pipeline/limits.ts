// The limits of a pipeline: how much memory its stages hold, and how long one of them works before
// others have their turn.
import { breathe, stopwatch } from '../../time/clock.js';
import { mongoFailure } from '../../value/mongo-errors.js';

export const MEMORY_BYTES_MAX = 100 * 1024 * 1024;
/** With `allowDiskUse`: nothing is spilled to disk, but more may be held. */
export const MEMORY_BYTES_MAX_RAISED = 512 * 1024 * 1024;
export const ROWS_PER_BATCH = 128;
const TURN_MS = 3;
/** The clock is not asked more often than this. */
const STEPS_PER_LOOK = 16;

export class Memory {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  hold(bytes: number, stage: string): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#bytesMax) return;
    throw mongoFailure(
      'QueryExceededMemoryLimitNoDiskUseAllowed',
      `${stage} exceeded memory limit of ${this.#bytesMax} bytes. Pass allowDiskUse:true to raise it.`,
    );
  }

  free(bytes: number): void {
    this.#bytes -= bytes;
  }

  /** What is left, for work whose memory is given back as a whole. */
  nested(): Memory {
    return new Memory(this.#bytesMax - this.#bytes);
  }
}

export class Pace {
  #elapsed = stopwatch();
  #steps = 0;

  /** Whether it is time to let others go first: for loops over rows. */
  get isDue(): boolean {
    return ++this.#steps % STEPS_PER_LOOK === 0 && this.isOver;
  }

  /** The same for loops over batches, each of which is many steps. */
  get isOver(): boolean {
    return this.#elapsed() > TURN_MS;
  }

  async rest(): Promise<void> {
    await breathe();
    this.#elapsed = stopwatch();
  }
}
