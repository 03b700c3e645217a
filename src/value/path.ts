// Paths into a document: the grammar of partition-key, unique-key and index paths, and reading a
// value by path.
//
//   path    = "/" segment { "/" segment }
//   segment = bare characters except `/` and `"`  |  `"` any characters, `\"` and `\\` escaped `"`

export type Path = readonly (string | number)[];

/** Parses `/a/"b c"/d` to its segments; undefined when the text does not follow the grammar. */
export function parsePath(text: string): readonly string[] | undefined {
  const segments: string[] = [];
  let at = 0;
  while (at < text.length) {
    if (text[at] !== '/') return undefined;
    const segment = text[at + 1] === '"' ? quoted(text, at + 2) : bare(text, at + 1);
    if (segment === undefined || segment.name === '') return undefined;
    segments.push(segment.name);
    at = segment.end;
  }
  return segments.length > 0 ? segments : undefined;
}

/**
 * The value at a path; undefined where a step is missing. Names lead into objects and numbers into
 * arrays, and only own properties count, so neither `/constructor` nor `/list/length` finds
 * anything.
 */
export function valueAt(value: unknown, path: Path): unknown {
  let current = value;
  for (const step of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    const fits = Array.isArray(current) ? typeof step === 'number' : typeof step === 'string';
    if (!fits || !Object.hasOwn(current, step)) return undefined;
    current = (current as Record<string | number, unknown>)[step];
  }
  return current;
}

function bare(text: string, start: number): { name: string; end: number } | undefined {
  const slash = text.indexOf('/', start);
  const end = slash < 0 ? text.length : slash;
  const name = text.slice(start, end);
  return name.includes('"') ? undefined : { name, end };
}

function quoted(text: string, start: number): { name: string; end: number } | undefined {
  let name = '';
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === '"') return { name, end: at + 1 };
    if (character === '\\') at++;
    name += text[at] ?? '';
  }
  return undefined;
}
