// /dbs/{db}/colls/{coll}/sprocs, triggers and udfs: what they have in common with everything else
// that belongs to something. A body that is no function is refused at once.
import type { ScriptBody } from '../../catalog/definition/script-definition.js';
import { readScript, readTrigger } from '../../catalog/definition/script-definition.js';
import { belongingVerbs, type Owner } from '../belonging-verbs.js';
import { ownerContainer } from '../find.js';
import { checkName } from '../names.js';
import type { CosmosRequest } from '../request.js';
import { scriptResource } from '../resources.js';
import { containerRid } from '../rid.js';

export const procedures = belongingVerbs({
  kind: 'procedure',
  envelope: 'StoredProcedures',
  isRenamed: false,
  owner: containerOwner,
  read: (request, value) => compiled(request, value, readScript(value)),
  resource: () => scriptResource,
});

export const triggers = belongingVerbs({
  kind: 'trigger',
  envelope: 'Triggers',
  isRenamed: false,
  owner: containerOwner,
  read: (request, value) => compiled(request, value, readTrigger(value)),
  resource: () => scriptResource,
});

export const functions = belongingVerbs({
  kind: 'function',
  envelope: 'UserDefinedFunctions',
  isRenamed: false,
  owner: containerOwner,
  read: (request, value) => compiled(request, value, readScript(value)),
  resource: () => scriptResource,
});

function containerOwner(request: CosmosRequest): Owner {
  const container = ownerContainer(request);
  const { database, serial } = container;
  return { database, serial, rid: containerRid(container) };
}

async function compiled<B extends ScriptBody>(
  { scripts }: CosmosRequest,
  value: Readonly<Record<string, unknown>>,
  script: B,
): Promise<B> {
  await scripts.check(checkName(value), script.body);
  return script;
}
