// Statements that come again are prepared, once per connection, under a name that is the same on
// all of them. What is said once, such as the making of a table, is not worth one.

const NAMED_MAX = 1000;
const ONCE_MAX = 1000;

export class StatementNames {
  readonly #once = new Set<string>();
  readonly #names = new Map<string, string>();

  nameOf(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known !== undefined || this.#names.size >= NAMED_MAX) return known;
    if (!this.#once.delete(text)) {
      if (this.#once.size >= ONCE_MAX) this.#once.clear();
      this.#once.add(text);
      return undefined;
    }
    const name = `m${this.#names.size}`;
    this.#names.set(text, name);
    return name;
  }
}
