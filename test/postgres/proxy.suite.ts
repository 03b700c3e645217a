// A proxy in front of PostgreSQL that cuts connections at the worst moment: when a COMMIT has been
// sent, before or after the server has it, and before its answer comes back.
import { connect, createServer, type Server, type Socket } from 'node:net';

export type Cut = 'never' | 'before the commit' | 'behind the commit';

export class CuttingProxy {
  cut: Cut = 'never';
  cuts = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** The names that connections gave to the statement COMMIT. */
  readonly #names = new Set<string>();

  private constructor(host: string, port: number) {
    this.#server = createServer((client) => this.#join(client, connect(port, host)));
  }

  static async open(address: string): Promise<{ proxy: CuttingProxy; url: string }> {
    const url = new URL(address);
    const proxy = new CuttingProxy(url.hostname, Number(url.port || 5432));
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    url.hostname = '127.0.0.1';
    url.port = String((proxy.#server.address() as { port: number }).port);
    return { proxy, url: url.href };
  }

  /** Cuts in short intervals while the work goes on. */
  async while<T>(cut: Cut, work: () => Promise<T>): Promise<T> {
    const flicker = setInterval(() => {
      this.cut = this.cut === 'never' ? cut : 'never';
    }, 25);
    try {
      return await work();
    } finally {
      clearInterval(flicker);
      this.cut = 'never';
    }
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(client: Socket, server: Socket): void {
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    server.on('data', (data) => client.write(data));
    client.on('data', (data) => {
      const isCommit = this.#commits(data);
      if (this.cut === 'never' || !isCommit) {
        server.write(data);
        return;
      }
      this.cuts += 1;
      if (this.cut === 'before the commit') {
        client.destroy();
        return;
      }
      // The server gets all of it and will do it; nobody will hear of that.
      server.removeAllListeners('data');
      server.on('data', () => undefined);
      server.write(data, () => setTimeout(() => client.destroy(), 5));
    });
  }

  #commits(data: Buffer): boolean {
    const text = data.toString('latin1');
    for (const [, name = ''] of text.matchAll(/(m\d+)\0commit\0/g)) this.#names.add(name);
    return [...this.#names].some((name) => text.includes(`\0${name}\0`));
  }
}
