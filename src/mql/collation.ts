// Collations: texts compared as a language does. Intl.Collator knows the strengths 1 to 3 and most
// of the options; what it does not know is refused by name.
import { toSafeInteger } from '../value/bson/numbers.js';
import { showValue } from '../value/bson/show.js';
import { typeName } from '../value/bson/types.js';
import { type Document, isNumber, typeOf, type Value } from '../value/bson/value.js';
import { type MongoError, mongoFailure } from '../value/mongo-errors.js';
import type { Collation } from './language.js';

type Sensitivity = NonNullable<Intl.CollatorOptions['sensitivity']>;

/** `undefined` for the locale "simple": texts are compared by their bytes. */
export function compileCollation(spec: Document): Collation | undefined {
  const locale = field(spec, 'locale', 'string');
  if (typeof locale !== 'string') {
    throw mongoFailure('FailedToParse', 'Missing expected field "locale"');
  }
  for (const name of spec.keys()) {
    if (!FIELDS.has(name)) {
      throw mongoFailure('BadValue', `BSON field 'collation.${name}' is an unknown field.`);
    }
  }
  if (locale === 'simple') return undefined;
  const collator = new Intl.Collator(languageTag(locale), {
    sensitivity: sensitivityOf(spec),
    numeric: field(spec, 'numericOrdering', 'bool') === true,
    caseFirst: caseFirstOf(spec),
    ignorePunctuation: oneOf(spec, 'alternate', ['non-ignorable', 'shifted']) === 'shifted',
  });
  refuseUnless(spec, 'backwards', [false]);
  refuseUnless(spec, 'maxVariable', ['punct']);
  const { compare } = collator;
  return { compare, fold: representatives(compare), spec };
}

const FIELDS = new Set([
  ...['locale', 'strength', 'caseLevel', 'caseFirst', 'numericOrdering', 'alternate'],
  ...['maxVariable', 'backwards', 'normalization', 'version'],
]);

function field(spec: Document, name: string, type: 'string' | 'bool'): Value | undefined {
  const value = spec.get(name);
  const actual = typeName(typeOf(value));
  if (value === undefined || actual === type) return value;
  throw mongoFailure(
    'TypeMismatch',
    `BSON field 'collation.${name}' is the wrong type '${actual}', expected type '${type}'`,
  );
}

function oneOf(spec: Document, name: string, known: readonly string[]): string | undefined {
  const value = field(spec, name, 'string') as string | undefined;
  if (value === undefined || known.includes(value)) return value;
  throw mongoFailure(
    'BadValue',
    `Enumeration value '${value}' for field 'collation.${name}' is not a valid value.`,
  );
}

/** A setting that nothing here acts on is refused, unless it says what is so anyway. */
function refuseUnless(spec: Document, name: string, harmless: readonly Value[]): void {
  const value = spec.get(name);
  if (value === undefined || harmless.includes(value)) return;
  throw unsupported(`${name}: ${showValue(value)}`);
}

function unsupported(what: string): MongoError {
  return mongoFailure('BadValue', `collation with ${what} is not supported`);
}

function sensitivityOf(spec: Document): Sensitivity {
  const given = spec.get('strength');
  const strength = given === undefined ? 3 : isNumber(given) ? toSafeInteger(given) : undefined;
  const withCase = field(spec, 'caseLevel', 'bool') === true;
  if (strength === undefined || strength < 1 || strength > 5) {
    throw mongoFailure('BadValue', `collation strength must be from 1 to 5: ${showValue(given)}`);
  }
  if (strength === 1) return withCase ? 'case' : 'base';
  if (strength === 2) {
    if (withCase) return 'variant';
    return 'accent';
  }
  if (strength === 3) return 'variant';
  throw unsupported(`strength ${strength}`);
}

function caseFirstOf(spec: Document): 'upper' | 'lower' | 'false' {
  const first = oneOf(spec, 'caseFirst', ['upper', 'lower', 'off']);
  return first === 'upper' || first === 'lower' ? first : 'false';
}

/** Variants of a locale, as ICU names them and as Intl does. */
const VARIANTS: Readonly<Record<string, string>> = {
  phonebook: 'phonebk',
  traditional: 'trad',
  pinyin: 'pinyin',
  stroke: 'stroke',
  zhuyin: 'zhuyin',
};

function languageTag(locale: string): string {
  const [name = '', variant] = locale.split('@collation=');
  const suffix = variant === undefined ? '' : `-u-co-${VARIANTS[variant] ?? '?'}`;
  const tag = `${name.replaceAll('_', '-')}${suffix}`;
  try {
    if (Intl.Collator.supportedLocalesOf([tag]).length > 0) return tag;
  } catch {
    // Not even the form of a locale.
  }
  throw mongoFailure('BadValue', `Field 'locale' is invalid in: { locale: "${locale}" }`);
}

/**
 * Texts that are equal to a collator share no form that can be read off them, so the first of them
 * that comes stands for the others. It is for one command, and holds what that command groups.
 */
function representatives(compare: (a: string, b: string) => number): (text: string) => string {
  const known: string[] = [];
  const found = new Map<string, string>();
  const fold = representative(known, compare);
  return (text) => {
    const before = found.get(text);
    if (before !== undefined) return before;
    const folded = fold(text);
    if (found.size < FOLDED_MAX) found.set(text, folded);
    return folded;
  };
}

/** So many texts need not be looked for when they come again. */
const FOLDED_MAX = 10_000;

function representative(
  known: string[],
  compare: (a: string, b: string) => number,
): (text: string) => string {
  return (text) => {
    let [low, high] = [0, known.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const order = compare(known[middle] as string, text);
      if (order === 0) return known[middle] as string;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    known.splice(low, 0, text);
    return text;
  };
}
