// Keeps the last steps of a random history, and tells them with the seed when one fails.

const SHOWN_STEPS = 20;
const TEXT_MAX = 40;

export class History {
  readonly #name: string;
  readonly #seed: number;
  readonly #steps: unknown[] = [];
  #count = 0;

  constructor(name: string, seed: number) {
    this.#name = name;
    this.#seed = seed;
    process.stdout.write(`# ${name}: SEED=${seed}\n`);
  }

  note(step: unknown): void {
    this.#count += 1;
    this.#steps.push(step);
    if (this.#steps.length > SHOWN_STEPS) this.#steps.shift();
  }

  async guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const first = this.#count - this.#steps.length + 1;
      const lines = this.#steps.map((step, index) => `  ${first + index}  ${shown(step)}`);
      process.stdout.write(
        `# ${this.#name} failed at step ${this.#count}: SEED=${this.#seed}\n${lines.join('\n')}\n`,
      );
      throw error;
    }
  }
}

/** A missing value is told from null, and long texts are cut. */
function shown(step: unknown): string {
  return JSON.stringify(step, (_, value: unknown) => {
    if (value === undefined) return 'undefined';
    if (typeof value !== 'string' || value.length <= TEXT_MAX) return value;
    return `${value.slice(0, TEXT_MAX)}… (${value.length})`;
  });
}
