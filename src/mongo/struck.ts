// Commands that are to go wrong, by a fail point or by a rule for faults: what becomes of them.
import type { Fault, Operation } from '../http/faults.js';
import { rest } from '../time/clock.js';
import { decodeDocument } from '../value/bson/read.js';
import { type Document, isDocument } from '../value/bson/value.js';
import { codeNameOf, MongoError } from '../value/mongo-errors.js';
import type { Call, Reply } from './call.js';
import { commands } from './commands/table.js';
import { throttledText } from './meter.js';
import { ProtocolError } from './wire/message.js';

export type Blow =
  | { readonly kind: 'close' }
  | {
      readonly kind: 'error';
      readonly code: number;
      readonly text: string;
      /** Those that the code has by itself where they are absent. */
      readonly labels: readonly string[] | undefined;
    }
  | {
      /** The command is carried out, and told that its write concern was not met. */
      readonly kind: 'concern';
      readonly error: Document;
      readonly labels: readonly string[] | undefined;
    };

/** An error whose labels are given with it. */
export class LabelledError extends MongoError {
  readonly labels: readonly string[];

  constructor(code: number, text: string, labels: readonly string[]) {
    super(code, codeNameOf(code), text);
    this.labels = labels;
  }
}

/** What rules for faults can name. */
export const operations: readonly Operation[] = Object.keys(commands)
  .filter((name) => name !== 'configureFailPoint')
  .map((name) => ({ name, resource: 'mongo', names: 2, hasId: false }));

/** Runs a command, unless somebody wants it to fail. */
export function unlessStruck(
  call: Call,
  run: () => Reply | Promise<Reply>,
): Reply | Promise<Reply> {
  const { failPoint, faults } = call.mongo;
  return !failPoint && faults.isIdle ? run() : maybeStruck(call, run);
}

async function maybeStruck(call: Call, run: () => Reply | Promise<Reply>): Promise<Reply> {
  const { failPoint, faults } = call.mongo;
  const later = async () => run();
  const blow = await failPoint?.strike(call);
  if (blow) return struck(blow, false, later);
  const fault = faults.isIdle ? undefined : faults.strike(targetOf(call));
  if (!fault) return run();
  const { delayMs, when } = fault.rule;
  if (delayMs > 0) await Promise.race([rest(delayMs), call.mongo.stopping]);
  const meant = blowOf(fault);
  return meant ? struck(meant, when === 'after', later) : run();
}

function targetOf({ name, database, command }: Call) {
  const collection = command.get(name === 'getMore' ? 'collection' : name);
  const names = typeof collection === 'string' ? [database, collection] : [database];
  return { operation: name, resource: 'mongo', names };
}

function blowOf({ id, rule: { effect } }: Fault): Blow | undefined {
  if (effect.kind === 'drop') return { kind: 'close' };
  if (effect.kind !== 'error') return undefined;
  const { code, errorLabels: labels, retryAfterMs } = effect;
  const why = `The rule ${id} for faults wants it so.`;
  const text = code === 16500 ? throttledText(retryAfterMs ?? 10, why) : why;
  return { kind: 'error', code, text, labels };
}

async function struck(blow: Blow, after: boolean, run: () => Promise<Reply>): Promise<Reply> {
  if (blow.kind === 'concern') return withConcern(await run(), blow);
  // What fails by itself has its own answer to be lost.
  if (after) await run().catch(rethrowDefect);
  if (blow.kind === 'close') throw new ProtocolError('the connection is to be closed');
  const { code, text, labels } = blow;
  if (labels) throw new LabelledError(code, text, labels);
  throw new MongoError(code, codeNameOf(code), text);
}

function withConcern(reply: Reply, { error, labels }: Extract<Blow, { kind: 'concern' }>): Reply {
  // The answer to a retryable write is kept for the next try: that one is left as it is.
  const answered = isDocument(reply) ? new Map(reply) : decodeDocument(reply);
  answered.set('writeConcernError', error);
  if (labels) answered.set('errorLabels', labels);
  return answered;
}

function rethrowDefect(error: unknown): void {
  if (!(error instanceof MongoError)) throw error;
}
