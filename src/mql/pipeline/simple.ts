// Stages that look at one row after the other: `$match`, `$limit`, `$skip`, `$unwind`, `$redact`,
// `$sample`, and those of row-stages.ts.
import { toDouble, toSafeInteger } from '../../value/bson/numbers.js';
import { showValue } from '../../value/bson/show.js';
import {
  type Document,
  isArray,
  isDocument,
  isNullish,
  isNumber,
  type Value,
} from '../../value/bson/value.js';
import { mongoFailure, mongoLocation } from '../../value/mongo-errors.js';
import { checkPath, compilerFor, REDACT } from '../expression/compile.js';
import { type Expression, scopeOf } from '../expression/scope.js';
import { compileFilter } from '../filter/filter.js';
import { Row, valueAt } from '../row.js';
import { batched, eachRow, gather, mapRows } from './flow.js';
import { rowStages } from './row-stages.js';
import type { Stage, StageContext, Stages } from './stage.js';

export const simpleStages: Stages = {
  ...Object.fromEntries(
    Object.entries(rowStages).map(([stage, make]) => [
      stage,
      (operand: Value, { language, name }: StageContext): Stage =>
        mapRows(make(operand, language, name)),
    ]),
  ),
  $match: (operand, { language }) => {
    if (!isDocument(operand)) {
      throw mongoLocation(15959, 'the match filter must be an expression in an object');
    }
    const { matches, textScore, distance } = compileFilter(operand, language);
    if (distance) {
      throw mongoLocation(
        5626500,
        '$geoNear, $near, and $nearSphere are not allowed in this context',
      );
    }
    return mapRows((row) => {
      if (!matches(row.bytes)) return undefined;
      if (!textScore) return row;
      return Row.ofBytes(row.bytes, { ...row.meta, textScore: textScore(row.bytes) });
    });
  },
  $limit: (operand) => {
    const limit = wholeNumber(operand, '$limit', 5107201);
    if (limit === 0) throw mongoLocation(15958, 'the limit must be positive');
    return limiting(limit);
  },
  $skip: (operand) => {
    return skipping(wholeNumber(operand, '$skip', 5107200));
  },
  $unwind: unwinding,
  $redact: (operand, { language }) => {
    const expression = compilerFor(language).compile(operand);
    return mapRows((row) => {
      const left = redacted(row.document, expression);
      return left && Row.ofDocument(left, row.meta);
    });
  },
  $sample: (operand, { language, name }) => {
    const size = isDocument(operand) ? operand.get('size') : undefined;
    const count = isNumber(size) ? toSafeInteger(size) : undefined;
    if (count === undefined || count < 0) {
      throw mongoLocation(28747, 'size argument to $sample must be a positive number');
    }
    return async function* (input, run) {
      const rows = await gather(input, run, name);
      yield* batched(shuffled(rows, count, language.random));
    };
  },
};

function wholeNumber(value: Value, name: string, code: number): number {
  const integer = isNumber(value) ? toSafeInteger(value) : undefined;
  if (integer !== undefined && integer >= 0) return integer;
  const what = isNumber(value) && toDouble(value) < 0 ? 'a non-negative number' : wanted(value);
  throw mongoLocation(
    code,
    `invalid argument to ${name} stage: Expected ${what} in: ${name}: ${showValue(value)}`,
  );
}

function wanted(value: Value): string {
  return isNumber(value) ? 'an integer' : 'a number';
}

export function limiting(limit: number): Stage {
  return async function* (input) {
    let left = limit;
    for await (const batch of input) {
      yield batch.length <= left ? batch : batch.slice(0, left);
      left -= batch.length;
      if (left <= 0) return;
    }
  };
}

export function skipping(skip: number): Stage {
  return async function* (input) {
    let left = skip;
    for await (const batch of input) {
      if (left < batch.length) yield left > 0 ? batch.slice(left) : batch;
      left = Math.max(0, left - batch.length);
    }
  };
}

/** The first places of a random order, by Fisher and Yates. */
function shuffled(rows: Row[], count: number, random: () => number): readonly Row[] {
  const most = Math.min(count, rows.length);
  for (let at = 0; at < most; at++) {
    const other = at + Math.floor(random() * (rows.length - at));
    [rows[at], rows[other]] = [rows[other] as Row, rows[at] as Row];
  }
  return rows.slice(0, most);
}

interface Unwind {
  readonly names: readonly string[];
  readonly keepsEmpty: boolean;
  readonly indexField: readonly string[] | undefined;
}

function unwinding(operand: Value): Stage {
  const { names, keepsEmpty, indexField } = unwindSpec(operand);
  return eachRow((row, emit) => {
    const value = valueAt(row.document, names, 0);
    const numbered = (document: Document, index: bigint | null) =>
      indexField ? replaced(document, indexField, index) : document;
    if (!isArray(value)) {
      if (isNullish(value) && !keepsEmpty) return;
      emit(indexField ? Row.ofDocument(numbered(row.document, null), row.meta) : row);
      return;
    }
    if (value.length === 0 && keepsEmpty) {
      emit(Row.ofDocument(numbered(replaced(row.document, names, undefined), null), row.meta));
    }
    value.forEach((element, index) => {
      const document = replaced(row.document, names, element);
      emit(Row.ofDocument(numbered(document, BigInt(index)), row.meta));
    });
  });
}

function unwindSpec(operand: Value): Unwind {
  const path = isDocument(operand) ? operand.get('path') : operand;
  if (typeof path !== 'string') {
    throw mongoLocation(
      28812,
      '$unwind requires a path: expected either a string or an object with one',
    );
  }
  if (!path.startsWith('$')) {
    throw mongoLocation(
      28818,
      `path option to $unwind stage should be prefixed with a '$': ${path}`,
    );
  }
  const names = path.slice(1).split('.');
  checkPath(names, path);
  const options: Document = isDocument(operand) ? operand : new Map();
  for (const name of options.keys()) {
    if (['path', 'includeArrayIndex', 'preserveNullAndEmptyArrays'].includes(name)) continue;
    throw mongoLocation(28811, `unrecognized option to $unwind stage: ${name}`);
  }
  const index = options.get('includeArrayIndex');
  if (index !== undefined && (typeof index !== 'string' || index === '')) {
    throw mongoLocation(
      28810,
      'expected a non-empty string for the includeArrayIndex option to $unwind stage',
    );
  }
  if (index?.startsWith('$')) {
    throw mongoLocation(
      28822,
      `includeArrayIndex option to $unwind stage should not be prefixed with a '$': ${index}`,
    );
  }
  const keeps = options.get('preserveNullAndEmptyArrays') ?? false;
  if (typeof keeps !== 'boolean') {
    throw mongoLocation(
      28809,
      'expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage',
    );
  }
  return { names, keepsEmpty: keeps, indexField: index?.split('.') };
}

/** A copy with another value at a path through documents. */
export function replaced(
  document: Document,
  names: readonly string[],
  value: Value | undefined,
): Document {
  const [name = '', ...below] = names;
  const copy = new Map(document);
  const member = copy.get(name);
  const next =
    below.length === 0 ? value : replaced(isDocument(member) ? member : new Map(), below, value);
  if (next === undefined) copy.delete(name);
  else copy.set(name, next);
  return copy;
}

function redacted(document: Document, expression: Expression): Document | undefined {
  const verdict = expression(scopeOf(Row.ofDocument(document)));
  if (verdict === REDACT.KEEP) return document;
  if (verdict === REDACT.PRUNE) return undefined;
  if (verdict !== REDACT.DESCEND) {
    throw mongoLocation(
      17053,
      `$redact's expression should not return anything aside from the variables $$KEEP, $$DESCEND, and $$PRUNE, but returned ${showValue(verdict)}`,
    );
  }
  const left: Document = new Map();
  for (const [name, value] of document) {
    const kept = redactedValue(value, expression);
    if (kept !== undefined) left.set(name, kept);
  }
  return left;
}

function redactedValue(value: Value, expression: Expression): Value | undefined {
  if (isDocument(value)) return redacted(value, expression);
  if (!isArray(value)) return value;
  return value.flatMap((element) => {
    const kept = redactedValue(element, expression);
    return kept === undefined ? [] : [kept];
  });
}

/** For stages that must be documents. */
export function needDocument(operand: Value, name: string): Document {
  if (isDocument(operand)) return operand;
  throw mongoFailure('FailedToParse', `the ${name} stage specification must be an object`);
}
