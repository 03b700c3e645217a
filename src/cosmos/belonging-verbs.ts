// The verbs of what belongs to a database, a container or a user. They differ in what a body may
// hold and how it is shown, which each kind tells in verbs/.
import type { Belonging, BelongingBodies, BelongingKind, Draft } from '../catalog/belongings.js';
import type { Serial } from '../engine/engine.js';
import { DEFINITION_READ_CHARGE, DEFINITION_WRITE_CHARGE } from '../throughput/charges.js';
import { failure } from '../value/errors.js';
import { parseObject } from '../value/json.js';
import { conditionsOf, isCurrent } from './conditions.js';
import { catalogFeed } from './feed.js';
import { isRidAddressed } from './find.js';
import { checkName } from './names.js';
import { emptyReply, type Reply, resourceReply } from './reply.js';
import type { CosmosRequest } from './request.js';
import { parseBelongingRid } from './rid.js';
import { queryResources } from './verbs/query-resources.js';

/** What the resources of a feed belong to. */
export interface Owner {
  readonly database: Serial;
  readonly serial: Serial;
  readonly rid: string;
}

export interface BelongingFace<K extends BelongingKind> {
  readonly kind: K;
  readonly envelope: string;
  readonly owner: (request: CosmosRequest) => Owner;
  readonly isRenamed: boolean;
  readonly read: (
    request: CosmosRequest,
    body: Readonly<Record<string, unknown>>,
  ) => BelongingBodies[K] | Promise<BelongingBodies[K]>;
  readonly clashes?: (body: BelongingBodies[K], other: Belonging<K>) => boolean;
  readonly resource: (
    request: CosmosRequest,
  ) => (belonging: Belonging<K>) => { readonly _etag: string };
}

type Verb = (request: CosmosRequest) => Promise<Reply>;
export type BelongingVerbs = Readonly<
  Record<'list' | 'query' | 'create' | 'upsert' | 'read' | 'replace' | 'remove', Verb>
>;

export function belongingVerbs<K extends BelongingKind>(face: BelongingFace<K>): BelongingVerbs {
  const { kind, envelope } = face;
  const all = (request: CosmosRequest, owner: Owner) =>
    request.catalog.belongings.of(kind, owner.serial);
  return {
    list: async (request) => {
      const owner = face.owner(request);
      const resource = face.resource(request);
      return catalogFeed(request, envelope, owner.rid, all(request, owner), resource);
    },
    query: async (request) => {
      const owner = face.owner(request);
      const resources = all(request, owner).map(face.resource(request));
      return queryResources(request, envelope, owner.rid, resources);
    },
    create: async (request) => {
      const draft = await draftOf(face, request);
      const created = await request.catalog.belongings.create(draft, request.at);
      return written(face, request, created, 201);
    },
    upsert: async (request) => {
      const draft = await draftOf(face, request);
      const { ifMatch } = conditionsOf(request.headers);
      const outcome = await request.catalog.belongings.upsert(draft, ifMatch, request.at);
      return written(face, request, outcome.written, outcome.created ? 201 : 200);
    },
    read: async (request) => {
      const found = find(face, request);
      if (isCurrent(request.headers, found.etag, () => found.writtenSeconds)) {
        return emptyReply(304, DEFINITION_READ_CHARGE, ['etag', found.etag]);
      }
      return resourceReply(200, DEFINITION_READ_CHARGE, face.resource(request)(found));
    },
    replace: async (request) => {
      const found = find(face, request);
      const draft = await draftOf(face, request);
      if (draft.id !== found.id && !face.isRenamed) {
        throw failure('idChanged', { body: draft.id, address: found.id });
      }
      const { ifMatch } = conditionsOf(request.headers);
      const { belongings } = request.catalog;
      const replaced = await belongings.replace(found, draft, ifMatch, request.at);
      return written(face, request, replaced, 200);
    },
    remove: async (request) => {
      const { ifMatch } = conditionsOf(request.headers);
      await request.catalog.belongings.remove(find(face, request), ifMatch, request.at);
      return emptyReply(204, DEFINITION_WRITE_CHARGE);
    },
  };
}

/** The addressed one: by its name or, in a path of resource ids, by its number. */
export function findBelonging<K extends BelongingKind>(
  { catalog, address }: CosmosRequest,
  kind: K,
  owner: Serial,
  name: string,
): Belonging<K> | undefined {
  if (!isRidAddressed(catalog, address)) return catalog.belongings.find(kind, owner, name);
  const serial = parseBelongingRid(name);
  if (serial === undefined) throw failure('invalidRid', { value: name });
  const found = catalog.belongings.numbered(kind, serial);
  return found?.owner === owner ? found : undefined;
}

function find<K extends BelongingKind>(
  face: BelongingFace<K>,
  request: CosmosRequest,
): Belonging<K> {
  const owner = face.owner(request);
  const name = request.address.names.at(-1) ?? '';
  const found = findBelonging(request, face.kind, owner.serial, name);
  if (!found) throw failure('notFound');
  return found;
}

async function draftOf<K extends BelongingKind>(
  face: BelongingFace<K>,
  request: CosmosRequest,
): Promise<Draft<K>> {
  face.owner(request);
  const { value } = parseObject(await request.body(), new Set());
  const id = checkName(value);
  // Looked up anew, because the owner may have gone while a slow body came in.
  const { database, serial: owner } = face.owner(request);
  const body = await face.read(request, value);
  const { clashes } = face;
  return {
    kind: face.kind,
    database,
    owner,
    id,
    body,
    ...(clashes ? { clashes: (other: Belonging<K>) => clashes(body, other) } : {}),
  };
}

function written<K extends BelongingKind>(
  face: BelongingFace<K>,
  request: CosmosRequest,
  belonging: Belonging<K>,
  status: 200 | 201,
): Reply {
  return resourceReply(status, DEFINITION_WRITE_CHARGE, face.resource(request)(belonging));
}
