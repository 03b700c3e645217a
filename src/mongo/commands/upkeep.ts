// Commands that take care of a server. What they ask for is mostly so already: every acknowledged
// write is flushed, and no plans are kept.
import { type Document, documentOf, int32 } from '../../value/bson/value.js';
import type { Call, Reply } from '../call.js';
import { checkFields, collectionOf, integerOf, truthOf } from '../fields.js';
import { notSupported } from './find.js';
import { required } from './indexes.js';

export function fsync(call: Call): Reply {
  checkFields(call, ['lock', 'async', 'fsyncLockAcquisitionTimeoutMillis']);
  if (truthOf(call, 'lock')) throw notSupported('fsync.lock');
  return documentOf({ numFiles: int32(1) });
}

/** Space of removed documents is used again by itself, and never given back. */
export function compact(call: Call): Reply {
  checkFields(call, ['force', 'freeSpaceTargetMB', 'dryRun']);
  required(call, collectionOf(call));
  return documentOf({ bytesFreed: int32(0) });
}

/** Every command is planned anew. */
export function planCacheClear(call: Call): Reply {
  checkFields(call, ['query', 'projection', 'sort', 'collation']);
  required(call, collectionOf(call));
  return documentOf({});
}

/** There is no profiler, so it can be asked about and be switched off, and not on. */
export function profile(call: Call): Reply {
  checkFields(call, ['slowms', 'sampleRate', 'filter']);
  const level = integerOf(call, 'profile') ?? -1;
  if (level > 0) throw notSupported(`profile of level ${level}`);
  return documentOf({ was: int32(0), slowms: int32(100), sampleRate: 1 });
}

interface Listed {
  readonly needs: string;
  readonly onAdmin?: true;
}

export function listCommands(commands: Readonly<Record<string, Listed>>): Reply {
  const all: Document = new Map();
  for (const name of Object.keys(commands).sort()) {
    const { needs, onAdmin = false } = commands[name] as Listed;
    const help = `the command ${name}`;
    const requiresAuth = needs !== 'nothing';
    all.set(
      name,
      documentOf({ help, requiresAuth, secondaryOk: true, adminOnly: onAdmin, apiVersions: [] }),
    );
  }
  return documentOf({ commands: all });
}
