// Documents as the `x` column holds them: values that PostgreSQL's jsonb can store, whose texts
// compare by bytes as JavaScript's do by UTF-16 code unit. The document itself is kept as its
// bytes; `x` is only asked.
//
//   U+0000            U+0001 U+0001     jsonb refuses it
//   U+0001            U+0001 U+0002     because it begins the line above
//   surrogate D800+n  U+E000 U+E000+n   each by itself: pairs sort below U+E000, lone ones stay
//   U+E000            U+E001 U+E000
//   U+E001            U+E001 U+E001

/** The JSON text of a document for `x`. */
export function indexText(value: unknown, bytes: Uint8Array): string {
  const text = JSON.stringify(value);
  return RARE.test(text) || mayBeEndless(bytes) ? storableJson(value) : text;
}

/** The JSON text of a value that is compared with one in `x`. */
export function storableJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(storableText(value));
    case 'number':
      // JSON has no infinity, but a number that is larger than all doubles.
      return Number.isFinite(value) ? JSON.stringify(value) : value > 0 ? '1e400' : '-1e400';
    case 'object':
      if (value === null) return 'null';
      if (Array.isArray(value)) return `[${value.map(storableJson).join()}]`;
      return `{${Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .map(([name, member]) => `${JSON.stringify(storableText(name))}:${storableJson(member)}`)
        .join()}}`;
    default:
      return JSON.stringify(value);
  }
}

/** A text, or the name of a property. */
export function storableText(text: string): string {
  if (!ESCAPED.test(text)) return text;
  let stored = '';
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit <= 1) stored += `\u0001${String.fromCharCode(unit + 1)}`;
    else if (unit >= 0xd800 && unit <= 0xdfff) {
      stored += `\ue000${String.fromCharCode(unit - 0xd800 + 0xe000)}`;
    } else if (unit === 0xe000 || unit === 0xe001) stored += `\ue001${text[at]}`;
    else stored += text[at];
  }
  return stored;
}

/** What a value of `x` was before. */
export function originalValue(stored: unknown): unknown {
  if (typeof stored === 'string') return originalText(stored);
  if (typeof stored !== 'object' || stored === null) return stored;
  if (Array.isArray(stored)) return stored.map(originalValue);
  const entries = Object.entries(stored).map(([name, value]) => [
    originalText(name),
    originalValue(value),
  ]);
  return Object.fromEntries(entries);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is escaped.
const ESCAPED = /[\u0000\u0001\ud800-\udfff\ue000\ue001]/;
/** The same in a JSON text, where some are written as escapes; a few others look like them. */
const RARE = /\\u000[01]|\\ud[89a-f]|[\ud800-\udfff\ue000\ue001]/;
/** Digits that a double has no room for: a long exponent, or very many of them. */
const LARGE = /\d[eE]\+?\d{3}|\d{300}/;

function mayBeEndless(bytes: Uint8Array): boolean {
  return LARGE.test(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1'),
  );
}

function originalText(stored: string): string {
  if (!ESCAPING.test(stored)) return stored;
  let text = '';
  for (let at = 0; at < stored.length; at++) {
    const unit = stored.charCodeAt(at);
    const next = stored.charCodeAt(at + 1);
    if (unit === 1) text += String.fromCharCode(next - 1);
    else if (unit === 0xe000) text += String.fromCharCode(next - 0xe000 + 0xd800);
    else if (unit === 0xe001) text += stored[at + 1];
    else {
      text += stored[at];
      continue;
    }
    at++;
  }
  return text;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these begin what is escaped.
const ESCAPING = /[\u0001\ue000\ue001]/;
