// Connections to PostgreSQL from one process of the bench.
import { loadPg, type PgAddress, type PgClient } from './packages.js';

let clients: readonly PgClient[] = [];

/** Those that are open now. */
export const openClients = (): readonly PgClient[] => clients;

/**
 * Connections stay for as long as nobody wants another number of them: each is a process, which
 * takes some work to get going, and that is not what is measured.
 */
export async function connectAll(address: PgAddress, count: number): Promise<readonly PgClient[]> {
  if (clients.length === count) return clients;
  await closeAll();
  const { Client } = loadPg();
  const made = Array.from({ length: count }, () => new Client(address));
  for (const client of made) client.on('error', () => undefined);
  await Promise.all(made.map((client) => client.connect()));
  clients = made;
  return made;
}

export async function closeAll(): Promise<void> {
  const closing = clients;
  clients = [];
  await Promise.all(closing.map((client) => client.end()));
}
