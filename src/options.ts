// What a server can be told at its start, in-process or from the command line, and what it does
// when told nothing.
import type { ThroughputMode } from './throughput/budgets.js';
import type { VirtualClock } from './time/clock.js';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type Log = (
  level: LogLevel,
  event: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

export interface StartOptions {
  /** Default 127.0.0.1. */
  readonly host?: string | undefined;
  /** Default 0 in-process, which picks a free port; 8081 from the command line. */
  readonly port?: number | undefined;
  /** A folder, or `:memory:` (the default in-process). */
  readonly data?: string | undefined;
  /** `postgres://user@host/database`: documents are kept there, and `data` is not used. */
  readonly store?: string | undefined;
  /** Base64. Default: the well-known key of the official emulator, on loopback only. */
  readonly key?: string | undefined;
  readonly secondaryKey?: string | undefined;
  readonly readOnlyKey?: string | undefined;
  readonly secondaryReadOnlyKey?: string | undefined;
  readonly allowWellKnownKey?: boolean | undefined;
  readonly clock?: 'system' | 'virtual' | VirtualClock | undefined;
  /** `auto`: HTTP and HTTPS on the same port. `only`: HTTPS alone. `off`: HTTP alone. */
  readonly tls?: 'auto' | 'only' | 'off' | undefined;
  /** PEM texts; default a self-signed certificate that is kept in the data folder. */
  readonly tlsCertificate?: { readonly cert: string; readonly key: string } | undefined;
  /** More host names and addresses for the self-signed certificate. */
  readonly tlsNames?: readonly string[] | undefined;
  /** More host names the control API answers to. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Origins of web pages that may use the account. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** T14: COUNT takes in items that are expired and not purged yet, as the service's does. */
  readonly countIncludesUnpurged?: boolean | undefined;
  /**
   * `measure`: request units are counted. `enforce`: who wants more of them than are provisioned
   * gets 429.
   */
  readonly throughput?: ThroughputMode | undefined;
  /** Entra tokens: none, any on loopback, or those that pass the rules. Default `off`. */
  readonly entra?: 'off' | 'accept' | EntraOptions | undefined;
  /** For MongoDB clients, 0 picks one. Default `off` in-process, 10255 from the command line. */
  readonly mongoPort?: number | 'off' | undefined;
  /** What MongoDB clients are told they talk to; a replica set sends them to its own address. */
  readonly mongoTopology?: 'mongos' | 'replset' | 'standalone' | undefined;
  /** T34: whether MongoDB documents may have a `ttl` of their own. Default true. */
  readonly mongoDocumentTtl?: boolean | undefined;
  /** Whether MongoDB clients may set the fail point `failCommand`. Default false. */
  readonly mongoTestCommands?: boolean | undefined;
  /** How long a stored procedure, a trigger or the functions of some rows may run (5000). */
  readonly scriptTimeMs?: number | undefined;
  readonly log?: Log | undefined;
}

/** Which Entra tokens are taken, and what those who have one may do. */
export interface EntraOptions {
  /**
   * A JSON Web Key Set, or PEM texts of public keys or certificates. A function is asked again when
   * a token comes whose key is not among them, once a minute at most.
   */
  readonly keys: string | (() => string);
  readonly issuers: readonly string[];
  /** Default `https://cosmos.azure.com`. */
  readonly audiences?: readonly string[] | undefined;
  /** Ids (oid, sub, appid or azp) of those who may read and write items; `*` is everybody. */
  readonly contributors?: readonly string[] | undefined;
  /** Ids of those who may read. */
  readonly readers?: readonly string[] | undefined;
}

export function withDefaults(given: StartOptions) {
  return {
    ...given,
    host: given.host ?? '127.0.0.1',
    port: given.port ?? 0,
    data: given.data ?? ':memory:',
    clock: given.clock ?? 'system',
    tls: given.tls ?? 'auto',
    throughput: given.throughput ?? 'measure',
    mongoPort: given.mongoPort ?? 'off',
    mongoTopology: given.mongoTopology ?? 'mongos',
    mongoDocumentTtl: given.mongoDocumentTtl ?? true,
    mongoTestCommands: given.mongoTestCommands ?? false,
    tlsNames: given.tlsNames ?? [],
    allowedHosts: given.allowedHosts ?? [],
    corsOrigins: given.corsOrigins ?? [],
    scriptTimeMs: given.scriptTimeMs ?? 5000,
    entra: given.entra ?? 'off',
  } as const;
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
