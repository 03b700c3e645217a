// The changes of a batch, as an engine takes them and as the model judges them.
import type { Change, Draft, Refusal, WriteBatch } from '../../src/engine/engine.js';
import { cosmosFuses } from '../../src/time/expiry.js';
import { docFromValue } from '../../src/value/doc.js';
import type { Body, ContainerModel, Place } from './model.suite.js';

export interface ChangeStep extends Place {
  /** `bump` decides by the item it finds: it counts up, and makes or removes an item. */
  readonly kind: 'insert' | 'put' | 'delete' | 'bump';
  readonly body: Body;
  readonly ifMatch: 'current' | '"none"' | undefined;
}
export interface SentChange extends ChangeStep {
  readonly etag: string;
  /** The etag that the condition came to name. */
  readonly expected: string | undefined;
}
export type Verdict = 'done' | 'conflict' | 'unique' | 'notFound' | 'preconditionFailed';

/** A bump that finds this many counted removes the item. */
const BUMPS_MAX = 3;

/** All changes of a batch are in the partition of its first. */
export function batchesOf(
  sent: readonly (readonly SentChange[])[],
  nowMs: number,
): readonly WriteBatch[] {
  return sent.map((changes) => ({
    partition: [changes[0]?.partition],
    changes: changes.map((change) => changeOf(change, nowMs)),
  }));
}

function changeOf(sent: SentChange, nowMs: number): Change {
  const { kind, id, expected: ifEtag } = sent;
  const item = draftOf(sent, sent.body, nowMs);
  if (kind === 'insert') return { kind, item };
  if (kind === 'put') return { kind, item, ifEtag };
  if (kind === 'delete') return { kind, id, ifEtag };
  return {
    kind: 'update',
    id,
    decide: (current) => {
      const bumps = bumpsOf(current?.doc.value);
      if (bumps >= BUMPS_MAX) return { delete: true };
      return { put: draftOf(sent, { ...sent.body, bumps: bumps + 1 }, nowMs) };
    },
  };
}

function draftOf({ id, etag }: SentChange, body: Body, nowMs: number): Draft {
  const fuses = cosmosFuses(body.ttl, Math.floor(nowMs / 1000));
  return { id, etag, fuses, doc: docFromValue(body) };
}

/** What must come of a change, and, if it is done, its effect on the model. */
export function judgeChange(model: ContainerModel, sent: SentChange, nowMs: number): Verdict {
  const { kind, body, etag, expected } = sent;
  const current = model.find(sent, nowMs);
  if (kind === 'insert' && current) return 'conflict';
  if ((kind === 'put' || kind === 'delete') && expected !== undefined) {
    if (!current) return 'notFound';
    if (current.etag !== expected) return 'preconditionFailed';
  }
  const bumps = bumpsOf(current?.body);
  if (kind === 'delete' || (kind === 'bump' && bumps >= BUMPS_MAX)) {
    if (current) model.forget(current);
    return 'done';
  }
  const written = kind === 'bump' ? { ...body, bumps: bumps + 1 } : body;
  const write = { kind: 'upsert', partition: sent.partition, id: sent.id, body: written } as const;
  if (model.judgeWrite(write, nowMs) === 409) return 'unique';
  model.applyWrite(write, etag, nowMs);
  return 'done';
}

export function sameRefusal(refusal: Refusal, verdict: Verdict): boolean {
  return typeof refusal === 'object' ? verdict === 'unique' : refusal === verdict;
}

function bumpsOf(value: unknown): number {
  return (value as { readonly bumps?: number } | undefined)?.bumps ?? 0;
}
