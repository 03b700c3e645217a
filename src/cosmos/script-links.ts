// The links by which scripts name their collection and its documents: with names or with resource
// ids, both as paths.
import type { Database, StoredContainer } from '../catalog/resources.js';
import type { SerialNames } from '../documents/transaction.js';
import type { ItemKey, Serial } from '../engine/engine.js';
import { failure } from '../value/errors.js';
import type { PartitionKey } from '../value/partition-key.js';
import { containerRid, containerSelf, databaseRid, itemRid, parseRid } from './rid.js';

export interface ScriptPlace {
  readonly database: Database;
  readonly container: StoredContainer;
  readonly partition: PartitionKey;
}

export function linksOf({ database, container }: ScriptPlace) {
  return {
    selfLink: containerSelf(container),
    altLink: `dbs/${database.id}/colls/${container.definition.id}`,
  };
}

/** Scripts work in the collection they belong to, and in no other. */
export function checkCollection(link: string, place: ScriptPlace): void {
  if (inCollection(segmentsOf(link), place)) return;
  const why = `The link '${link}' is not that of the collection which the script belongs to.`;
  throw failure('invalidInput', { why });
}

export function documentOf(link: string, place: ScriptPlace): ItemKey | Serial {
  const segments = segmentsOf(link);
  const [, , , , docs, name = ''] = segments;
  if (segments.length !== 6 || docs !== 'docs' || !inCollection(segments, place)) {
    const why = `The link '${link}' is not that of a document in the script's collection.`;
    throw failure('invalidInput', { why });
  }
  const { container, partition } = place;
  const parts = segments[3] === containerRid(container) ? parseRid(name) : undefined;
  const isInside = parts?.database === container.database && parts.container === container.serial;
  return isInside && parts.item !== undefined ? parts.item : { partition, id: name };
}

/** How items of a container are named in texts: by resource ids that all begin with its own. */
export function serialNames(container: StoredContainer): SerialNames {
  const start = containerRid(container).slice(0, 10).replaceAll('+', '\\+');
  const pattern = new RegExp(`${start}[A-Za-z0-9+-]{12}==`, 'g');
  return {
    find: (text) => (text.match(pattern) ?? []).flatMap((rid) => parseRid(rid)?.item ?? []),
    replace: (text, now) =>
      text.replace(pattern, (rid) => {
        const serial = now(parseRid(rid)?.item ?? 0);
        return serial === undefined ? rid : itemRid(container, serial);
      }),
  };
}

/** A text with the resource ids that new items got, instead of those while the script ran. */
export function renumbered(
  text: string,
  container: StoredContainer,
  serials: ReadonlyMap<Serial, Serial>,
): string {
  return serials.size === 0
    ? text
    : serialNames(container).replace(text, (named) => serials.get(named));
}

const segmentsOf = (link: string): readonly string[] => link.replace(/^\/+|\/+$/g, '').split('/');

function inCollection(segments: readonly string[], { database, container }: ScriptPlace): boolean {
  const [dbs, first, colls, second] = segments;
  if (dbs !== 'dbs' || colls !== 'colls') return false;
  if (first === database.id && second === container.definition.id) return true;
  return first === databaseRid(database.serial) && second === containerRid(container);
}
