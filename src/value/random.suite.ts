// Seeded randomness for tests: the same seed gives the same values. SEED= in the environment
// repeats a run.
import { randomInt } from 'node:crypto';

/** Numbers from 0 inclusive to 1 exclusive. */
export type Random = () => number;

/** The seed in SEED, or a fresh one. Tests print it, so that a failure can be repeated. */
export function seedFromEnvironment(): number {
  const given = process.env.SEED;
  return given === undefined || given === '' ? randomInt(SEED_MAX) : Number(given);
}

/** How many rounds a test of random input makes: some seconds' worth, or FUZZ_SCALE times that. */
export function fuzzed(rounds: number): number {
  return rounds * Number(process.env.FUZZ_SCALE || 1);
}

/** The generator "mulberry32": 32 bits of state, plenty for tests. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** An integer from 0 inclusive to `below` exclusive. */
export function randomInteger(random: Random, below: number): number {
  return Math.floor(random() * below);
}

export function randomPick<T>(random: Random, choices: readonly [T, ...T[]]): T {
  return choices[randomInteger(random, choices.length)] ?? choices[0];
}

/** Any JSON value that survives a round trip through its text; so there is no minus zero. */
export function randomJson(random: Random, depthMax = 4): unknown {
  const kind = randomInteger(random, depthMax > 0 ? 8 : 5);
  switch (kind) {
    case 0:
      return null;
    case 1:
      return random() < 0.5;
    case 2:
      return randomNumber(random);
    case 3:
    case 4:
      return randomText(random);
    case 5:
    case 6:
      return randomArray(random, depthMax - 1);
    default:
      return randomObject(random, depthMax - 1);
  }
}

export function randomNumber(random: Random): number {
  switch (randomInteger(random, 4)) {
    case 0:
      return randomInteger(random, 21) - 10 || 0;
    case 1:
      return randomPick(random, NUMBERS);
    case 2:
      return (random() - 0.5) * 10 ** (randomInteger(random, 600) - 300) || 0;
    default:
      return random();
  }
}

/** Of characters that are hard to order: controls, astral ones, surrogates on their own. */
export function randomText(random: Random, unitsMax = 6): string {
  const length = randomInteger(random, unitsMax + 1);
  let text = '';
  while (text.length < length) text += randomPick(random, CHARACTERS);
  return text;
}

function randomArray(random: Random, depthMax: number): unknown[] {
  return Array.from({ length: randomInteger(random, 4) }, () => randomJson(random, depthMax));
}

function randomObject(random: Random, depthMax: number): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (let left = randomInteger(random, 4); left > 0; left--) {
    object[randomText(random, 2)] = randomJson(random, depthMax);
  }
  return object;
}

const SEED_MAX = 2 ** 31;

const NUMBERS = [
  0,
  1,
  -1,
  0.1,
  2 ** 31,
  -(2 ** 31),
  2 ** 32,
  2 ** 53,
  -(2 ** 53),
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  Number.MIN_VALUE,
  -Number.MIN_VALUE,
  2 ** -1022,
  -(2 ** -1022),
  2 ** -1022 - Number.MIN_VALUE,
  1 + Number.EPSILON,
] as const;

const CHARACTERS = [
  'a',
  'b',
  'Z',
  '0',
  ' ',
  '/',
  '"',
  '\u0000',
  '\u0001',
  '\u0002',
  '\u007f',
  '\u0080',
  'é',
  '\u07ff',
  '\u0800',
  '漢',
  '\ud7ff',
  '\ud800',
  '\udbff',
  '\udc00',
  '\udfff',
  '\ue000',
  '\uffff',
  '😀',
  '\u{10ffff}',
] as const;
