// One-byte codes for the names of a container's expiry rules and unique indexes. A code is never
// given to another name, so entries and records of the past keep their meaning when rules come and
// go.

const CODES_MAX = 255;

export class Codes {
  readonly #names: string[];
  readonly #codes: Map<string, number>;

  constructor(names: readonly string[]) {
    this.#names = [...names];
    this.#codes = new Map(this.#names.map((name, code) => [name, code]));
  }

  /** In order of their codes, for storing. */
  get names(): readonly string[] {
    return this.#names;
  }

  add(name: string): void {
    if (this.#codes.has(name)) return;
    if (this.#names.length > CODES_MAX)
      throw new Error(`more than ${CODES_MAX} names in one container`);
    this.#codes.set(name, this.#names.length);
    this.#names.push(name);
  }

  codeOf(name: string): number {
    const code = this.#codes.get(name);
    if (code === undefined) throw new Error(`'${name}' is no rule or index of this container`);
    return code;
  }

  nameOf(code: number): string {
    const name = this.#names[code];
    if (name === undefined)
      throw new Error(`no rule or index of this container has the code ${code}`);
    return name;
  }
}
