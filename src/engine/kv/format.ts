// The version of the key space. A store of another version is refused, never converted by accident.
//
// Version 4 has a journal in front, with writes that a server of version 3 would not find. A store
// of version 3 is one without a journal: it gets the new mark, before anything else is written.
import { formatKey, journalKey } from './keys.js';
import type { Store } from './store.js';

/** Raise it with every change of keys.ts or record.ts that an older server would misread. */
export const FORMAT_VERSION = 4;
const WITHOUT_JOURNAL = 3;
const MAGIC = 'mayfly';

export async function checkFormat(store: Store): Promise<void> {
  const stored = store.get(formatKey());
  if (stored === undefined) {
    const found = store.keys(Buffer.of(0), Buffer.of(0xff), 2);
    if (found.some((key) => !key.equals(journalKey()))) {
      throw new Error(
        'The store holds data but no Mayfly format mark; it was made by something else.',
      );
    }
    await setMark(store);
    return;
  }
  const text = Buffer.from(stored).toString('latin1');
  const [magic, version] = text.split(' ');
  if (magic !== MAGIC)
    throw new Error('The store has a damaged format mark; restore it from a backup.');
  if (version === String(WITHOUT_JOURNAL)) {
    await setMark(store);
    return;
  }
  if (version !== String(FORMAT_VERSION)) {
    throw new Error(
      `The store has format ${version}; this Mayfly reads format ${FORMAT_VERSION}. ` +
        'Use the version of Mayfly that wrote it, or another folder with --data.',
    );
  }
}

async function setMark(store: Store): Promise<void> {
  await store.write([[formatKey(), Buffer.from(`${MAGIC} ${FORMAT_VERSION}`)]]);
  await store.settle();
}
