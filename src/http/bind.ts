// Binds a server to its address, and says in words why it cannot be.
import { isIPv6, type Server } from 'node:net';

export interface Binding {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

/** `doing` follows 'Cannot'; `advice` says by the code of an error what is wrong and what to do. */
export async function bind(
  front: Server,
  { host, port }: Binding,
  doing: string,
  advice: Readonly<Record<string, string>>,
): Promise<void> {
  const explain = (error: NodeJS.ErrnoException): Error => {
    const why = advice[error.code ?? ''];
    if (why === undefined) return error;
    const address = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
    return new Error(`Cannot ${doing} on ${address}: ${why}`, { cause: error });
  };
  await new Promise<void>((resolve, reject) => {
    front.once('error', (error) => reject(explain(error)));
    front.listen({ host, port }, resolve);
  });
  // Whatever goes wrong while accepting one connection must not end those that are open.
  front.removeAllListeners('error').on('error', () => undefined);
}
