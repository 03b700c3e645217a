// One connection: cuts the stream into messages and answers them one after another. What a client
// sends ahead waits; what it does not read is not answered further.
import type { Socket } from 'node:net';
import { type Compressor, pack, unpack } from './compression.js';
import {
  type Answer,
  HEADER_BYTES,
  MESSAGE_BYTES_MAX,
  Op,
  ProtocolError,
  type Request,
  readHeader,
  readRequest,
  writeMessage,
  writeReply,
} from './message.js';

/** Strangers have little to say: this bounds what each of them can make the server keep. */
const STRANGER_BYTES_MAX = 1024 * 1024;
/** More than this is not read ahead while a request is being answered. */
const AHEAD_BYTES_MAX = 1024 * 1024;
/** How long the rest of a message may be on its way without a byte of it coming. */
const STALLED_MS = 60_000;

export interface ConnectionWork {
  /** Undefined where none is to be sent. */
  answer(request: Request): Promise<Answer | undefined>;
  /** A reply to a message that is refused as such; the connection is closed behind it. */
  refusal(code: number, text: string): Uint8Array;
  isTrusted(): boolean;
  /** Whether the last request is answered again and again, if the client takes that. */
  goesOn(): boolean;
  report(error: unknown): void;
}

export class Connection {
  readonly #socket: Socket;
  readonly #work: ConnectionWork;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isBusy = false;
  #isStalling = false;
  #isEnding = false;
  #replies = 0;

  constructor(socket: Socket, work: ConnectionWork) {
    this.#socket = socket;
    this.#work = work;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('end', () => this.windDown());
    socket.on('timeout', () => socket.destroy());
    // An error closes the socket by itself, but without a listener it would end the process.
    socket.on('error', () => undefined);
  }

  /** Ends once the request in flight is answered. */
  windDown(): void {
    this.#isEnding = true;
    if (!this.#isBusy) this.#socket.destroySoon();
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (!this.#isBusy) void this.#pump();
    else if (this.#bytes > AHEAD_BYTES_MAX) this.#socket.pause();
  }

  async #pump(): Promise<void> {
    this.#isBusy = true;
    try {
      for (let message = this.#next(); message && !this.#isEnding; message = this.#next()) {
        if (this.#isStalling) this.#stall(false);
        await this.#handle(message);
        if (this.#socket.destroyed) return;
      }
      if (this.#bytes > 0 && !this.#isStalling) this.#stall(true);
    } catch (error) {
      if (!(error instanceof ProtocolError)) this.#work.report(error);
      this.#socket.destroy();
    } finally {
      this.#isBusy = false;
    }
    if (this.#isEnding) this.#socket.destroySoon();
    else if (this.#socket.isPaused()) this.#socket.resume();
  }

  /** A message that stays incomplete ends the connection; a quiet connection may stay. */
  #stall(isStalling: boolean): void {
    this.#isStalling = isStalling;
    this.#socket.setTimeout(isStalling ? STALLED_MS : 0);
  }

  /** Cuts the next whole message off; undefined while it is not all there. */
  #next(): Buffer | undefined {
    if (this.#bytes < 4) return undefined;
    let first = this.#chunks[0] as Buffer;
    if (first.length < 4) first = this.#joined();
    const length = first.readInt32LE(0);
    if (length < HEADER_BYTES || length > this.#lengthMax()) {
      throw new ProtocolError(`a message of ${length} bytes`);
    }
    if (this.#bytes < length) return undefined;
    if (first.length < length) first = this.#joined();
    this.#bytes -= length;
    if (first.length === length) this.#chunks.shift();
    else this.#chunks[0] = first.subarray(length);
    return first.subarray(0, length);
  }

  #lengthMax(): number {
    return this.#work.isTrusted() ? MESSAGE_BYTES_MAX : STRANGER_BYTES_MAX;
  }

  #joined(): Buffer {
    const all = Buffer.concat(this.#chunks, this.#bytes);
    this.#chunks = [all];
    return all;
  }

  #handle(message: Buffer): Promise<void> | undefined {
    const { opcode, requestId } = readHeader(message);
    if (opcode === Op.compressed) return this.#handlePacked(message, requestId);
    let request: Request;
    try {
      request = readRequest(opcode, requestId, message);
    } catch (error) {
      return this.#refuse(error, requestId);
    }
    return this.#answer(request, undefined);
  }

  async #handlePacked(message: Buffer, requestId: number): Promise<void> {
    let request: Request;
    let compressor: Compressor;
    try {
      const unpacked = await unpack(message, this.#lengthMax());
      compressor = unpacked.compressor;
      request = readRequest(unpacked.opcode, requestId, unpacked.bytes);
    } catch (error) {
      await this.#refuse(error, requestId);
      return;
    }
    await this.#answer(request, compressor);
  }

  /** Of a message that cannot be read; some are not even worth an answer. */
  #refuse(error: unknown, requestId: number): Promise<void> | undefined {
    if (!(error instanceof ProtocolError) || error.code === undefined) throw error;
    const document = this.#work.refusal(error.code, error.message);
    this.#isEnding = true;
    return this.#send(writeMessage(this.#nextId(), requestId, { document }));
  }

  async #answer(request: Request, compressor: Compressor | undefined): Promise<void> {
    let responseTo = request.requestId;
    for (let goesOn = true; goesOn && !this.#socket.destroyed; ) {
      const answer = await this.#work.answer(request);
      if (answer === undefined || request.isSilent) return;
      goesOn = request.takesMore && this.#work.goesOn() && !this.#isEnding;
      const id = this.#nextId();
      const reply =
        request.kind === 'query'
          ? writeReply(id, responseTo, answer)
          : writeMessage(id, responseTo, answer, goesOn);
      responseTo = id;
      await this.#send(compressor === undefined ? reply : await pack(reply, compressor));
    }
  }

  #nextId(): number {
    this.#replies = (this.#replies + 1) & 0x7fffffff;
    return this.#replies;
  }

  #send(reply: Buffer): Promise<void> | undefined {
    if (this.#socket.destroyed || this.#socket.write(reply)) return undefined;
    return new Promise((resolve) => {
      const done = () => {
        this.#socket.off('drain', done).off('close', done);
        resolve();
      };
      this.#socket.on('drain', done).on('close', done);
    });
  }
}
