// Regular expressions of the MongoDB language: PCRE in its common part, matched in linear time by
// RE2. What RE2 has no form for, such as back-references and look-arounds, is refused by name.
import { RE2JS, RE2JSException } from 're2js';
import { remembered, withoutBlanks } from '../query/functions/regex.js';
import { mongoLocation } from '../value/mongo-errors.js';

const FLAGS: Readonly<Record<string, number>> = {
  i: RE2JS.CASE_INSENSITIVE,
  m: RE2JS.MULTILINE,
  s: RE2JS.DOTALL,
  // Blanks are taken out before; patterns and texts are Unicode anyway.
  x: 0,
  u: 0,
};

export const COMPILED_MAX = 64;
const compiled = new Map<string, RE2JS>();

export function compileRegex(pattern: string, options: string): RE2JS {
  let flags = 0;
  for (const option of options) {
    const flag = FLAGS[option];
    if (flag === undefined) {
      throw mongoLocation(51108, `invalid flag in regex options: ${option}`);
    }
    flags |= flag;
  }
  return remembered(compiled, COMPILED_MAX, `${options}/${pattern}`, () => {
    try {
      return RE2JS.compile(options.includes('x') ? withoutBlanks(pattern) : pattern, flags);
    } catch (error) {
      if (!(error instanceof RE2JSException)) throw error;
      throw mongoLocation(51091, `Regular expression is invalid: ${error.message}`);
    }
  });
}

const PLAIN = /^(\^?)([\w \-@:,;"'<>%&=!~`/]*)$/;

/** Whether a text holds a match. Patterns without special characters need no automaton. */
export function textMatcher(pattern: string, options: string): (text: string) => boolean {
  const regex = compileRegex(pattern, options);
  const plain = options === '' ? PLAIN.exec(pattern) : null;
  if (plain) {
    const [, anchor, literal = ''] = plain;
    return anchor ? (text) => text.startsWith(literal) : (text) => text.includes(literal);
  }
  return (text) => regex.matcher(text).find();
}

/** What every text begins with that a pattern matches; empty where that is not simply told. */
export function literalPrefix(pattern: string, options: string): string {
  if (/[imx]/.test(options) || !pattern.startsWith('^')) return '';
  // An alternative need not begin like the first, wherever the bar stands.
  if (pattern.includes('|')) return '';
  const literal: string[] = [];
  const units = [...pattern.slice(1)];
  for (let at = 0; at < units.length; at++) {
    const unit = units[at] as string;
    if (REPEATED.includes(unit)) {
      // What may be there as often as never does not count.
      if (unit !== '+') literal.pop();
      break;
    }
    if (SPECIAL.includes(unit)) break;
    if (unit !== '\\') {
      literal.push(unit);
      continue;
    }
    at += 1;
    const escaped = units[at] ?? '';
    if (!ESCAPABLE.test(escaped)) break;
    literal.push(escaped);
  }
  return literal.join('');
}

const REPEATED: readonly string[] = ['*', '?', '+', '{'];
const SPECIAL: readonly string[] = ['.', '(', ')', '[', ']', '^', '$', '}'];
const ESCAPABLE = /^[^\w\s]$/;
