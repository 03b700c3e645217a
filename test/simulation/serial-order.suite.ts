// Requests that were sent at once must have had some order: this looks for one that explains every
// answer and what was left behind.
import type { ContainerModel, Place } from './model.suite.js';
import type { DeleteStep, ReadStep, WriteStep } from './steps.suite.js';

export interface Part {
  readonly part: WriteStep | DeleteStep | ReadStep;
  /** The etag that its condition named. */
  readonly etag: string | undefined;
  readonly status: number;
  /** The etag in its answer. */
  readonly given: string | undefined;
}

/** The model after a fitting order, or undefined when there is none. */
export function serialOrder(
  model: ContainerModel,
  parts: readonly Part[],
  place: Place,
  nowMs: number,
  lastEtag: string | undefined,
): ContainerModel | undefined {
  if (parts.length === 0) {
    return model.find(place, nowMs)?.etag === lastEtag ? model : undefined;
  }
  for (const part of parts) {
    const next = after(model, part, nowMs);
    const rest = parts.filter((each) => each !== part);
    const found = next && serialOrder(next, rest, place, nowMs, lastEtag);
    if (found) return found;
  }
  return undefined;
}

/** The model after this part, if the part could come first. */
function after(model: ContainerModel, sent: Part, nowMs: number): ContainerModel | undefined {
  const { part, etag, status, given } = sent;
  if (part.do === 'read') {
    const item = model.find(part, nowMs);
    const wanted = !item ? 404 : item.etag === etag ? 304 : 200;
    return status === wanted && given === item?.etag ? model : undefined;
  }
  if (part.do === 'delete') {
    const removal = { ...part, ifMatch: etag };
    if (model.judgeRemoval(removal, nowMs) !== status) return undefined;
    if (status !== 204) return model;
    const next = model.copy();
    next.forget(part);
    return next;
  }
  const write = { ...part, ifMatch: etag };
  if (model.judgeWrite(write, nowMs) !== status) return undefined;
  if (status >= 300) return model;
  const next = model.copy();
  next.applyWrite(write, given ?? '', nowMs);
  return next;
}
