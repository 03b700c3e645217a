// The port of the MongoDB face: plain and TLS connections on one, told apart by their first byte.
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { bind } from '../../http/bind.js';
import { Connection, type ConnectionWork } from './connection.js';

export interface ListenOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly tls: 'auto' | 'only' | 'off';
  readonly secureContext: () => { readonly cert: string; readonly key: string };
  /** What answers on a connection; `id` counts them. */
  readonly begin: (id: number, remote: string) => ConnectionWork;
}
export interface Listening {
  readonly port: number;
  connections(): { readonly current: number; readonly total: number; readonly max: number };
  /** Stops accepting, lets requests in flight finish, and destroys what is left at the deadline. */
  drain(deadline: Promise<unknown>): Promise<void>;
}

const CONNECTIONS_MAX = 5000;
/** The type of the TLS record that opens a handshake; as a message it would be of 22 bytes. */
const TLS_HANDSHAKE = 0x16;
const FIRST_BYTE_MS = 60_000;

export async function listen(options: ListenOptions): Promise<Listening> {
  const open = new Map<Socket, Connection | undefined>();
  let total = 0;
  const begin = (socket: Socket, outer: Socket) => {
    const remote = `${outer.remoteAddress ?? ''}:${outer.remotePort ?? 0}`;
    open.set(outer, new Connection(socket, options.begin(total, remote)));
  };
  const front = createServer({ noDelay: true }, (socket) => {
    // An error closes the socket by itself, but without a listener it would end the process.
    socket.on('error', () => undefined);
    if (open.size >= CONNECTIONS_MAX) {
      socket.destroy();
      return;
    }
    total += 1;
    open.set(socket, undefined);
    socket.on('close', () => open.delete(socket));
    awaitFirstByte(socket, options, begin);
  });
  await bind(front, options, 'listen for MongoDB clients', ADVICE);
  return {
    port: (front.address() as AddressInfo).port,
    connections: () => ({ current: open.size, total, max: CONNECTIONS_MAX }),
    drain: async (deadline) => {
      const closed = new Promise<void>((resolve) => {
        front.close(() => resolve());
      });
      for (const [socket, connection] of open) {
        if (connection) connection.windDown();
        else socket.destroy();
      }
      await Promise.race([closed, deadline.catch(() => undefined)]);
      for (const socket of open.keys()) socket.destroy();
      await closed;
    },
  };
}

function awaitFirstByte(
  socket: Socket,
  { tls, secureContext }: ListenOptions,
  begin: (socket: Socket, outer: Socket) => void,
): void {
  const giveUp = () => socket.destroy();
  socket.setTimeout(FIRST_BYTE_MS, giveUp);
  socket.once('data', (first) => {
    socket.pause();
    socket.setTimeout(0).off('timeout', giveUp);
    socket.unshift(first);
    const isSecure = first[0] === TLS_HANDSHAKE && isHandshake(first);
    if (isSecure ? tls === 'off' : tls === 'only') {
      socket.destroy();
      return;
    }
    if (!isSecure) {
      begin(socket, socket);
      socket.resume();
      return;
    }
    try {
      begin(new TLSSocket(socket, { isServer: true, ...secureContext() }), socket);
    } catch {
      // A certificate that cannot be made was reported by whoever makes it.
      socket.destroy();
    }
  });
}

/** A record of TLS has its version behind the type; a length of 22 bytes has zeros there. */
function isHandshake(first: Buffer): boolean {
  return first.length < 2 || first[1] === 3;
}

const CHOOSE = 'Choose another with --mongo-port; 0 picks a free port, off does without.';
const ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE: `the port is in use. ${CHOOSE}`,
  EACCES: `the system does not permit it. ${CHOOSE}`,
};
