// All commands on one screen: their names, what they need, and the functions that run them.
import type { Action } from '../auth/roles.js';
import type { Call, Reply } from '../call.js';
import { aggregate } from './aggregate.js';
import { logout, saslContinue, saslStart } from './authenticate.js';
import { bulkWrite } from './bulk-write.js';
import {
  collMod,
  create,
  drop,
  dropDatabase,
  listCollections,
  listDatabases,
  renameCollection,
} from './collections.js';
import { customAction, shardCollection } from './custom-action.js';
import { deleteDocuments } from './delete.js';
import {
  collStats,
  currentOp,
  dataSize,
  dbStats,
  getCmdLineOpts,
  getDefaultRWConcern,
  getLog,
  getParameter,
  hostInfo,
  killOp,
  replSetGetStatus,
  serverStatus,
  top,
  validate,
} from './diagnostics.js';
import { explain } from './explain.js';
import { configureFailPoint } from './fail-point.js';
import { getMore, killCursors } from './find.js';
import { findAndModify } from './find-and-modify.js';
import { hello } from './hello.js';
import { createIndexes, dropIndexes, listIndexes } from './indexes.js';
import { insert } from './insert.js';
import { count, distinct, find } from './on-view.js';
import {
  buildInfo,
  connectionStatus,
  getLastRequestStatistics,
  ping,
  whatsmyuri,
} from './server-info.js';
import {
  abortTransaction,
  commitTransaction,
  endSessions,
  killAllSessions,
  refreshSessions,
  startSession,
} from './sessions.js';
import { update } from './update.js';
import { compact, fsync, listCommands, planCacheClear, profile } from './upkeep.js';
import {
  createUser,
  dropAllUsers,
  dropUser,
  grantRoles,
  revokeRoles,
  rolesInfo,
  updateUser,
  usersInfo,
} from './users.js';

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
  commitTransaction: { needs: 'login',  onAdmin: true, run: commitTransaction },
  abortTransaction: { needs: 'login',   onAdmin: true, run: abortTransaction },
  // documents
  insert:           { needs: 'write',   run: insert },
  bulkWrite:        { needs: 'login',   onAdmin: true, run: bulkWrite },
  update:           { needs: 'write',   run: update },
  delete:           { needs: 'write',   run: deleteDocuments },
  findAndModify:    { needs: 'write',   run: findAndModify },
  findandmodify:    { needs: 'write',   run: findAndModify },
  aggregate:        { needs: 'read',    run: aggregate },
  count:            { needs: 'read',    run: count },
  explain:          { needs: 'read',    run: explain },
  distinct:         { needs: 'read',    run: distinct },
  find:             { needs: 'read',    run: find },
  getMore:          { needs: 'login',   run: getMore },
  killCursors:      { needs: 'login',   run: killCursors },
  // collections and indexes
  create:           { needs: 'schema',  run: create },
  drop:             { needs: 'schema',  run: drop },
  dropDatabase:     { needs: 'administer', run: dropDatabase },
  renameCollection: { needs: 'login',   onAdmin: true, run: renameCollection },
  collMod:          { needs: 'administer', run: collMod },
  listCollections:  { needs: 'login',   run: listCollections },
  listDatabases:    { needs: 'login',   onAdmin: true, run: listDatabases },
  createIndexes:    { needs: 'schema',  run: createIndexes },
  listIndexes:      { needs: 'look',    run: listIndexes },
  dropIndexes:      { needs: 'schema',  run: dropIndexes },
  deleteIndexes:    { needs: 'schema',  run: dropIndexes },
  validate:         { needs: 'administer', run: validate },
  // users
  createUser:       { needs: 'users',   run: createUser },
  updateUser:       { needs: 'users',   run: updateUser },
  dropUser:         { needs: 'users',   run: dropUser },
  dropAllUsersFromDatabase: { needs: 'users', run: dropAllUsers },
  grantRolesToUser: { needs: 'users',   run: grantRoles },
  revokeRolesFromUser: { needs: 'users', run: revokeRoles },
  usersInfo:        { needs: 'login',   run: usersInfo },
  rolesInfo:        { needs: 'users',   run: rolesInfo },
  // of the service
  customAction:     { needs: 'schema',  run: customAction },
  shardCollection:  { needs: 'schema',  onAdmin: true, run: shardCollection },
  getLastRequestStatistics: { needs: 'login', run: getLastRequestStatistics },
  // how the server is doing
  hostInfo:         { needs: 'login',   run: hostInfo },
  getCmdLineOpts:   { needs: 'monitor', onAdmin: true, run: getCmdLineOpts },
  getLog:           { needs: 'login',   onAdmin: true, run: getLog },
  getParameter:     { needs: 'login',   onAdmin: true, run: getParameter },
  serverStatus:     { needs: 'login',   run: serverStatus },
  dbStats:          { needs: 'look',    run: dbStats },
  dbstats:          { needs: 'look',    run: dbStats },
  collStats:        { needs: 'look',    run: collStats },
  collstats:        { needs: 'look',    run: collStats },
  dataSize:         { needs: 'read',    run: dataSize },
  currentOp:        { needs: 'monitor', onAdmin: true, run: currentOp },
  killOp:           { needs: 'manage',  onAdmin: true, run: killOp },
  top:              { needs: 'monitor', onAdmin: true, run: top },
  profile:          { needs: 'monitor', run: profile },
  listCommands:     { needs: 'nothing', run: () => listCommands(commands) },
  fsync:            { needs: 'manage',  onAdmin: true, run: fsync },
  compact:          { needs: 'administer', run: compact },
  planCacheClear:   { needs: 'administer', run: planCacheClear },
  getDefaultRWConcern: { needs: 'login', onAdmin: true, run: getDefaultRWConcern },
  configureFailPoint: { needs: 'manage', onAdmin: true, run: configureFailPoint },
  replSetGetStatus: { needs: 'login',   onAdmin: true, run: replSetGetStatus },
};
