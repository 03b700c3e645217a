// What a change decides on the item as it is at that moment. Pure, and the same for every engine.
import type { Change, Decision, Draft, Etag, Item, Serial } from './engine.js';

export function idOf(change: Change): string {
  return change.kind === 'insert' || change.kind === 'put' ? change.item.id : change.id;
}

export function decide(change: Change, current: Item | undefined, serial: Serial): Decision {
  switch (change.kind) {
    case 'insert':
      return current ? { refuse: 'conflict' } : { put: change.item };
    case 'put':
      return guarded(current, change.ifEtag) ?? { put: change.item };
    case 'delete':
      return guarded(current, change.ifEtag) ?? (current ? { delete: true } : { keep: true });
    case 'update':
      return checked(change.decide(current, serial), change.id);
  }
}

/** With an expected etag the item must be there and have it; without one anything goes. */
function guarded(current: Item | undefined, ifEtag: Etag | undefined): Decision | undefined {
  if (ifEtag === undefined) return undefined;
  if (!current) return { refuse: 'notFound' };
  return current.etag === ifEtag ? undefined : { refuse: 'preconditionFailed' };
}

function checked(decision: Decision, id: string): Decision {
  const draft: Draft | undefined = 'put' in decision ? decision.put : undefined;
  if (draft && draft.id !== id) throw new Error(`decided to put '${draft.id}' in place of '${id}'`);
  return decision;
}
