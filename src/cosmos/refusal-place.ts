// What a refusal tells of the place it comes from. The session token: clients keep it, so that a
// later read is not older than the one that told them an item is missing, or another than they
// thought. And what a script had printed.
import { MayflyError } from '../value/errors.js';
import { namePath, ownerContainer, rangeOf } from './find.js';
import { fullPartitionKey } from './partition-header.js';
import { placeHeaders } from './reply.js';
import type { CosmosRequest } from './request.js';
import { failedLogHeaders } from './script-log.js';

export function refusalPlace(request: CosmosRequest, error: unknown): readonly string[] {
  if (!(error instanceof MayflyError)) return [];
  if (error.lsn === undefined) return failedLogHeaders(request, error);
  try {
    const container = ownerContainer(request);
    const partition = fullPartitionKey(request.headers, container);
    const range = rangeOf(container, partition);
    return placeHeaders(container, namePath(request, container), range, error.lsn);
  } catch (gone) {
    // Deleted since it was looked at: then there is no place any more.
    if (gone instanceof MayflyError) return [];
    throw gone;
  }
}
