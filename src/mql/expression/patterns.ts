// `$regexMatch`, `$regexFind`, `$regexFindAll`.
import {
  documentOf,
  int32,
  isNullish,
  Regex,
  SymbolText,
  type Value,
} from '../../value/bson/value.js';
import { mongoLocation } from '../../value/mongo-errors.js';
import { compileRegex } from '../regex.js';
import { type Argument, named } from './arguments.js';
import { nameOfType } from './numbers.js';
import type { Operators } from './scope.js';

/** More matches than this are not gathered from one text. */
export const MATCHES_MAX = 100_000;

export const patternOperators: Operators = {
  $regexMatch: searching((matches) => matches(1).length > 0),
  $regexFind: searching((matches) => matches(1)[0] ?? null, null),
  $regexFindAll: searching((matches) => matches(MATCHES_MAX), []),
};

type Matches = (most: number) => readonly Value[];

function searching(answer: (matches: Matches) => Value, otherwise: Value = false) {
  return named(['input', 'regex'], ['options'], ({ input, regex, options }, name) => {
    const pattern = patternOf(regex, options, name);
    if (isNullish(input) || pattern === undefined) return otherwise;
    const text = input instanceof SymbolText ? input.text : input;
    if (typeof text !== 'string') {
      throw mongoLocation(51104, `${name} needs 'input' to be of type string`);
    }
    return answer((most) => matchesIn(text, pattern, most));
  });
}

function patternOf(regex: Argument, options: Argument, name: string): Regex | undefined {
  if (isNullish(regex)) return undefined;
  if (!isNullish(options) && typeof options !== 'string') {
    throw mongoLocation(51106, `${name} needs 'options' to be of type string`);
  }
  if (regex instanceof Regex) {
    if (options && regex.options) {
      throw mongoLocation(
        51107,
        `${name}: found regex options specified in both 'regex' and 'options' fields`,
      );
    }
    return new Regex(regex.pattern, options || regex.options);
  }
  if (typeof regex === 'string') return new Regex(regex, options ?? '');
  throw mongoLocation(
    51105,
    `${name} needs 'regex' to be of type string or regex, not ${nameOfType(regex)}`,
  );
}

function matchesIn(text: string, { pattern, options }: Regex, most: number): readonly Value[] {
  const matcher = compileRegex(pattern, options).matcher(text);
  const found: Value[] = [];
  let counted = 0;
  let index = 0;
  while (found.length < most && matcher.find()) {
    const start = matcher.start();
    index += [...text.slice(counted, start)].length;
    counted = start;
    const captures = Array.from(
      { length: matcher.groupCount() },
      (_, at) => matcher.group(at + 1) ?? null,
    );
    found.push(documentOf({ match: matcher.group() ?? '', idx: int32(index), captures }));
  }
  return found;
}
