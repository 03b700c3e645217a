// All versions read back in the order they happened, and forgotten when their time has come. What a
// reader may see goes by the retention alone, however far the trimming is behind.
import { type Instant, instant } from '../../time/instant.js';
import type { Doc } from '../../value/doc.js';
import {
  BadResume,
  type Budget,
  type ChangeScan,
  type Lsn,
  type Version,
  type Versions,
  VersionsForgotten,
} from '../engine.js';
import { isInScope } from './changes.js';
import type { Place } from './entries.js';
import { type Head, storedLsn } from './head.js';
import {
  lsnOf,
  readSerial,
  type Slot,
  serialValue,
  successor,
  tableRange,
  versionKey,
  versionsFromKey,
} from './keys.js';
import type { Entry, Key, Reader } from './store.js';
import { type Logged, loggedAt, readLogged } from './version-log.js';
import type { WriteSet } from './write-set.js';

/** Versions of items that are elsewhere count too, so that every call ends soon. */
const LOOKED_AT_MAX = 1000;
const ENTRIES_PER_READ = 32;
/** Versions are read to be forgotten, and nobody else has a turn meanwhile. */
const TRIMMED_BYTES_MAX = 1024 * 1024;
/** Of one commit: where it has more, the version before is not looked for among them all. */
const SIBLINGS_MAX = 256;

export function readVersions(
  store: Reader,
  place: Place,
  scan: ChangeScan,
  at: Instant,
  budget: Budget,
): Versions {
  const { head } = place;
  const lsn = storedLsn(store, head.slot);
  if (scan.after === 'now') return { versions: [], upTo: lsn, isEnd: true, lsn };
  if (scan.after > lsn) throw new BadResume();
  if (isForgotten(store, head, scan.after, at)) throw new VersionsForgotten();
  const versions: Version[] = [];
  let passed = scan.after;
  let [bytes, lookedAt] = [0, 0];
  const isFull = () =>
    versions.length >= budget.rowsMax || bytes >= budget.bytesMax || lookedAt >= LOOKED_AT_MAX;
  for (const [key, value] of entries(store, head.slot, passed + 1, lsn + 1)) {
    if (lsnOf(key) !== passed && lookedAt > 0 && isFull()) {
      return { versions, upTo: passed, isEnd: false, lsn };
    }
    passed = lsnOf(key);
    lookedAt += 1;
    const logged = readLogged(value);
    if (!isInScope(logged.key.partition, place, scan)) continue;
    versions.push(versionOf(store, head, key, logged, at));
    bytes += logged.doc.bytes.length;
  }
  return { versions, upTo: lsn, isEnd: true, lsn };
}

/** When the first version may be forgotten. */
export function nextTrim(store: Reader, { head }: Place): Instant | undefined {
  const [first] = store.range(...logRange(head.slot), 1);
  return first && instant(trimmedAt(store, head, first));
}

/** The oldest versions, as far as they may be forgotten. */
export function dueVersions(
  store: Reader,
  { head }: Place,
  at: Instant,
  rowsMax: number,
): readonly Key[] {
  const due: Key[] = [];
  let [from, to] = logRange(head.slot);
  let bytes = 0;
  while (due.length < rowsMax && bytes < TRIMMED_BYTES_MAX) {
    const limit = Math.min(ENTRIES_PER_READ, rowsMax - due.length);
    const found = store.range(from, to, limit);
    for (const entry of found) {
      if (trimmedAt(store, head, entry) > at) return due;
      due.push(entry[0]);
      bytes += entry[1].length;
    }
    const last = found.at(-1);
    if (!last || found.length < limit) return due;
    from = successor(last[0]);
  }
  return due;
}

export function trimVersions(writes: WriteSet, { head }: Place, due: readonly Key[]): void {
  const last = due.at(-1);
  if (!last) return;
  for (const key of due) writes.remove(key);
  const from = writes.get(versionsFromKey(head.slot));
  const trimmed = Math.max(lsnOf(last), from ? readSerial(from) : 0);
  writes.put(versionsFromKey(head.slot), serialValue(trimmed));
}

/** Without a retention nothing is kept, nor is what was logged before a new one began. */
function trimmedAt(store: Reader, { slot, retentionMs }: Head, [key, value]: Entry): number {
  if (retentionMs === undefined) return 0;
  const from = versionsFrom(store, slot);
  if (from === undefined || lsnOf(key) <= from) return 0;
  return loggedAt(value) + retentionMs;
}

function isForgotten(store: Reader, head: Head, after: Lsn, at: Instant): boolean {
  const from = versionsFrom(store, head.slot);
  if (head.retentionMs === undefined || from === undefined || after < from) return true;
  const [next] = store.range(versionKey(head.slot, after + 1, 0), logRange(head.slot)[1], 1);
  return next !== undefined && loggedAt(next[1]) + head.retentionMs <= at;
}

function versionOf(store: Reader, head: Head, key: Key, logged: Logged, at: Instant): Version {
  const isGone = logged.kind === 'delete' || logged.kind === 'expire';
  const before = () => (isGone ? logged.doc : docBefore(store, head, key, logged, at));
  return {
    kind: logged.kind === 'expire' ? 'delete' : logged.kind,
    key: logged.key,
    serial: logged.serial,
    lsn: lsnOf(key),
    at: logged.at,
    doc: isGone ? undefined : logged.doc,
    previous: logged.previous === undefined ? undefined : { lsn: logged.previous, doc: before() },
    expired: logged.kind === 'expire',
  };
}

/** What a replaced version held, if it is still readable itself. */
function docBefore(
  store: Reader,
  { slot, retentionMs = 0 }: Head,
  key: Key,
  { previous = 0, serial }: Logged,
  at: Instant,
): Doc | undefined {
  if (previous <= (versionsFrom(store, slot) ?? previous)) return undefined;
  const end = versionKey(slot, previous + 1, 0);
  const to = Buffer.compare(key, end) < 0 ? key : end;
  const siblings = store.range(versionKey(slot, previous, 0), to, SIBLINGS_MAX);
  const found = siblings
    .map(([, value]) => readLogged(value))
    .findLast((each) => each.serial === serial);
  return found && found.at + retentionMs > at ? found.doc : undefined;
}

function* entries(store: Reader, slot: Slot, first: Lsn, end: Lsn): Generator<Entry> {
  const to = versionKey(slot, end, 0);
  for (let from: Key | undefined = versionKey(slot, first, 0); from; ) {
    const found: readonly Entry[] = store.range(from, to, ENTRIES_PER_READ);
    yield* found;
    const last = found.at(-1);
    from = last && found.length >= ENTRIES_PER_READ ? successor(last[0]) : undefined;
  }
}

function logRange(slot: Slot): readonly [from: Key, to: Key] {
  return [versionKey(slot, 0, 0), tableRange(slot, 'version')[1]];
}

/** Behind which position the log is complete. */
export function versionsFrom(store: Reader, slot: Slot): Lsn | undefined {
  const stored = store.get(versionsFromKey(slot));
  return stored && readSerial(stored);
}
