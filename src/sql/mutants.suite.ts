// Texts that are nearly queries: good ones with a few things wrong, and words thrown together.
import { type Random, randomInteger, randomPick, randomText } from '../value/random.suite.js';
import { corpus } from './corpus.suite.js';

/** A good query, or the one given, after a few changes. */
export function randomMutant(random: Random, good: string = pick(random, TEXTS)): string {
  let text = good;
  for (let left = randomInteger(random, 3); left >= 0; left--) text = mutate(random, text);
  return text;
}

export function randomSoup(random: Random): string {
  const length = 1 + randomInteger(random, 20);
  const words = Array.from({ length }, () => randomPick(random, SOUP));
  return (random() < 0.7 ? 'SELECT ' : '') + words.join(random() < 0.8 ? ' ' : '');
}

const TEXTS = corpus.map(([text]) => text);

function pick(random: Random, texts: readonly string[]): string {
  return texts[randomInteger(random, texts.length)] ?? '';
}

function mutate(random: Random, text: string): string {
  const from = randomInteger(random, text.length + 1);
  const to = Math.min(text.length, from + randomInteger(random, 6));
  const [head, middle, tail] = [text.slice(0, from), text.slice(from, to), text.slice(to)];
  switch (randomInteger(random, 6)) {
    case 0:
      return head + tail;
    case 1:
      return head + middle + middle + tail;
    case 2:
      return `${head}${randomPick(random, SOUP)}${tail}`;
    case 3:
      return `${head} ${randomPick(random, SOUP)} ${middle}${tail}`;
    case 4:
      return head + randomText(random) + tail;
    default:
      return head + pick(random, TEXTS).slice(randomInteger(random, 40));
  }
}

// biome-ignore format: a table
const SOUP = [
  'SELECT', 'DISTINCT', 'TOP', 'VALUE', '*', 'FROM', 'c', 'c.a', 'AS', 'JOIN', 'IN', 'WHERE', 'NOT',
  'AND', 'OR', 'BETWEEN', 'LIKE', 'ESCAPE', 'GROUP', 'BY', 'ORDER', 'RANK', 'ASC', 'DESC', 'OFFSET',
  'LIMIT', 'EXISTS', 'ARRAY', 'ALL', 'first', 'LEFT', 'udf', 'true', 'null', 'undefined', '@p', '1',
  '-1', '.5', '0x1F', "'x'", '"y"', '(', ')', '[', ']', '{', '}', ',', '.', ':', ';', '?', '??',
  '+', '-', '~', '/', '%', '||', '|', '&', '^', '<<', '>>', '>>>', '=', '!=', '<>', '<', '>', '<=', '>=',
  '--', '/*', '*/', "'", '"', '\\', '!', '#', '$', 'é', '\n', '\ud800', 'f(',
  '(SELECT 1)', 'c.a = 1',
] as const;
