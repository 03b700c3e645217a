// @vercel/cosmosdb-server in a process of its own: in memory, and it checks no signatures.
import { answerCalls, listenAnywhere } from './child.js';
import { loadVercelServer } from './packages.js';

const KEEP_ALIVE_MS = 65_000;

answerCalls({ serve });

function serve(): Promise<number> {
  const server = loadVercelServer().createHttpServer({ keepAlive: true });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  return listenAnywhere(server);
}
