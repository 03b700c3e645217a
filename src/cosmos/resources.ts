// Resources of the catalog as JSON: what clients defined, and the system properties.
import type { Belonging } from '../catalog/belongings.js';
import type { PartitionRange } from '../catalog/ranges.js';
import type { Database, Offer, StoredContainer } from '../catalog/resources.js';
import { ceilingOf } from '../catalog/throughput.js';
import {
  containerRid,
  containerSelf,
  databaseRid,
  databaseSelf,
  encryptionKeyRid,
  offerRid,
  permissionRid,
  rangeRid,
  type ScriptKind,
  scriptRid,
  userRid,
} from './rid.js';

export function databaseResource(database: Database) {
  return {
    id: database.id,
    _rid: databaseRid(database.serial),
    _self: databaseSelf(database),
    _etag: database.etag,
    _colls: 'colls/',
    _users: 'users/',
    _ts: database.writtenSeconds,
  };
}

export function containerResource(container: StoredContainer) {
  return {
    ...container.definition,
    _rid: containerRid(container),
    _ts: container.writtenSeconds,
    _self: containerSelf(container),
    _etag: container.etag,
    _docs: 'docs/',
    _sprocs: 'sprocs/',
    _triggers: 'triggers/',
    _udfs: 'udfs/',
    _conflicts: 'conflicts/',
  };
}

export function userResource(user: Belonging<'user'>) {
  const rid = userRid(user);
  return {
    id: user.id,
    _rid: rid,
    _self: `${databaseSelf({ serial: user.database })}users/${rid}/`,
    _etag: user.etag,
    _permissions: 'permissions/',
    _ts: user.writtenSeconds,
  };
}

export function permissionResource(permission: Belonging<'permission'>, token: string) {
  const { database, owner, id, body } = permission;
  const { permissionMode, resource, resourcePartitionKey } = body;
  const rid = permissionRid(permission);
  const user = userRid({ database, serial: owner });
  return {
    id,
    permissionMode,
    resource,
    ...(resourcePartitionKey === undefined ? {} : { resourcePartitionKey }),
    _rid: rid,
    _self: `${databaseSelf({ serial: database })}users/${user}/permissions/${rid}/`,
    _etag: permission.etag,
    _token: token,
    _ts: permission.writtenSeconds,
  };
}

export function encryptionKeyResource(key: Belonging<'encryptionKey'>) {
  const rid = encryptionKeyRid(key);
  return {
    id: key.id,
    ...key.body,
    _rid: rid,
    _self: `${databaseSelf({ serial: key.database })}clientencryptionkeys/${rid}/`,
    _etag: key.etag,
    _ts: key.writtenSeconds,
  };
}

const SCRIPT_FEEDS: Readonly<Record<ScriptKind, string>> = {
  procedure: 'sprocs',
  trigger: 'triggers',
  function: 'udfs',
};

export function scriptResource(script: Belonging<ScriptKind>) {
  const { database, owner, kind, id, body, etag, writtenSeconds } = script;
  const rid = scriptRid(script);
  return {
    id,
    ...body,
    _rid: rid,
    _self: `${containerSelf({ database, serial: owner })}${SCRIPT_FEEDS[kind]}/${rid}/`,
    _etag: etag,
    _ts: writtenSeconds,
  };
}

/** Autoscale shows where it stands. */
export function offerResource(offer: Offer, perSecond: number, mostStoredBytes: number) {
  const rid = offerRid(offer);
  const { throughput, database, container } = offer;
  const owner = container === undefined ? undefined : { database, serial: container };
  const target = owner ? containerRid(owner) : databaseRid(database);
  const colls = owner ? `colls/${target}/` : '';
  return {
    id: rid,
    _rid: rid,
    _self: `offers/${rid}/`,
    _etag: offer.etag,
    _ts: offer.writtenSeconds,
    resource: `dbs/${databaseRid(database)}/${colls}`,
    offerResourceId: target,
    offerType: 'Invalid',
    offerVersion: 'V2',
    content: {
      offerThroughput: perSecond,
      offerIsRUPerMinuteThroughputEnabled: false,
      offerMinimumThroughputParameters: {
        maxThroughputEverProvisioned: offer.highestEver,
        maxConsumedStorageEverInKB: Math.ceil(mostStoredBytes / 1024),
      },
      ...(throughput.kind === 'manual' ? {} : { offerAutopilotSettings: autopilot(throughput) }),
    },
  };
}

export function rangeResource(container: StoredContainer, range: PartitionRange) {
  const rid = rangeRid(container, range.id);
  return {
    _rid: rid,
    id: String(range.id),
    _etag: container.etag,
    minInclusive: range.from,
    maxExclusive: range.to,
    ridPrefix: range.id,
    _self: `${containerSelf(container)}pkranges/${rid}/`,
    throughputFraction: 1 / container.ranges.length,
    status: 'online',
    parents: range.parents.map(String),
    _ts: container.writtenSeconds,
  };
}

function autopilot(throughput: Extract<Offer['throughput'], { kind: 'autoscale' }>) {
  const { incrementPercent } = throughput;
  return {
    maxThroughput: throughput.maxPerSecond,
    tier: 0,
    maximumTierThroughput: ceilingOf(throughput),
    autoUpgrade: false,
    ...(incrementPercent === undefined
      ? {}
      : { autoUpgradePolicy: { throughputPolicy: { incrementPercent } } }),
  };
}
