// The types of BSON: their numbers on the wire, their names in the language, and the brackets in
// which values of different types are equal or ordered.

export const BsonType = {
  double: 0x01,
  string: 0x02,
  object: 0x03,
  array: 0x04,
  binData: 0x05,
  undefined: 0x06,
  objectId: 0x07,
  bool: 0x08,
  date: 0x09,
  null: 0x0a,
  regex: 0x0b,
  dbPointer: 0x0c,
  javascript: 0x0d,
  symbol: 0x0e,
  javascriptWithScope: 0x0f,
  int: 0x10,
  timestamp: 0x11,
  long: 0x12,
  decimal: 0x13,
  minKey: 0xff,
  maxKey: 0x7f,
} as const;

/** What stands for a value that is not there, where a type is asked for. */
export const MISSING = 0;

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(BsonType).map(([name, type]) => [type, name]),
);

/** As `$type` and error texts say it. */
export function typeName(type: number): string {
  return NAMES.get(type) ?? 'missing';
}

export function typeNamed(name: string): number | undefined {
  return Object.hasOwn(BsonType, name) ? BsonType[name as keyof typeof BsonType] : undefined;
}

/** The place of a type in the one order; types of one place are compared by value. */
export const Bracket = {
  /** Next to undefined, below null. */
  missing: 0,
  minKey: -1,
  undefined: 0,
  null: 5,
  number: 10,
  string: 15,
  object: 20,
  array: 25,
  binData: 30,
  objectId: 35,
  bool: 40,
  date: 45,
  timestamp: 47,
  regex: 50,
  dbPointer: 55,
  javascript: 60,
  javascriptWithScope: 65,
  maxKey: 127,
} as const;

const BRACKETS = new Int8Array(256).fill(Bracket.missing);
for (const [name, type] of Object.entries(BsonType)) {
  if (name in Bracket) BRACKETS[type] = Bracket[name as keyof typeof Bracket];
}
for (const type of [BsonType.double, BsonType.int, BsonType.long, BsonType.decimal]) {
  BRACKETS[type] = Bracket.number;
}
BRACKETS[BsonType.symbol] = Bracket.string;

export function bracketOf(type: number): number {
  return BRACKETS[type] as number;
}

export function isNumberType(type: number): boolean {
  return BRACKETS[type] === Bracket.number;
}
