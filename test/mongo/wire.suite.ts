// Talking to the port by hand: messages as bytes, right ones and wrong ones.
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { Binary, type Document, deserialize, serialize } from 'bson';

export const OP = { reply: 1, query: 2004, compressed: 2012, message: 2013 } as const;

export function header(length: number, opcode: number, requestId = 1): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeInt32LE(length, 0);
  bytes.writeInt32LE(requestId, 4);
  bytes.writeInt32LE(opcode, 12);
  return bytes;
}

export function framed(opcode: number, body: Uint8Array): Buffer {
  return Buffer.concat([header(16 + body.length, opcode), body]);
}

/** The body of an OP_MSG: flags, then sections as they are given. */
export function sections(flags: number, ...parts: readonly Uint8Array[]): Buffer {
  const bits = Buffer.alloc(4);
  bits.writeUInt32LE(flags >>> 0);
  return Buffer.concat([bits, ...parts]);
}

export function commandSection(command: Document | Uint8Array): Buffer {
  const bytes = command instanceof Uint8Array ? command : serialize(command);
  return Buffer.concat([Buffer.of(0), bytes]);
}

export function message(command: Document, flags = 0): Buffer {
  return framed(OP.message, sections(flags, commandSection(command)));
}

/** One connection; `answer` waits for the next whole message, undefined when it was closed. */
export class Line {
  readonly #socket: Socket;
  #bytes = Buffer.alloc(0);
  #isClosed = false;
  #wake: () => void = () => undefined;

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1');
    this.#socket.on('data', (chunk) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      this.#wake();
    });
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => {
      this.#isClosed = true;
      this.#wake();
    });
  }

  send(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  async answer(): Promise<Buffer | undefined> {
    while (true) {
      const length = this.#bytes.length >= 4 ? this.#bytes.readInt32LE(0) : Infinity;
      if (this.#bytes.length >= length) {
        const whole = this.#bytes.subarray(0, length);
        this.#bytes = this.#bytes.subarray(length);
        return whole;
      }
      if (this.#isClosed) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async reply(): Promise<Document | undefined> {
    const bytes = await this.answer();
    return bytes && deserialize(bytes.subarray(bytes.readInt32LE(12) === OP.reply ? 36 : 21));
  }

  end(): void {
    this.#socket.destroy();
  }
}

/** SCRAM-SHA-256, spoken by hand. */
export async function login(line: Line, user: string, password: string): Promise<void> {
  const first = `n=${user},r=abcdefghijklmnop`;
  line.send(
    message({
      saslStart: 1,
      mechanism: 'SCRAM-SHA-256',
      payload: new Binary(Buffer.from(`n,,${first}`)),
      options: { skipEmptyExchange: true },
      $db: 'admin',
    }),
  );
  const begun = await line.reply();
  const server = Buffer.from(begun?.payload.buffer).toString();
  const [, nonce = '', salt = '', iterations = ''] = /^r=(.*),s=(.*),i=(.*)$/.exec(server) ?? [];
  const salted = pbkdf2Sync(
    password,
    Buffer.from(salt, 'base64'),
    Number(iterations),
    32,
    'sha256',
  );
  const sign = (key: Uint8Array, text: string) => createHmac('sha256', key).update(text).digest();
  const clientKey = sign(salted, 'Client Key');
  const stored = createHash('sha256').update(clientKey).digest();
  const last = `c=biws,r=${nonce}`;
  const signature = sign(stored, `${first},${server},${last}`);
  const proof = Buffer.from(clientKey.map((byte, at) => byte ^ (signature[at] ?? 0)));
  const payload = new Binary(Buffer.from(`${last},p=${proof.toString('base64')}`));
  const { conversationId } = begun ?? {};
  line.send(message({ saslContinue: 1, conversationId, payload, $db: 'admin' }));
  const done = await line.reply();
  if (done?.ok !== 1 || !done.done) throw new Error(`no login: ${JSON.stringify(done)}`);
}
