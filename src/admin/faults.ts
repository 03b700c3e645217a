// /_mayfly/faults: rules that make the server answer wrongly, late or not at all.
import type { Fault, FaultEffect, FaultRule, Operation } from '../http/faults.js';
import { parseDurationMs } from '../time/duration.js';
import { failure } from '../value/errors.js';
import { fieldsOf } from './fields.js';
import type { AdminRequest } from './server.js';

const FIELDS = [
  ...['operation', 'resource', 'database', 'container', 'id', 'probability', 'seed', 'skip'],
  ...['count', 'delay', 'when', 'drop', 'status', 'subStatus', 'retryAfterMs', 'headers'],
  ...['code', 'errorLabels'],
];
const DELAY_MAX_MS = 300_000;
const HEADERS_MAX = 20;
const HEADER_NAME = /^[a-z0-9-]{1,100}$/;
const HEADER_VALUE = /^[\x20-\x7e]{0,1000}$/;
/** What frames an answer is not for a rule to say. */
const FRAMING = ['content-length', 'content-type', 'transfer-encoding', 'connection', 'date'];
/** Of those that always come with one. */
const SUB_STATUS: Readonly<Record<number, number>> = { 429: 3200 };
const RETRY_AFTER_MS: Readonly<Record<number, number>> = { 429: 10 };

export function listFaults({ faults }: AdminRequest): object {
  return { faults: faults.list().map(shown) };
}

export async function addFault({ faults, body }: AdminRequest): Promise<object> {
  const fields = fieldsOf(await body(), FIELDS);
  return shown(faults.add(ruleOf(fields, faults.operations)));
}

export function readFault({ faults, names }: AdminRequest): object {
  const fault = faults.find(names[0] ?? '');
  if (!fault) throw failure('notFound');
  return shown(fault);
}

export function removeFault({ faults, names }: AdminRequest): object {
  if (!faults.remove(names[0] ?? '')) throw failure('notFound');
  return { removed: 1 };
}

export function clearFaults({ faults }: AdminRequest): object {
  return { removed: faults.clear() };
}

type Fields = Readonly<Record<string, unknown>>;

function ruleOf(fields: Fields, operations: readonly Operation[]): FaultRule {
  const delayMs = delayOf(fields.delay);
  const when = choiceOf(fields, 'when', ['before', 'after']) ?? 'before';
  const effect = effectOf(fields, delayMs);
  if (effect.kind === 'delay' && when === 'after') {
    throw wrong(
      'when',
      'after',
      'It needs a status, code or drop: a delay comes before the operation',
    );
  }
  return {
    operations: operationsOf(fields.operation, operations),
    resource: resourceOf(fields, operations),
    database: textOf(fields, 'database'),
    container: textOf(fields, 'container'),
    id: textOf(fields, 'id'),
    probability: numberOf(fields, 'probability', 0, 1, false) ?? 1,
    seed: numberOf(fields, 'seed', 0, 2 ** 32 - 1) ?? 1,
    skip: numberOf(fields, 'skip', 0, 1e9) ?? 0,
    count: numberOf(fields, 'count', 1, 1e9),
    delayMs,
    when,
    effect,
  };
}

function effectOf(fields: Fields, delayMs: number): FaultEffect {
  const status = numberOf(fields, 'status', 400, 599);
  if (fields.drop !== undefined) {
    if (fields.drop !== true) throw wrong('drop', fields.drop, 'It must be true');
    for (const name of ['status', 'code', 'subStatus', 'retryAfterMs', 'headers', 'errorLabels']) {
      if (fields[name] === undefined) continue;
      throw wrong(name, fields[name], 'A connection that is dropped has no answer');
    }
    return { kind: 'drop' };
  }
  if (fields.code !== undefined) return errorOf(fields);
  if (fields.errorLabels !== undefined) {
    throw wrong('errorLabels', fields.errorLabels, 'It needs a code');
  }
  if (status === undefined) {
    for (const name of ['subStatus', 'retryAfterMs', 'headers']) {
      if (fields[name] !== undefined) throw wrong(name, fields[name], 'It needs a status');
    }
    if (delayMs > 0) return { kind: 'delay' };
    const why = 'Give a status, code, drop or delay: the rule does nothing.';
    throw failure('invalidInput', { why });
  }
  return {
    kind: 'answer',
    status,
    subStatus: numberOf(fields, 'subStatus', 0, 65_535) ?? SUB_STATUS[status] ?? 0,
    retryAfterMs: numberOf(fields, 'retryAfterMs', 0, 3_600_000) ?? RETRY_AFTER_MS[status],
    headers: headersOf(fields.headers),
  };
}

/** Of MongoDB commands. */
function errorOf(fields: Fields): FaultEffect {
  for (const name of ['status', 'subStatus', 'headers']) {
    if (fields[name] === undefined) continue;
    throw wrong(name, fields[name], 'A code is for MongoDB commands, which have none');
  }
  const labels = fields.errorLabels;
  const isList = Array.isArray(labels) && labels.every((each) => typeof each === 'string');
  if (labels !== undefined && !isList) {
    throw wrong('errorLabels', labels, 'It must be a list of texts');
  }
  return {
    kind: 'error',
    code: numberOf(fields, 'code', 1, 2 ** 31 - 1) ?? 0,
    errorLabels: labels as readonly string[] | undefined,
    retryAfterMs: numberOf(fields, 'retryAfterMs', 0, 3_600_000),
  };
}

function operationsOf(
  value: unknown,
  operations: readonly Operation[],
): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const names = Array.isArray(value) ? (value as readonly unknown[]) : [value];
  const known = [...new Set(operations.map(({ name }) => name))].sort();
  const unknown = names.find((name) => !known.includes(name as string));
  if (names.length > 0 && unknown === undefined) return names as readonly string[];
  throw wrong('operation', unknown ?? value, `It must be one or several of ${known.join(', ')}`);
}

function resourceOf(fields: Fields, operations: readonly Operation[]): string | undefined {
  const known = [...new Set(operations.map(({ resource }) => resource))].filter(Boolean).sort();
  return choiceOf(fields, 'resource', known);
}

function headersOf(value: unknown): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw wrong('headers', value, 'It must be an object of texts');
  }
  const entries = Object.entries(value).map(([name, text]) => [name.toLowerCase(), text] as const);
  if (entries.length > HEADERS_MAX) throw wrong('headers', entries.length, 'There are too many');
  for (const [name, text] of entries) {
    const isGood = HEADER_NAME.test(name) && !FRAMING.includes(name);
    if (!isGood) throw wrong('headers', name, 'This header cannot be set');
    if (typeof text === 'string' && HEADER_VALUE.test(text)) continue;
    throw wrong(`headers.${name}`, text, 'It must be a text of printable ASCII');
  }
  return Object.fromEntries(entries) as Record<string, string>;
}

function delayOf(value: unknown): number {
  if (value === undefined) return 0;
  const ms = parseDurationMs(value);
  if (ms !== undefined && ms > 0 && ms <= DELAY_MAX_MS) return ms;
  throw wrong('delay', value, 'It must be seconds or a text such as "500ms", five minutes at most');
}

function textOf(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  throw wrong(name, value, 'It must be a text');
}

function choiceOf<const T extends string>(
  fields: Fields,
  name: string,
  choices: readonly T[],
): T | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  const choice = choices.find((each) => each === value);
  if (choice !== undefined) return choice;
  throw wrong(name, value, `It must be one of ${choices.join(', ')}`);
}

function numberOf(
  fields: Fields,
  name: string,
  min: number,
  max: number,
  isWhole = true,
): number | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  const fits = typeof value === 'number' && value >= min && value <= max;
  if (fits && (!isWhole || Number.isInteger(value))) return value;
  throw wrong(name, value, `It must be a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}`);
}

function wrong(name: string, value: unknown, why: string) {
  return failure('invalidInput', { why: `${name} is ${JSON.stringify(value)}. ${why}.` });
}

/** As it was given, with what was left out filled in. */
function shown({ id, rule, seen, hits }: Fault): object {
  const { operations, effect, delayMs, ...rest } = rule;
  const { kind, ...answer } = effect;
  return {
    ...{ fault: id, seen, hits, operation: operations, ...rest },
    ...(delayMs > 0 ? { delay: `${delayMs}ms` } : {}),
    ...(kind === 'drop' ? { drop: true } : answer),
  };
}
