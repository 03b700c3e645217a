// The patterns of LIKE. They see code points, so `_` is one character even beyond the first plane.
//
//   %      any run of characters, also none      [abc] [a-f]    one character of the set
//   _      one character                         [^abc] [^a-f]  one character that is not in it

/** A pattern always compiles: a bracket that is never closed stands for itself. */
export function compileLike(pattern: string, escapeCharacter: string | undefined): LikeMatcher {
  const tokens = tokensOf([...pattern], escapeCharacter);
  const pieces = literalPieces(tokens);
  if (pieces !== undefined) return (text) => matchesPieces(pieces, text);
  return (text) => matchesTokens(tokens, text);
}

export type LikeMatcher = (text: string) => boolean;

type Token =
  | { readonly kind: 'run' }
  | { readonly kind: 'one' }
  | { readonly kind: 'character'; readonly codePoint: number }
  | { readonly kind: 'set'; readonly negated: boolean; readonly ranges: readonly Range[] };
type Range = readonly [low: number, high: number];

const RUN: Token = { kind: 'run' };
const ONE: Token = { kind: 'one' };

function tokensOf(
  characters: readonly string[],
  escapeCharacter: string | undefined,
): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? '';
    if (character === escapeCharacter && at + 1 < characters.length) {
      tokens.push(literal(characters[++at] ?? ''));
    } else if (character === '%') {
      if (tokens.at(-1) !== RUN) tokens.push(RUN);
    } else if (character === '_') {
      tokens.push(ONE);
    } else if (character === '[') {
      const end = endOfSet(characters, at + 1, escapeCharacter);
      tokens.push(end < 0 ? literal('[') : setOf(characters.slice(at + 1, end), escapeCharacter));
      if (end >= 0) at = end;
    } else {
      tokens.push(literal(character));
    }
  }
  return tokens;
}

function literal(character: string): Token {
  return { kind: 'character', codePoint: codeOf(character) };
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}

/** The position of the closing bracket, or -1. */
function endOfSet(
  characters: readonly string[],
  start: number,
  escapeCharacter: string | undefined,
): number {
  for (let at = start; at < characters.length; at++) {
    if (characters[at] === escapeCharacter) at++;
    else if (characters[at] === ']') return at;
  }
  return -1;
}

/** A hyphen between two characters makes a range; an escaped one, the first and the last do not. */
function setOf(characters: readonly string[], escapeCharacter: string | undefined): Token {
  const negated = characters[0] === '^';
  const members = unescaped(negated ? characters.slice(1) : characters, escapeCharacter);
  const ranges: Range[] = [];
  for (let at = 0; at < members.length; at++) {
    const low = members[at]?.codePoint ?? 0;
    const hyphen = members[at + 1];
    const high = members[at + 2];
    const isRange = hyphen?.codePoint === HYPHEN && !hyphen.escaped && high !== undefined;
    ranges.push([low, isRange ? high.codePoint : low]);
    if (isRange) at += 2;
  }
  return { kind: 'set', negated, ranges };
}

const HYPHEN = 0x2d;

function unescaped(characters: readonly string[], escapeCharacter: string | undefined) {
  const members: { readonly codePoint: number; readonly escaped: boolean }[] = [];
  for (let at = 0; at < characters.length; at++) {
    const escaped = characters[at] === escapeCharacter && at + 1 < characters.length;
    if (escaped) at++;
    members.push({ codePoint: codeOf(characters[at] ?? ''), escaped });
  }
  return members;
}

/** The texts between the runs, if the pattern has neither `_` nor sets, as most have not. */
function literalPieces(tokens: readonly Token[]): readonly string[] | undefined {
  const pieces = [''];
  for (const token of tokens) {
    if (token.kind === 'run') pieces.push('');
    else if (token.kind !== 'character') return undefined;
    else pieces.push(`${pieces.pop()}${String.fromCodePoint(token.codePoint)}`);
  }
  return pieces;
}

/** The first and the last piece are at the ends; those between are found one after the other. */
function matchesPieces(pieces: readonly string[], text: string): boolean {
  const first = pieces[0] ?? '';
  if (pieces.length === 1) return text === first;
  const last = pieces.at(-1) ?? '';
  const end = text.length - last.length;
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let from = first.length;
  for (let at = 1; at < pieces.length - 1; at++) {
    const piece = pieces[at] ?? '';
    const found = text.indexOf(piece, from);
    if (found < 0) return false;
    from = found + piece.length;
  }
  return from <= end;
}

/**
 * Two pointers, and on a mismatch the last run takes one character more. Earlier runs never need
 * to, so the time is at most the product of the two lengths.
 */
function matchesTokens(tokens: readonly Token[], text: string): boolean {
  let at = 0;
  let next = 0;
  let afterRun = -1;
  let runEnd = 0;
  while (at < text.length) {
    const token = tokens[next];
    const codePoint = text.codePointAt(at) ?? 0;
    if (token?.kind === 'run') {
      afterRun = ++next;
      runEnd = at;
    } else if (token !== undefined && accepts(token, codePoint)) {
      next++;
      at += widthOf(codePoint);
    } else if (afterRun >= 0) {
      runEnd += widthOf(text.codePointAt(runEnd) ?? 0);
      at = runEnd;
      next = afterRun;
    } else {
      return false;
    }
  }
  if (tokens[next]?.kind === 'run') next++;
  return next === tokens.length;
}

function widthOf(codePoint: number): number {
  return codePoint > 0xffff ? 2 : 1;
}

function accepts(token: Token, codePoint: number): boolean {
  switch (token.kind) {
    case 'character':
      return token.codePoint === codePoint;
    case 'set':
      return (
        token.negated !== token.ranges.some(([low, high]) => low <= codePoint && codePoint <= high)
      );
    default:
      return true;
  }
}
