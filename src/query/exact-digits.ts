// Numbers are doubles wherever they are compared or computed with. A row that shows one of its
// document shows the digits that were stored, so that long identifiers come out as they went in.

/** A number with so many digits may be another one as a double: the row itself, or one in it. */
const ALONE = /^-?\d[\d.]{15}/;
const WITHIN = /[:[,]-?\d[\d.]{15}/;
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const TOKEN_CHARACTERS_MIN = 16;

export function rowText(value: unknown, document: Uint8Array): string {
  const text = JSON.stringify(value);
  if (!WITHIN.test(text) && !ALONE.test(text)) return text;
  const stored = storedDigits(document);
  if (stored.size === 0) return text;
  return text.replace(TOKEN, (token) => (isLong(token) && stored.get(Number(token))) || token);
}

/** By their doubles; where two numbers of a document have the same one, neither is told apart. */
function storedDigits(document: Uint8Array): ReadonlyMap<number, string> {
  const text = Buffer.from(document.buffer, document.byteOffset, document.byteLength).toString();
  const digits = new Map<number, string>();
  for (const [token] of text.matchAll(TOKEN)) {
    if (!isLong(token)) continue;
    const number = Number(token);
    const isOther = (digits.get(number) ?? token) !== token;
    digits.set(number, isOther ? String(number) : token);
  }
  return digits;
}

function isLong(token: string): boolean {
  return token.length >= TOKEN_CHARACTERS_MIN && !token.startsWith('"');
}
