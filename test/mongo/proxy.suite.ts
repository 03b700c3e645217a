// A line between a driver and the server that can be cut: the request arrives, the reply does not.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export class CutLine {
  readonly #front: Server;
  readonly #sockets = new Set<Socket>();
  /** The next request that holds this text loses its reply. */
  cutAfter: string | undefined;
  cuts = 0;

  private constructor(target: number) {
    this.#front = createServer((client) => this.#join(client, connect(target, '127.0.0.1')));
  }

  static async open(target: number): Promise<CutLine> {
    const proxy = new CutLine(target);
    proxy.#front.listen(0, '127.0.0.1');
    await once(proxy.#front, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#front.address() as AddressInfo).port;
  }

  close(): void {
    this.#front.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(client: Socket, server: Socket): void {
    let isDoomed = false;
    const end = () => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        end();
      });
    }
    client.on('data', (chunk) => {
      if (this.cutAfter !== undefined && chunk.includes(this.cutAfter)) {
        this.cutAfter = undefined;
        isDoomed = true;
      }
      server.write(chunk);
    });
    server.on('data', (chunk) => {
      if (!isDoomed) {
        client.write(chunk);
        return;
      }
      this.cuts += 1;
      end();
    });
  }
}
