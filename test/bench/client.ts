// Single requests beside the load: setting up, steering, and whatever is timed one by one. An
// answer that is no success is an error.
import { Agent, request } from 'node:http';
import { within } from './child.js';
import { type Call, CONTAINER, DATABASE, HOST, signedHeaders } from './wire.js';

export interface Client {
  /** Signed, unless other headers are given. */
  call(call: Call, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  close(): void;
}
export interface Reply {
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** A purge of all that is due takes longest. */
const CALL_MS_MAX = 300_000;

export function openClient(port: number): Client {
  const agent = new Agent({ keepAlive: true, noDelay: true });
  return {
    call: (call, headers = signedHeaders(call, new Date().toUTCString())) =>
      within(CALL_MS_MAX, send(agent, port, call, headers), `${call.verb} ${call.path}`),
    close: () => agent.destroy(),
  };
}

export interface ContainerPlan {
  readonly defaultTtl?: number;
  /** Whether all paths are indexed, which is the default of the service, or none. */
  readonly indexed: boolean;
  /** Another policy than these two. */
  readonly policy?: object;
}

/** The database and the container that all loads work in. */
export async function createContainer(client: Client, plan: ContainerPlan): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ id: DATABASE });
  await client.call({ verb: 'POST', path: '/dbs', type: 'dbs', link: '', headers, body });
  const link = `dbs/${DATABASE}`;
  const call = { verb: 'POST', path: `/${link}/colls`, type: 'colls', link, headers };
  await client.call({ ...call, body: JSON.stringify(containerBody(plan)) });
}

export function containerBody({ defaultTtl, indexed, policy }: ContainerPlan): object {
  const wanted = policy ?? (indexed ? undefined : { excludedPaths: [{ path: '/*' }] });
  return {
    id: CONTAINER,
    partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
    ...(wanted === undefined ? {} : { indexingPolicy: wanted }),
    ...(defaultTtl === undefined ? {} : { defaultTtl }),
  };
}

function send(
  agent: Agent,
  port: number,
  { verb, path, body }: Call,
  headers: Readonly<Record<string, string>>,
): Promise<Reply> {
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const sent = { host: HOST, port, agent, method: verb, path, headers: { ...headers, ...length } };
  return new Promise((resolve, reject) => {
    const outgoing = request(sent, (incoming) => {
      const pieces: Buffer[] = [];
      incoming.on('data', (piece: Buffer) => pieces.push(piece));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const text = Buffer.concat(pieces).toString();
        const { statusCode = 0, rawHeaders } = incoming;
        if (statusCode >= 200 && statusCode <= 299) resolve({ rawHeaders, body: text });
        else reject(new Error(`${verb} ${path} was answered with ${statusCode}: ${text}`));
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
