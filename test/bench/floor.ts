// The floor: the least a Node server can do for a point read. It answers every request with the
// same headers and body that Mayfly gave, after checking the signature or not, and stores nothing.
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { WELL_KNOWN_KEY } from '../../src/http/keys.js';
import { answerCalls, listenAnywhere } from './child.js';

export interface FloorPlan {
  readonly headers: readonly string[];
  readonly body: string;
  readonly checksSignature: boolean;
}

const KEEP_ALIVE_MS = 65_000;
const secret = createSecretKey(Buffer.from(WELL_KNOWN_KEY, 'base64'));

answerCalls({ serve });

async function serve({ headers, body, checksSignature }: FloorPlan): Promise<number> {
  const bytes = Buffer.from(body);
  const flat = [...headers];
  const server = createServer(
    { noDelay: true, keepAliveTimeout: KEEP_ALIVE_MS },
    (request, response) => {
      if (checksSignature && !isSigned(request)) {
        response.statusCode = 401;
        response.end('the signature is wrong');
        return;
      }
      response.writeHead(200, flat);
      response.end(bytes);
    },
  );
  return listenAnywhere(server);
}

/** For paths without percent signs, which is all the load has. */
function isSigned({ method = '', url = '', headers }: IncomingMessage): boolean {
  const given = decodeURIComponent(headers.authorization ?? '');
  const date = String(headers['x-ms-date']).toLowerCase();
  const payload = `${method.toLowerCase()}\ndocs\n${url.slice(1)}\n${date}\n\n`;
  const digest = createHmac('sha256', secret).update(payload).digest();
  const claimed = Buffer.from(given.slice(given.indexOf('sig=') + 4), 'base64');
  return claimed.length === digest.length && timingSafeEqual(claimed, digest);
}
