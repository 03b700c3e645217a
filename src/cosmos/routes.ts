// The route table: every operation of the REST API on one screen.
import type { IncomingHttpHeaders } from 'node:http';
import type { Operation } from '../http/faults.js';
import { failure } from '../value/errors.js';
import type { Address } from './address.js';
import type { BelongingVerbs } from './belonging-verbs.js';
import type { Reply } from './reply.js';
import { type CosmosRequest, flag, header } from './request.js';
import { batchItems } from './verbs/batch-items.js';
import { findConflict, listConflicts, queryConflicts } from './verbs/conflicts.js';
import { createContainer } from './verbs/create-container.js';
import { createDatabase } from './verbs/create-database.js';
import { createItem, upsertItem } from './verbs/create-item.js';
import { deleteContainer } from './verbs/delete-container.js';
import { deleteDatabase } from './verbs/delete-database.js';
import { deleteItem } from './verbs/delete-item.js';
import { deletePartition } from './verbs/delete-partition.js';
import { encryptionKeys } from './verbs/encryption-keys.js';
import { listContainers } from './verbs/list-containers.js';
import { listDatabases } from './verbs/list-databases.js';
import { listItems } from './verbs/list-items.js';
import { listOffers } from './verbs/list-offers.js';
import { listRanges } from './verbs/list-ranges.js';
import { patchItem } from './verbs/patch-item.js';
import { permissions } from './verbs/permissions.js';
import { planQuery } from './verbs/plan-query.js';
import { queryItems } from './verbs/query-items.js';
import { queryContainers, queryDatabases, queryOffers } from './verbs/query-resources.js';
import { readAccount } from './verbs/read-account.js';
import { readContainer } from './verbs/read-container.js';
import { readDatabase } from './verbs/read-database.js';
import { readItem } from './verbs/read-item.js';
import { readOffer } from './verbs/read-offer.js';
import { replaceContainer } from './verbs/replace-container.js';
import { replaceItem } from './verbs/replace-item.js';
import { replaceOffer } from './verbs/replace-offer.js';
import { runProcedure } from './verbs/run-procedure.js';
import { functions, procedures, triggers } from './verbs/scripts.js';
import { users } from './verbs/users.js';

type Handler = (request: CosmosRequest) => Promise<Reply>;
/** A POST to a feed is one of four things; its headers say which. */
export type Verb =
  | 'GET'
  | 'PUT'
  | 'PATCH'
  | 'DELETE'
  | 'POST'
  | 'UPSERT'
  | 'QUERY'
  | 'PLAN'
  | 'BATCH';

export interface Route {
  readonly verb: Verb;
  readonly operation: string;
  /** What a read-only key may do. Permissions are shown with tokens, which may do more. */
  readonly readOnly: boolean;
  /** Whether it spends request units of its container. */
  readonly metered: boolean;
  readonly handle: Handler;
}

const coll = 'dbs/*/colls/*';

// biome-ignore format: a table is read in columns
const table: readonly (readonly [Verb, string, string, Handler])[] = [
  ['GET',    '',                   'ReadAccount',      readAccount],

  ['GET',    'dbs',                'ListDatabases',    listDatabases],
  ['POST',   'dbs',                'CreateDatabase',   createDatabase],
  ['QUERY',  'dbs',                'QueryDatabases',   queryDatabases],
  ['GET',    'dbs/*',              'ReadDatabase',     readDatabase],
  ['DELETE', 'dbs/*',              'DeleteDatabase',   deleteDatabase],

  ['GET',    'dbs/*/colls',        'ListContainers',   listContainers],
  ['POST',   'dbs/*/colls',        'CreateContainer',  createContainer],
  ['QUERY',  'dbs/*/colls',        'QueryContainers',  queryContainers],
  ['GET',    coll,                 'ReadContainer',    readContainer],
  ['PUT',    coll,                 'ReplaceContainer', replaceContainer],
  ['DELETE', coll,                 'DeleteContainer',  deleteContainer],
  ['GET',    `${coll}/pkranges`,   'ListRanges',       listRanges],
  ['GET',    `${coll}/conflicts`,  'ListConflicts',    listConflicts],
  ['QUERY',  `${coll}/conflicts`,  'QueryConflicts',   queryConflicts],
  ['GET',    `${coll}/conflicts/*`, 'ReadConflict',    findConflict],
  ['DELETE', `${coll}/conflicts/*`, 'DeleteConflict',  findConflict],
  ['POST',   `${coll}/operations/partitionkeydelete`, 'DeletePartition', deletePartition],

  ['GET',    `${coll}/docs`,       'ListItems',        listItems],
  ['POST',   `${coll}/docs`,       'CreateItem',       createItem],
  ['UPSERT', `${coll}/docs`,       'UpsertItem',       upsertItem],
  ['QUERY',  `${coll}/docs`,       'QueryItems',       queryItems],
  ['PLAN',   `${coll}/docs`,       'PlanQuery',        planQuery],
  ['BATCH',  `${coll}/docs`,       'BatchItems',       batchItems],
  ['GET',    `${coll}/docs/*`,     'ReadItem',         readItem],
  ['PUT',    `${coll}/docs/*`,     'ReplaceItem',      replaceItem],
  ['PATCH',  `${coll}/docs/*`,     'PatchItem',        patchItem],
  ['DELETE', `${coll}/docs/*`,     'DeleteItem',       deleteItem],

  ['GET',    'offers',             'ListOffers',       listOffers],
  ['QUERY',  'offers',             'QueryOffers',      queryOffers],
  ['GET',    'offers/*',           'ReadOffer',        readOffer],
  ['PUT',    'offers/*',           'ReplaceOffer',     replaceOffer],

  ...belonging(`${coll}/sprocs`,             'Procedure',     procedures),
  ['POST',   `${coll}/sprocs/*`,   'RunProcedure',     runProcedure],
  ...belonging(`${coll}/triggers`,           'Trigger',       triggers),
  ...belonging(`${coll}/udfs`,               'Function',      functions),

  ...belonging('dbs/*/users',                'User',          users),
  ...belonging('dbs/*/users/*/permissions',  'Permission',    permissions),
  ...belonging('dbs/*/clientencryptionkeys', 'EncryptionKey', encryptionKeys)
    .filter(([verb]) => verb !== 'UPSERT' && verb !== 'DELETE'),
];

const VERBS_READING: readonly Verb[] = ['GET', 'QUERY', 'PLAN'];

/** By shape, then by verb. */
const routes = new Map<string, Map<string, Route>>();
for (const [verb, shape, operation, handle] of table) {
  const verbs = routes.get(shape) ?? new Map<string, Route>();
  const metered = isMetered(verb, shape);
  const readOnly = VERBS_READING.includes(verb) && !shape.includes('/permissions');
  verbs.set(verb, { verb, operation, handle, readOnly, metered });
  routes.set(shape, verbs);
}

/** What touches items; definitions and query plans cost a container nothing. */
function isMetered(verb: Verb, shape: string): boolean {
  // A batch sees to it itself.
  if (verb === 'PLAN' || verb === 'BATCH') return false;
  const isRun = verb === 'POST' && shape === `${coll}/sprocs/*`;
  return isRun || shape.startsWith(`${coll}/docs`) || shape.startsWith(`${coll}/operations`);
}

/** What rules for faults can name. */
export const operations: readonly Operation[] = table
  .filter(([, , operation]) => operation !== 'Unsupported')
  .map(([, shape, name]) => {
    const parts = shape.split('/');
    const resource = parts.filter((part) => part !== '*').at(-1) ?? '';
    const names = parts.filter((part) => part === '*').length;
    return { name, resource, names, hasId: parts.at(-1) === '*' };
  });

export function routeOf(method: string, address: Address, headers: IncomingHttpHeaders): Route {
  const verb = method === 'POST' ? postVerb(headers) : method;
  const verbs = routes.get(address.shape);
  const route = verbs?.get(verb);
  if (route) return route;
  const path = `/${address.path}`;
  if (verbs === undefined) throw failure('invalidPath', { path });
  throw failure('methodNotAllowed', { method: verb, path, allowed: [...verbs.keys()].join(', ') });
}

/** The HTTP methods of a kind of address, as the header Allow lists them. */
export function allowedMethods({ shape }: Address): string {
  const methods = [...(routes.get(shape)?.keys() ?? [])].map((verb) =>
    PLAIN_METHODS.includes(verb) ? verb : 'POST',
  );
  return [...new Set(methods)].join(', ');
}

const PLAIN_METHODS: readonly string[] = ['GET', 'PUT', 'PATCH', 'DELETE'];

/** Clients announce queries in three ways; any of them will do. */
function postVerb(headers: IncomingHttpHeaders): Verb {
  if (flag(headers, 'x-ms-cosmos-is-query-plan-request')) return 'PLAN';
  if (flag(headers, 'x-ms-documentdb-isquery') || flag(headers, 'x-ms-documentdb-query'))
    return 'QUERY';
  if (header(headers, 'content-type')?.startsWith('application/query+json')) return 'QUERY';
  if (flag(headers, 'x-ms-cosmos-is-batch-request')) return 'BATCH';
  return flag(headers, 'x-ms-documentdb-is-upsert') ? 'UPSERT' : 'POST';
}

function belonging(
  feed: string,
  name: string,
  verbs: BelongingVerbs,
): readonly (readonly [Verb, string, string, Handler])[] {
  return [
    ['GET', feed, `List${name}s`, verbs.list],
    ['POST', feed, `Create${name}`, verbs.create],
    ['UPSERT', feed, `Upsert${name}`, verbs.upsert],
    ['QUERY', feed, `Query${name}s`, verbs.query],
    ['GET', `${feed}/*`, `Read${name}`, verbs.read],
    ['PUT', `${feed}/*`, `Replace${name}`, verbs.replace],
    ['DELETE', `${feed}/*`, `Delete${name}`, verbs.remove],
  ];
}
