// All commands on one screen: their names, what they need, and the functions that run them.
import type { Action } from '../auth/roles.js';
import type { Call, Reply } from '../call.js';
import { logout, saslContinue, saslStart } from './authenticate.js';
import {
  collMod,
  create,
  drop,
  dropDatabase,
  listCollections,
  listDatabases,
  renameCollection,
} from './collections.js';
import { find, getMore, killCursors } from './find.js';
import { hello } from './hello.js';
import { createIndexes, dropIndexes, listIndexes } from './indexes.js';
import { insert } from './insert.js';
import { buildInfo, connectionStatus, ping, whatsmyuri } from './server-info.js';
import { endSessions, killAllSessions, refreshSessions, startSession } from './sessions.js';

export interface Command {
  readonly needs: Action;
  /** Only where the database is `admin`. */
  readonly onAdmin?: true;
  run(call: Call): Reply | Promise<Reply>;
}

// biome-ignore format: a table is read in columns
export const commands: Readonly<Record<string, Command>> = {
  // handshake and login
  hello:            { needs: 'nothing', run: hello },
  isMaster:         { needs: 'nothing', run: hello },
  ismaster:         { needs: 'nothing', run: hello },
  saslStart:        { needs: 'nothing', run: saslStart },
  saslContinue:     { needs: 'nothing', run: saslContinue },
  logout:           { needs: 'nothing', run: logout },
  ping:             { needs: 'nothing', run: ping },
  buildInfo:        { needs: 'nothing', run: buildInfo },
  buildinfo:        { needs: 'nothing', run: buildInfo },
  whatsmyuri:       { needs: 'nothing', run: whatsmyuri },
  connectionStatus: { needs: 'nothing', run: connectionStatus },
  // sessions
  startSession:     { needs: 'login',   run: startSession },
  refreshSessions:  { needs: 'login',   run: refreshSessions },
  endSessions:      { needs: 'nothing', run: endSessions },
  killSessions:     { needs: 'login',   run: endSessions },
  killAllSessions:  { needs: 'manage',  run: killAllSessions },
  killAllSessionsByPattern: { needs: 'manage', run: killAllSessions },
  // documents
  insert:           { needs: 'write',   run: insert },
  find:             { needs: 'read',    run: find },
  getMore:          { needs: 'login',   run: getMore },
  killCursors:      { needs: 'login',   run: killCursors },
  // collections and indexes
  create:           { needs: 'schema',  run: create },
  drop:             { needs: 'schema',  run: drop },
  dropDatabase:     { needs: 'schema',  run: dropDatabase },
  renameCollection: { needs: 'schema',  onAdmin: true, run: renameCollection },
  collMod:          { needs: 'schema',  run: collMod },
  listCollections:  { needs: 'read',    run: listCollections },
  listDatabases:    { needs: 'login',   onAdmin: true, run: listDatabases },
  createIndexes:    { needs: 'schema',  run: createIndexes },
  listIndexes:      { needs: 'read',    run: listIndexes },
  dropIndexes:      { needs: 'schema',  run: dropIndexes },
};
