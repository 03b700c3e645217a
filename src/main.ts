// The composition root: the only file that names a concrete engine, clock and port. `mayfly start`
// runs it, and tests import it: `import { start } from 'mayfly'`.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { ADMIN_PREFIX, adminHandler } from './admin/server.js';
import { Catalog } from './catalog/catalog.js';
import { follow, type Sharing } from './catalog/sharing.js';
import { operations } from './cosmos/routes.js';
import { cosmosHandler } from './cosmos/server.js';
import type { Documents } from './documents/documents.js';
import type { Engine } from './engine/engine.js';
import { openKvEngine } from './engine/kv/kv-engine.js';
import { openLmdb } from './engine/kv/lmdb.js';
import { lockFolder } from './engine/kv/lock.js';
import { MemoryStore } from './engine/kv/memory.js';
import { openPostgres } from './engine/postgres/postgres-engine.js';
import { entraOf } from './entra-rules.js';
import { keepCertificate } from './http/certificate-files.js';
import { type Exchange, nodeExchange } from './http/exchange.js';
import { Faults } from './http/faults.js';
import { isWellFormedKey, type Keys, WELL_KNOWN_KEY } from './http/keys.js';
import { type Listening, type ListenOptions, listen } from './http/listen.js';
import { Metrics } from './http/metrics.js';
import { ACCOUNT_NAMES } from './mongo/auth/users.js';
import { type MongoOptions, serveMongo } from './mongo/face.js';
import { operations as mongoOperations } from './mongo/struck.js';
import { isLoopback, type StartOptions, withDefaults } from './options.js';
import { Scripts } from './script/scripts.js';
import { Budgets } from './throughput/budgets.js';
import { type Clock, every, rest, systemClock, VirtualClock } from './time/clock.js';
import { type Entropy, systemEntropy } from './time/entropy.js';
import { Purger } from './time/purger.js';
import { VERSION } from './version.js';

export type { StartOptions };
export { VirtualClock, WELL_KNOWN_KEY };

/** A running server. */
export interface Mayfly {
  /** `http://host:port/`, the account endpoint. */
  readonly cosmos: string;
  readonly port: number;
  readonly key: string;
  readonly connectionString: string;
  /** `mongodb://…` with user and password, unless that port is off. */
  readonly mongo: string | undefined;
  /** With `clock: 'virtual'` this is a `VirtualClock`: freeze, set, advance. */
  readonly clock: Clock;
  /** Purges until nothing is due. */
  purge(): Promise<number>;
  /** Lets requests in flight finish, then closes the store. */
  close(): Promise<void>;
}

const DRAIN_MS = 10_000;
const LOCK_REFRESH_MS = 10_000;
const MEMORY = ':memory:';

export async function start(given: StartOptions = {}): Promise<Mayfly> {
  const options = withDefaults(given);
  const keys = keysOf(options);
  const shift = { ms: 0 };
  const clock = clockOf(options, shift);
  const entropy = systemEntropy();
  const log = options.log ?? (() => undefined);
  const entra = entraOf(options.entra, options.host, clock, log);
  const load = { active: 0, begun: 0 };
  const budgets = new Budgets(options.throughput, clock);
  const purgeFailed = (error: unknown) => log('error', 'purge-failed', { error });
  const purger = new Purger(clock, load, purgeFailed, budgets);
  const closing: (() => Promise<void> | void)[] = [];
  try {
    const around = { clock, entropy, shift, load };
    const { engine, ...over } = await openEngine(options, around, log, closing);
    closing.push(() => purger.close());
    const documentTtl = options.mongoDocumentTtl;
    const parts = { engine, entropy, purger, documentTtl, ...over };
    const catalog = await openCatalog(parts, clock, log, closing);
    budgets.follow(catalog, () => 1 + (over.sharing?.others ?? 0));
    const countsUnpurged = options.countIncludesUnpurged ?? false;
    const documents: Documents = { engine, entropy, purger, countsUnpurged };
    const shared = {
      clock,
      catalog,
      documents,
      budgets,
      faults: new Faults([...operations, ...mongoOperations]),
      purger,
      keys,
      metrics: new Metrics(),
      version: VERSION,
    };
    const certificate = certificateOf(options, clock, entropy, log);
    const cosmos = cosmosHandler({
      ...shared,
      entra,
      scripts: openScripts(options.scriptTimeMs, closing),
      corsOrigins: options.corsOrigins,
      report: (error, activityId) => log('error', 'defect', { error, activityId }),
    });
    const admin = adminHandler({
      ...shared,
      allowedHosts: [options.host, ...options.allowedHosts],
      certificate: () => (options.tls === 'off' ? undefined : certificate().cert),
      report: (error) => log('error', 'defect', { error }),
    });
    const listening = await listen({
      host: options.host,
      port: options.port,
      tls: options.tls,
      secureContext: certificate,
      ...dispatchers(cosmos, admin, load, clock),
    });
    closing.push(() => listening.drain(rest(DRAIN_MS)));
    const mongo = await openMongo(options, {
      ...shared,
      entropy,
      secureContext: certificate,
      busy: () => begin(load),
      report: (error, command) => log('error', 'defect', { error, command }),
    });
    if (mongo) closing.push(() => mongo.drain(rest(DRAIN_MS)));
    return running(options, keys, listening, { clock, purger, closing, mongoPort: mongo?.port });
  } catch (error) {
    await closeAll(closing);
    throw error;
  }
}

/** Its threads start with the first script. */
function openScripts(timeMs: number, closing: (() => Promise<void> | void)[]): Scripts {
  const scripts = new Scripts(timeMs);
  closing.push(() => scripts.close());
  return scripts;
}

async function openMongo(
  options: ReturnType<typeof withDefaults>,
  parts: Omit<MongoOptions, 'host' | 'port' | 'tls' | 'data' | 'personality' | 'testCommands'>,
): Promise<
  { readonly port: number; drain(deadline: Promise<unknown>): Promise<void> } | undefined
> {
  const { mongoPort, host, tls, data, mongoTopology, mongoTestCommands: testCommands } = options;
  if (mongoPort === 'off') return undefined;
  const place = { host, tls, data, port: mongoPort };
  return serveMongo({ ...parts, ...place, personality: mongoTopology, testCommands });
}

function begin(load: { active: number; begun: number }): () => void {
  load.active += 1;
  load.begun += 1;
  return () => {
    load.active -= 1;
  };
}

/** The official emulator serves its certificate here, and scripts that know that keep working. */
const EMULATOR_CERTIFICATE = '/_explorer/emulator.pem';
/** What is not for the REST API begins with this. */
const OWN = '/_';

function dispatchers(
  cosmos: (exchange: Exchange) => Promise<void>,
  admin: (incoming: IncomingMessage, response: ServerResponse) => Promise<void>,
  load: { active: number; begun: number },
  clock: Clock,
): Pick<ListenOptions, 'handler' | 'lane'> {
  const done = () => {
    load.active -= 1;
  };
  const handle = (exchange: Exchange): void => {
    load.active += 1;
    load.begun += 1;
    void cosmos(exchange).finally(done);
  };
  const handler: RequestListener = (incoming, response) => {
    if (incoming.url === EMULATOR_CERTIFICATE) incoming.url = `${ADMIN_PREFIX}certificate.pem`;
    if (incoming.url?.startsWith(ADMIN_PREFIX)) void admin(incoming, response);
    else handle(nodeExchange(incoming, response));
  };
  const takes = (_method: string, target: string) => !target.startsWith(OWN);
  return { handler, lane: { takes, handle, wall: () => clock.wall() } };
}

interface Surroundings {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly shift: { ms: number };
  readonly load: { readonly active: number };
}
interface OpenEngine {
  readonly engine: Engine;
  readonly sharing?: Sharing;
}

async function openShared(
  url: string,
  { clock, entropy, shift }: Surroundings,
  closing: (() => Promise<void> | void)[],
): Promise<OpenEngine> {
  const { uuid, fraction } = entropy;
  const wall = () => clock.wall();
  const opened = await openPostgres({ url, server: uuid(), fraction, wall });
  const { engine, presence, notices } = opened;
  closing.push(() => engine.close());
  closing.push(() => notices?.close());
  const sharing: Sharing = {
    get others() {
      return presence.others;
    },
    get isFresh() {
      return presence.isFresh;
    },
    wall: () => presence.wall(),
    beat: async () => {
      await presence.beat();
      shift.ms = presence.offsetMs;
    },
    tell: () => {
      if (presence.others > 0) notices?.tell();
    },
    listen: (heard) => notices?.listen(heard),
  };
  return { engine, sharing };
}

/** With others over the same store, the catalog follows what they write. */
async function openCatalog(
  parts: Parameters<typeof Catalog.open>[0],
  clock: Clock,
  log: NonNullable<StartOptions['log']>,
  closing: (() => Promise<void> | void)[],
): Promise<Catalog> {
  const { sharing } = parts;
  await sharing?.beat();
  const catalog = await Catalog.open(parts, clock.now());
  if (!sharing) return catalog;
  const failed = (error: unknown) => log('error', 'catalog-not-followed', { error });
  const following = follow(sharing, () => catalog.refresh(), failed);
  closing.push(() => following.cancel());
  return catalog;
}

async function openEngine(
  { data, store }: ReturnType<typeof withDefaults>,
  around: Surroundings,
  log: NonNullable<StartOptions['log']>,
  closing: (() => Promise<void> | void)[],
): Promise<OpenEngine> {
  const { clock } = around;
  if (store !== undefined) return openShared(store, around, closing);
  const report = (error: unknown, container: string) =>
    log('error', 'index-build-failed', { error, container });
  if (data === MEMORY) {
    const engine = await openKvEngine(new MemoryStore(), report);
    closing.push(() => engine.close());
    return { engine };
  }
  const lock = lockFolder(data, { startedAt: new Date(clock.wall()).toISOString() });
  closing.push(() => lock.release());
  const heartbeat = every(LOCK_REFRESH_MS, () => {
    try {
      lock.refresh();
    } catch (error) {
      log('error', 'lock-lost', { error });
    }
  });
  closing.push(() => heartbeat.cancel());
  const engine = await openKvEngine(openLmdb(data), report, () => around.load.active);
  closing.push(() => engine.close());
  return { engine };
}

function running(
  options: ReturnType<typeof withDefaults>,
  keys: Keys,
  listening: Listening,
  parts: {
    readonly clock: Clock;
    readonly purger: Purger;
    readonly closing: (() => Promise<void> | void)[];
    readonly mongoPort: number | undefined;
  },
): Mayfly {
  const { port, schemes } = listening;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  const cosmos = `${schemes[0] ?? 'http'}://${host}:${port}/`;
  let closed: Promise<void> | undefined;
  return {
    cosmos,
    port,
    key: keys.primary,
    mongo:
      parts.mongoPort === undefined ? undefined : mongoUrl(host, parts.mongoPort, options, keys),
    connectionString: `AccountEndpoint=${cosmos};AccountKey=${keys.primary};`,
    clock: parts.clock,
    purge: () => parts.purger.runNow(),
    close: () => {
      closed ??= closeAll(parts.closing);
      return closed;
    },
  };
}

/** The account is the user, its key the password. */
function mongoUrl(
  host: string,
  port: number,
  { tls }: ReturnType<typeof withDefaults>,
  { primary }: Keys,
): string {
  const secure = tls === 'only' ? '?tls=true' : '';
  return `mongodb://${ACCOUNT_NAMES[0]}:${encodeURIComponent(primary)}@${host}:${port}/${secure}`;
}

/** In the opposite order of opening, and each of them whatever the others say. */
async function closeAll(closing: (() => Promise<void> | void)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const close of closing.reverse()) {
    try {
      await close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** Servers over one database go by its clock. */
function clockOf(
  { clock }: ReturnType<typeof withDefaults>,
  shift: { readonly ms: number },
): Clock {
  if (clock === 'system') return systemClock(() => shift.ms);
  return clock === 'virtual' ? new VirtualClock() : clock;
}

function keysOf(options: ReturnType<typeof withDefaults>): Keys {
  const keys: Keys = {
    primary: options.key ?? WELL_KNOWN_KEY,
    secondary: options.secondaryKey,
    primaryReadOnly: options.readOnlyKey,
    secondaryReadOnly: options.secondaryReadOnlyKey,
  };
  for (const [name, key] of Object.entries(keys)) {
    if (key !== undefined && !isWellFormedKey(key)) {
      throw new Error(`The ${name} key is no base64 text of at least 16 bytes.`);
    }
  }
  const known = Object.values(keys).includes(WELL_KNOWN_KEY);
  if (known && !isLoopback(options.host) && !options.allowWellKnownKey) {
    throw new Error(
      `Everybody knows the emulator's key, so it is used on loopback only, and --host ${options.host} is not. ` +
        'Give a key of your own with --key (for example from: openssl rand -base64 48), ' +
        'or insist with --allow-well-known-key.',
    );
  }
  return keys;
}

/** Made or read on first use, because most servers never meet a TLS client. */
function certificateOf(
  options: ReturnType<typeof withDefaults>,
  clock: Clock,
  entropy: Entropy,
  log: NonNullable<StartOptions['log']>,
): () => { readonly cert: string; readonly key: string } {
  const { tlsCertificate, data, host } = options;
  if (tlsCertificate) return () => tlsCertificate;
  let pair: { readonly cert: string; readonly key: string } | undefined;
  return () => {
    if (pair) return pair;
    try {
      const folder = data === MEMORY ? undefined : data;
      const names = [...options.tlsNames, ...(isWildcard(host) ? [] : [host])];
      const now = new Date(clock.wall());
      const made = keepCertificate(folder, names, now, entropy.bytes(16));
      pair = { cert: made.certificatePem, key: made.keyPem };
      return pair;
    } catch (error) {
      log('error', 'certificate-failed', { error });
      throw error;
    }
  };
}

const isWildcard = (host: string): boolean => host === '0.0.0.0' || host === '::';
