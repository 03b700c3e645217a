// What operators are told about time to live, against the model: status, explanation, preview.
import assert from 'node:assert/strict';
import type { Client } from './client.suite.js';
import { type ContainerModel, dueOf, livesUnder, type Place } from './model.suite.js';
import { explainPath, isoOf, pathOf } from './wire.suite.js';

export interface Operator {
  readonly client: Client;
  readonly box: number;
  readonly model: ContainerModel;
  readonly nowMs: number;
}
interface Seen {
  readonly got: unknown;
  readonly wanted: unknown;
}

export async function seeStatus({ client, box, model, nowMs }: Operator): Promise<Seen> {
  const { status, body } = await client.control('GET', `${pathOf(box)}/ttl`);
  const { expiredBytes, ...got } = body as Record<string, unknown>;
  const expired = model.expired(nowMs);
  assert.equal(Number(expiredBytes) > 0, expired.length > 0);
  const oldest = Math.min(nowMs, ...expired.map((item) => model.dueMs(item) ?? nowMs));
  const wanted = {
    defaultTtl: model.defaultTtl ?? null,
    live: model.live(nowMs).length,
    expired: expired.length,
    oldestLagSeconds: (nowMs - oldest) / 1000,
    nextExpiry: isoOf(model.nextDueMs(nowMs)),
  };
  return { got: { status, ...got }, wanted: { status: 200, ...wanted } };
}

/** T39: also for an item that is dead and not yet purged. */
export async function seeExplanation(operator: Operator, place: Place): Promise<Seen> {
  const { client, box, model, nowMs } = operator;
  const item = model.inspect(place);
  const answer = await client.control('GET', explainPath(box, place));
  if (!item) return { got: { status: answer.status }, wanted: { status: 404 } };
  const { reason, ...got } = answer.body as Record<string, unknown>;
  const isLive = model.isLive(item, nowMs);
  assert.match(String(reason), isLive ? /^It (never )?expires/ : /^It expired at/);
  const wanted = {
    id: item.id,
    // In a JSON array a missing value can only be written as null.
    partitionKey: [item.partition ?? null],
    defaultTtl: model.defaultTtl ?? null,
    ttl: item.body.ttl ?? null,
    _ts: item.seconds,
    due: isoOf(model.dueMs(item)),
    state: isLive ? 'live' : 'expired',
  };
  return { got, wanted };
}

/** T38: what setting this default would do at once. */
export async function seePreview(operator: Operator, defaultTtl: number | null): Promise<Seen> {
  const { client, box, model, nowMs } = operator;
  const path = `${pathOf(box)}/ttl/preview`;
  const { body } = await client.control('POST', path, { defaultTtl });
  const { expireNow, reappearNow, neverExpire } = body as Record<string, unknown>;
  const other = defaultTtl ?? undefined;
  const kept = model.kept();
  const wouldLive = kept.filter((item) => livesUnder(item, other, nowMs));
  const wouldDie = kept.filter((item) => !livesUnder(item, other, nowMs));
  const wanted = {
    expireNow: wouldDie.filter((item) => model.isLive(item, nowMs)).length,
    reappearNow: wouldLive.filter((item) => !model.isLive(item, nowMs)).length,
    neverExpire: kept.filter((item) => dueOf(item, other) === undefined).length,
  };
  return { got: { expireNow, reappearNow, neverExpire }, wanted };
}
