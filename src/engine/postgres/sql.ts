// SQL by tagged template: values become parameters, names and texts of ours are spliced in, and
// fragments nest. Nothing that a client sent ever becomes part of a statement's text, but for names
// of properties, which `quoted` makes literals.

export interface Sql {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];
}

/** A value is a parameter, unless it is a fragment itself. */
export function sql(strings: readonly string[], ...values: readonly unknown[]): Sql {
  const texts: string[] = [strings[0] ?? ''];
  const kept: unknown[] = [];
  values.forEach((value, index) => {
    const next = strings[index + 1] ?? '';
    if (isSql(value)) {
      texts[texts.length - 1] += value.strings[0] ?? '';
      texts.push(...value.strings.slice(1));
      kept.push(...value.values);
      texts[texts.length - 1] += next;
    } else {
      kept.push(value);
      texts.push(next);
    }
  });
  return new Fragment(texts, kept);
}

/** A piece of text that goes into the statement as it is. */
export function raw(text: string): Sql {
  return new Fragment([text], []);
}

export function join(parts: readonly Sql[], between: string): Sql {
  const [first, ...more] = parts;
  return more.reduce((all, part) => sql`${all}${raw(between)}${part}`, first ?? raw(''));
}

export function allOf(parts: readonly Sql[]): Sql {
  return parts.length === 0 ? raw('true') : join(parts, ' and ');
}

/** Numbered parameters, as PostgreSQL has them. */
export function textOf({ strings }: Sql): string {
  return strings.reduce((text, part, index) => `${text}$${index}${part}`);
}

/** A text as a literal. */
export function quoted(text: string): Sql {
  return raw(`'${text.replaceAll("'", "''")}'`);
}

/** A name as an identifier. */
export function named(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

class Fragment implements Sql {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];

  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.strings = strings;
    this.values = values;
  }
}

function isSql(value: unknown): value is Sql {
  return value instanceof Fragment;
}
