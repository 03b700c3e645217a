// The fail point `failCommand`, by which programs test their retries as they do with MongoDB.
import { rest } from '../time/clock.js';
import { type Document, isArray, isDocument, type Value } from '../value/bson/value.js';
import { mongoFailure } from '../value/mongo-errors.js';
import type { Call } from './call.js';
import { asArray, asDocument, asInteger, asText, asTruth, unknownField } from './fields.js';
import type { Blow } from './struck.js';

const DATA_FIELDS: readonly string[] = [
  ...['failCommands', 'errorCode', 'errorLabels', 'closeConnection', 'blockConnection'],
  ...['blockTimeMS', 'appName', 'writeConcernError', 'namespace', 'failInternalCommands'],
];
const BLOCK_MS_MAX = 300_000;
/** They are never failed, so that the fail point can always be turned off. */
const SPARED: readonly string[] = ['configureFailPoint'];

interface Rule {
  /** How many commands that match pass, and how many are struck then. */
  skip: number;
  times: number;
  readonly commands: readonly string[];
  readonly appName: string | undefined;
  readonly namespace: string | undefined;
  readonly blockMs: number;
  readonly blow: Blow | undefined;
}

export class FailPoint {
  #rule: Rule | undefined;
  /** How often it has struck since the server began. */
  #entered = 0;

  /** Answers how often it had struck before. */
  configure(mode: Value | undefined, data: Document | undefined): number {
    const counts = countsOf(mode);
    this.#rule = counts && ruleOf(data ?? new Map(), counts);
    return this.#entered;
  }

  /** Waits where it blocks; answers what becomes of the command. */
  async strike(call: Call): Promise<Blow | undefined> {
    const rule = this.#rule;
    if (!rule || !isMeant(rule, call)) return undefined;
    if (rule.skip > 0) {
      rule.skip -= 1;
      return undefined;
    }
    if (rule.times <= 0) return undefined;
    rule.times -= 1;
    this.#entered += 1;
    if (rule.blockMs > 0) await Promise.race([rest(rule.blockMs), call.mongo.stopping]);
    return rule.blow;
  }
}

function isMeant({ commands, appName, namespace }: Rule, { name, client, ...call }: Call): boolean {
  if (!commands.includes(name) || SPARED.includes(name)) return false;
  if (appName !== undefined && appName !== client.application) return false;
  const target = call.command.get(name === 'getMore' ? 'collection' : name);
  return namespace === undefined || namespace === `${call.database}.${String(target)}`;
}

function countsOf(mode: Value | undefined): { skip: number; times: number } | undefined {
  if (mode === 'off') return undefined;
  if (mode === 'alwaysOn') return { skip: 0, times: Number.MAX_SAFE_INTEGER };
  const given = isDocument(mode) ? mode : new Map<string, Value>();
  const times = asInteger(given.get('times'), 'configureFailPoint.mode.times');
  const skip = asInteger(given.get('skip'), 'configureFailPoint.mode.skip') ?? 0;
  for (const name of given.keys()) {
    if (name !== 'times' && name !== 'skip') throw unknownField(`configureFailPoint.mode.${name}`);
  }
  if (given.size === 0 || skip < 0 || (times ?? 0) < 0) {
    throw mongoFailure(
      'BadValue',
      "'mode' of a fail point is 'off', 'alwaysOn', or a document with times or skip",
    );
  }
  return { skip, times: times ?? Number.MAX_SAFE_INTEGER };
}

function ruleOf(data: Document, counts: { skip: number; times: number }): Rule {
  const path = (name: string) => `configureFailPoint.data.${name}`;
  for (const name of data.keys()) if (!DATA_FIELDS.includes(name)) throw unknownField(path(name));
  const commands = asArray(data.get('failCommands'), path('failCommands')) ?? [];
  if (commands.length === 0 || !commands.every((each) => typeof each === 'string')) {
    throw mongoFailure('BadValue', `${path('failCommands')} must be a list of commands`);
  }
  const isBlocking = asTruth(data.get('blockConnection'), path('blockConnection')) ?? false;
  const blockMs = asInteger(data.get('blockTimeMS'), path('blockTimeMS'));
  if (isBlocking && !(blockMs !== undefined && blockMs >= 0 && blockMs <= BLOCK_MS_MAX)) {
    throw mongoFailure(
      'BadValue',
      `${path('blockTimeMS')} must be from 0 to ${BLOCK_MS_MAX} where blockConnection is set`,
    );
  }
  return {
    ...counts,
    commands: commands as readonly string[],
    appName: asText(data.get('appName'), path('appName')),
    namespace: asText(data.get('namespace'), path('namespace')),
    blockMs: isBlocking ? (blockMs ?? 0) : 0,
    blow: blowOf(data, path),
  };
}

function blowOf(data: Document, path: (name: string) => string): Blow | undefined {
  if (asTruth(data.get('closeConnection'), path('closeConnection'))) return { kind: 'close' };
  const labels = labelsIn(data.get('errorLabels'));
  const code = asInteger(data.get('errorCode'), path('errorCode'));
  if (code !== undefined && code !== 0) {
    const text = "Failing command via 'failCommand' failpoint";
    return { kind: 'error', code, text, labels };
  }
  const concern = asDocument(data.get('writeConcernError'), path('writeConcernError'));
  if (!concern) return undefined;
  const { errorLabels, ...error } = Object.fromEntries(concern);
  const given = labelsIn(errorLabels) ?? labels;
  return { kind: 'concern', error: new Map(Object.entries(error)), labels: given };
}

function labelsIn(value: Value | undefined): readonly string[] | undefined {
  return isArray(value) ? value.map(String) : undefined;
}
