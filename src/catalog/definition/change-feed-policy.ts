// The change feed policy: how long all versions and deletes stay readable.
import { asObject, field, invalid, isInteger, refuseUnknown } from './fields.js';

export interface ChangeFeedPolicy {
  /** Minutes; 0 keeps no history. */
  readonly retentionDuration: number;
}

const MINUTES_MAX = 2_147_483_647;

export function readChangeFeedPolicy(value: unknown): ChangeFeedPolicy | undefined {
  if (value === undefined) return undefined;
  const fields = asObject(value, 'changeFeedPolicy');
  const retentionDuration = field(fields, 'retentionDuration') ?? 0;
  refuseUnknown(fields, 'changeFeedPolicy', ['retentionDuration']);
  if (isInteger(retentionDuration, 0, MINUTES_MAX)) return { retentionDuration };
  throw invalid(
    'changeFeedPolicy.retentionDuration',
    retentionDuration,
    `it must be whole minutes from 0 to ${MINUTES_MAX}.`,
  );
}
