// The one order of BSON values, by which the MongoDB face sorts, compares and groups. It stands
// beside the order of JSON values (../compare.ts) because the two languages disagree on nearly
// everything: the order of types, strings by code point or by code unit, documents by the order of
// their fields or of their names, and numbers of four types (decision 0030).
//
//   MinKey < missing, undefined < null < numbers < strings < documents < arrays < binaries
//   < ObjectIds < booleans < dates < timestamps < regular expressions < … < MaxKey
import { compareNumbers, numberKey } from './numbers.js';
import { Bracket, bracketOf } from './types.js';
import {
  type Binary,
  type Bytes,
  type Code,
  type CodeWithScope,
  type DateTime,
  type DbPointer,
  type Document,
  hexOf,
  type NumberValue,
  type ObjectId,
  type Regex,
  SymbolText,
  type Timestamp,
  typeOf,
  type Value,
} from './value.js';

/** How texts are compared, unless by their bytes. */
export type CompareText = (a: string, b: string) => number;

/** Negative, zero or positive, as for `Array.sort`. */
export function compareBson(
  a: Value | undefined,
  b: Value | undefined,
  compareText: CompareText = compareCodePoints,
): number {
  const bracket = bracketOf(typeOf(a));
  const difference = bracket - bracketOf(typeOf(b));
  if (difference !== 0) return difference;
  switch (bracket) {
    case Bracket.number:
      return compareNumbers(a as NumberValue, b as NumberValue);
    case Bracket.string:
      return compareText(textOf(a as string | SymbolText), textOf(b as string | SymbolText));
    case Bracket.object:
      return compareDocuments(a as Document, b as Document, compareText);
    case Bracket.array:
      return compareArrays(a as readonly Value[], b as readonly Value[], compareText);
    case Bracket.bool:
      return Number(a) - Number(b);
    case Bracket.date:
      return compareDates(a as DateTime, b as DateTime);
    case Bracket.objectId:
      return compareBytes((a as ObjectId).bytes, (b as ObjectId).bytes);
    default:
      return compareRare(bracket, a, b, compareText);
  }
}

export function equalBson(a: Value | undefined, b: Value | undefined): boolean {
  return compareBson(a, b) === 0;
}

/** In the order of their UTF-8 bytes; JavaScript's own order puts U+E000 behind surrogates. */
export function compareCodePoints(a: string, b: string): number {
  if (a === b) return 0;
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return rankOfUnit(left) - rankOfUnit(right);
  }
  return a.length - b.length;
}

function rankOfUnit(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}

function textOf(value: string | SymbolText): string {
  return value instanceof SymbolText ? value.text : value;
}

/** Field by field: first the types of the values, then the names, then the values. */
function compareDocuments(a: Document, b: Document, compareText: CompareText): number {
  const others = b.entries();
  for (const [name, value] of a) {
    const next = others.next();
    if (next.done) return 1;
    const [otherName, otherValue] = next.value;
    const difference =
      bracketOf(typeOf(value)) - bracketOf(typeOf(otherValue)) ||
      compareCodePoints(name, otherName) ||
      compareBson(value, otherValue, compareText);
    if (difference !== 0) return difference;
  }
  return others.next().done ? 0 : -1;
}

function compareArrays(a: readonly Value[], b: readonly Value[], compareText: CompareText): number {
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at++) {
    const difference = compareBson(a[at], b[at], compareText);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function compareDates(a: DateTime, b: DateTime): number {
  if (a.exact === undefined && b.exact === undefined) return a.ms - b.ms;
  const left = a.exact ?? BigInt(a.ms);
  const right = b.exact ?? BigInt(b.ms);
  return left < right ? -1 : left > right ? 1 : 0;
}

export function compareBytes(a: Bytes, b: Bytes): number {
  return Buffer.compare(a, b);
}

function compareRare(
  bracket: number,
  a: Value | undefined,
  b: Value | undefined,
  compareText: CompareText,
): number {
  switch (bracket) {
    case Bracket.binData: {
      const [left, right] = [a as Binary, b as Binary];
      return (
        left.bytes.length - right.bytes.length ||
        left.subtype - right.subtype ||
        compareBytes(left.bytes, right.bytes)
      );
    }
    case Bracket.timestamp: {
      const [left, right] = [a as Timestamp, b as Timestamp];
      return left.seconds - right.seconds || left.increment - right.increment;
    }
    case Bracket.regex: {
      const [left, right] = [a as Regex, b as Regex];
      const byPattern = compareCodePoints(left.pattern, right.pattern);
      return byPattern || compareCodePoints(left.options, right.options);
    }
    case Bracket.dbPointer: {
      const [left, right] = [a as DbPointer, b as DbPointer];
      return (
        Buffer.byteLength(left.namespace) - Buffer.byteLength(right.namespace) ||
        compareCodePoints(left.namespace, right.namespace) ||
        compareBytes(left.id, right.id)
      );
    }
    case Bracket.javascript:
      return compareCodePoints((a as Code).code, (b as Code).code);
    case Bracket.javascriptWithScope: {
      const [left, right] = [a as CodeWithScope, b as CodeWithScope];
      const byCode = compareCodePoints(left.code, right.code);
      return byCode || compareDocuments(left.scope, right.scope, compareText);
    }
    default:
      return 0;
  }
}

/**
 * A text that two values share exactly when they are equal in the order: for sets and groups.
 * `foldText` gives texts that a collation holds to be equal the same form.
 */
export function keyOfValue(
  value: Value | undefined,
  foldText: (text: string) => string = asItIs,
): string {
  const bracket = bracketOf(typeOf(value));
  switch (bracket) {
    case Bracket.number:
      return `n${numberKey(value as NumberValue)};`;
    case Bracket.string: {
      const text = foldText(textOf(value as string | SymbolText));
      return `s${text.length}:${text}`;
    }
    case Bracket.object: {
      let key = 'o';
      for (const [name, member] of value as Document) {
        key += `${name.length}:${name}${keyOfValue(member, foldText)}`;
      }
      return `${key}}`;
    }
    case Bracket.array: {
      let key = 'a';
      for (const element of value as readonly Value[]) key += keyOfValue(element, foldText);
      return `${key}]`;
    }
    case Bracket.bool:
      return value === true ? 't' : 'f';
    case Bracket.date:
      return `d${(value as DateTime).exact ?? (value as DateTime).ms};`;
    case Bracket.objectId:
      return `i${hexOf((value as ObjectId).bytes)}`;
    default:
      return keyOfRare(bracket, value, foldText);
  }
}

function keyOfRare(
  bracket: number,
  value: Value | undefined,
  foldText: (text: string) => string,
): string {
  switch (bracket) {
    case Bracket.binData: {
      const { subtype, bytes } = value as Binary;
      return `b${subtype}:${hexOf(bytes)};`;
    }
    case Bracket.timestamp:
      return `T${(value as Timestamp).seconds}:${(value as Timestamp).increment};`;
    case Bracket.regex: {
      const { pattern, options } = value as Regex;
      return `r${pattern.length}:${pattern}${options};`;
    }
    case Bracket.dbPointer: {
      const { namespace, id } = value as DbPointer;
      return `p${namespace.length}:${namespace}${hexOf(id)}`;
    }
    case Bracket.javascript: {
      const { code } = value as Code;
      return `c${code.length}:${code}`;
    }
    case Bracket.javascriptWithScope: {
      const { code, scope } = value as CodeWithScope;
      return `C${code.length}:${code}${keyOfValue(scope, foldText)}`;
    }
    default:
      return `k${bracket};`;
  }
}

function asItIs(text: string): string {
  return text;
}
