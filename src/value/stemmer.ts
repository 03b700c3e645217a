// Light English stemming by the rules of M. F. Porter, "An algorithm for suffix stripping" (1980),
// so that "swimming" and "swims" are found by "swim".

/** The stem of a word in lower case. Words that are not of the letters a to z stay as they are. */
export function stem(word: string): string {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word;
  let stemmed = withoutPlural(word);
  stemmed = withoutPast(stemmed);
  stemmed = endingInI(stemmed);
  stemmed = replaceSuffix(stemmed, DOUBLE_SUFFIXES, (left) => measure(left) > 0);
  stemmed = replaceSuffix(stemmed, FULL_SUFFIXES, (left) => measure(left) > 0);
  stemmed = replaceSuffix(stemmed, RESIDUAL_SUFFIXES, mayLoseResidual);
  return withoutLastE(stemmed);
}

type Suffixes = readonly (readonly [suffix: string, replacement: string])[];

/** The longest suffix comes first, as only the longest one that fits is looked at. */
function longestFirst(suffixes: Readonly<Record<string, string>>): Suffixes {
  return Object.entries(suffixes).sort(([a], [b]) => b.length - a.length);
}

const DOUBLE_SUFFIXES = longestFirst({
  ational: 'ate',
  tional: 'tion',
  enci: 'ence',
  anci: 'ance',
  izer: 'ize',
  bli: 'ble',
  alli: 'al',
  entli: 'ent',
  eli: 'e',
  ousli: 'ous',
  ization: 'ize',
  ation: 'ate',
  ator: 'ate',
  alism: 'al',
  iveness: 'ive',
  fulness: 'ful',
  ousness: 'ous',
  aliti: 'al',
  iviti: 'ive',
  biliti: 'ble',
  logi: 'log',
});

const FULL_SUFFIXES = longestFirst({
  icate: 'ic',
  ative: '',
  alize: 'al',
  iciti: 'ic',
  ical: 'ic',
  ful: '',
  ness: '',
});

const RESIDUAL_SUFFIXES = longestFirst({
  al: '',
  ance: '',
  ence: '',
  er: '',
  ic: '',
  able: '',
  ible: '',
  ant: '',
  ement: '',
  ment: '',
  ent: '',
  ion: '',
  ou: '',
  ism: '',
  ate: '',
  iti: '',
  ous: '',
  ive: '',
  ize: '',
});

function withoutPlural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2);
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

/** Without -ed and -ing; "hopping" and "hoping" become "hop" and "hope". */
function withoutPast(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const suffix = ['ed', 'ing'].find((ending) => word.endsWith(ending));
  if (suffix === undefined) return word;
  const left = word.slice(0, -suffix.length);
  if (!hasVowel(left)) return word;
  if (/(at|bl|iz)$/.test(left)) return `${left}e`;
  if (endsInDoubleConsonant(left) && !/[lsz]$/.test(left)) return left.slice(0, -1);
  return measure(left) === 1 && endsShort(left) ? `${left}e` : left;
}

/** A last y becomes i, so that "happy" and "happiness" meet. */
function endingInI(word: string): string {
  const left = word.slice(0, -1);
  return word.endsWith('y') && hasVowel(left) ? `${left}i` : word;
}

function replaceSuffix(
  word: string,
  suffixes: Suffixes,
  allows: (left: string, suffix: string) => boolean,
): string {
  const found = suffixes.find(([suffix]) => word.endsWith(suffix));
  if (!found) return word;
  const [suffix, replacement] = found;
  const left = word.slice(0, word.length - suffix.length);
  return allows(left, suffix) ? left + replacement : word;
}

function mayLoseResidual(left: string, suffix: string): boolean {
  return measure(left) > 1 && (suffix !== 'ion' || /[st]$/.test(left));
}

function withoutLastE(word: string): string {
  let left = word;
  if (word.endsWith('e')) {
    const before = word.slice(0, -1);
    const size = measure(before);
    if (size > 1 || (size === 1 && !endsShort(before))) left = before;
  }
  return left.endsWith('ll') && measure(left) > 1 ? left.slice(0, -1) : left;
}

/** One letter `c` or `v` for each consonant or vowel; y is a vowel after a consonant. */
function shape(word: string): string {
  let letters = '';
  for (const letter of word) {
    const isVowel = 'aeiou'.includes(letter) || (letter === 'y' && letters.endsWith('c'));
    letters += isVowel ? 'v' : 'c';
  }
  return letters;
}

/** How many times a consonant follows a vowel: Porter's m. */
function measure(word: string): number {
  return shape(word).split('vc').length - 1;
}

function hasVowel(word: string): boolean {
  return shape(word).includes('v');
}

function endsInDoubleConsonant(word: string): boolean {
  return word.at(-1) === word.at(-2) && shape(word).endsWith('c');
}

/** A consonant, a vowel and a consonant other than w, x and y, as in "hop". */
function endsShort(word: string): boolean {
  return shape(word).endsWith('cvc') && !/[wxy]$/.test(word);
}
