// The fast lane of a connection: requests of the usual form are read and answered here, at half of
// what node:http costs. At the first one that is not, the connection is handed over to node:http
// with all its bytes, and stays there.
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type Alarm, breathe, later } from '../time/clock.js';
import { refusalOf } from './body.js';
import { brokenAnswer, timeoutAnswer } from './client-error.js';
import { type Exchange, JOINED_BYTES_MAX, originOf, singleBytes } from './exchange.js';
import { type Head, parseHead } from './head.js';

/** Which requests a lane may answer, and who answers them. */
export interface LaneWork {
  takes(method: string, target: string): boolean;
  handle(exchange: Exchange): void;
}
export interface LaneTerms extends LaneWork {
  readonly headBytesMax: number;
  readonly requestMs: number;
  readonly keepAliveMs: number;
  /** The value of the header Date. */
  date(): string;
  draining(): boolean;
  /** Called once at most, with the bytes that were read and not answered. */
  handOver(socket: Socket, bytes: Buffer): void;
}

/** A longer body is left to node:http, which can discard what nobody wants. */
const BODY_BYTES_MAX = 2 * 1024 * 1024;
/** Bytes of further requests that are kept while one is being answered. */
const AHEAD_BYTES_MAX = 64 * 1024;

interface Arriving {
  readonly head: Head;
  readonly pieces: Buffer[];
  missing: number;
  readonly deadline: Alarm;
}

export class Lane {
  readonly #socket: Socket;
  readonly #terms: LaneTerms;
  /** Bytes behind the request that is being answered. */
  #ahead: Buffer | undefined;
  #arriving: Arriving | undefined;
  #answering = false;
  #ended = false;

  constructor(socket: Socket, terms: LaneTerms) {
    this.#socket = socket;
    this.#terms = terms;
    socket.on('data', this.#onData).on('end', this.#onEnd).on('timeout', this.#onSilence);
    socket.once('close', this.#onClose);
    socket.setTimeout(terms.keepAliveMs);
  }

  /** The first bytes, which somebody else has read. */
  begin(bytes: Buffer): void {
    this.#onData(bytes);
  }

  /** Ends the connection when nobody waits for an answer on it. */
  windDown(): void {
    if (!this.#answering && !this.#arriving) this.#socket.destroy();
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.#answering) this.#keepAhead(bytes);
    else if (this.#arriving) this.#collect(this.#arriving, bytes);
    else this.#take(bytes);
  };

  readonly #onEnd = (): void => {
    this.#ended = true;
    if (this.#arriving) this.#socket.end(brokenAnswer(), () => this.#socket.destroy());
    // A client that has said all may still wait for its answer.
    else if (!this.#answering) this.#socket.end();
  };

  readonly #onSilence = (): void => {
    if (!this.#answering) this.#socket.destroy();
  };

  readonly #onClose = (): void => this.#arriving?.deadline.cancel();

  #take(bytes: Buffer): void {
    const text = bytes.toString('latin1', 0, Math.min(bytes.length, this.#terms.headBytesMax));
    const end = text.indexOf('\r\n\r\n');
    const head = end < 0 ? undefined : parseHead(text, end + 2);
    if (
      head === undefined ||
      head.bodyBytes > BODY_BYTES_MAX ||
      !this.#terms.takes(head.method, head.target)
    ) {
      this.#handOver(bytes);
      return;
    }
    const bodyStart = end + 4;
    const bodyEnd = bodyStart + head.bodyBytes;
    if (bytes.length < bodyEnd) this.#await(head, bytes.subarray(bodyStart));
    else {
      if (bytes.length > bodyEnd) this.#keepAhead(bytes.subarray(bodyEnd));
      this.#dispatch(head, bytes.subarray(bodyStart, bodyEnd));
    }
  }

  #await(head: Head, first: Buffer): void {
    const missing = head.bodyBytes - first.length;
    const deadline = later(this.#terms.requestMs, () => {
      // From here on nothing is read any more.
      this.#answering = true;
      this.#socket.end(timeoutAnswer(), () => this.#socket.destroy());
    });
    this.#arriving = { head, pieces: [first], missing, deadline };
  }

  #collect(arriving: Arriving, bytes: Buffer): void {
    const own = bytes.subarray(0, arriving.missing);
    arriving.pieces.push(own);
    arriving.missing -= own.length;
    if (arriving.missing > 0) return;
    arriving.deadline.cancel();
    this.#arriving = undefined;
    if (bytes.length > own.length) this.#keepAhead(bytes.subarray(own.length));
    this.#dispatch(arriving.head, Buffer.concat(arriving.pieces, arriving.head.bodyBytes));
  }

  #keepAhead(bytes: Buffer): void {
    this.#ahead = this.#ahead === undefined ? bytes : Buffer.concat([this.#ahead, bytes]);
    if (this.#ahead.length > AHEAD_BYTES_MAX) this.#socket.pause();
  }

  #dispatch(head: Head, body: Buffer): void {
    this.#answering = true;
    this.#terms.handle(new LaneExchange(this, this.#socket, head, body));
  }

  get ended(): boolean {
    return this.#ended;
  }

  answer(status: number, headers: readonly string[], body: Uint8Array | undefined): void {
    const socket = this.#socket;
    if (socket.destroyed) return;
    const last = this.#ended || this.#terms.draining();
    const head = this.#headText(status, headers, last);
    if (body === undefined) socket.write(head, 'latin1');
    else if (body.length <= JOINED_BYTES_MAX) socket.write(head + singleBytes(body), 'latin1');
    else {
      socket.cork();
      socket.write(head, 'latin1');
      socket.write(body);
      socket.uncork();
    }
    if (last) socket.end(() => socket.destroySoon());
    // A client that does not read its answers gets no more of them.
    else if (socket.writableNeedDrain) socket.once('drain', this.#goOn);
    else if (this.#ahead !== undefined) void breathe().then(this.#goOn);
    else this.#answering = false;
  }

  readonly #goOn = (): void => {
    const bytes = this.#ahead;
    this.#ahead = undefined;
    this.#answering = false;
    if (this.#socket.destroyed) return;
    if (this.#socket.isPaused()) this.#socket.resume();
    if (bytes !== undefined) this.#take(bytes);
  };

  #headText(status: number, headers: readonly string[], last: boolean): string {
    let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n`;
    for (let at = 0; at < headers.length; at += 2) {
      const value = headers[at + 1] as string;
      if (UNSAFE.test(value)) throw new Error(`the header ${headers[at]} may not hold ${value}`);
      text += `${headers[at]}: ${value}\r\n`;
    }
    const going = last
      ? 'Connection: close'
      : `Connection: keep-alive\r\nKeep-Alive: timeout=${this.#terms.keepAliveMs / 1000}`;
    return `${text}Date: ${this.#terms.date()}\r\n${going}\r\n\r\n`;
  }

  #handOver(bytes: Buffer): void {
    const socket = this.#socket;
    socket.off('data', this.#onData).off('end', this.#onEnd).off('timeout', this.#onSilence);
    socket.off('close', this.#onClose).setTimeout(0);
    this.#terms.handOver(socket, bytes);
  }
}

/** What would end a header line early, or cannot be one byte. */
const UNSAFE = /[^\t\x20-\x7e\x80-\xff]/;

class LaneExchange implements Exchange {
  readonly #lane: Lane;
  readonly #socket: Socket;
  readonly #head: Head;
  readonly #body: Buffer;

  constructor(lane: Lane, socket: Socket, head: Head, body: Buffer) {
    this.#lane = lane;
    this.#socket = socket;
    this.#head = head;
    this.#body = body;
  }

  get method() {
    return this.#head.method;
  }

  get target() {
    return this.#head.target;
  }

  get headers() {
    return this.#head.headers;
  }

  origin(): string {
    return originOf(this.headers, this.#socket);
  }

  async body(bytesMax: number): Promise<Buffer> {
    const refusal = refusalOf(this.headers, bytesMax);
    if (refusal) throw refusal;
    return this.#body;
  }

  abandoned(): boolean {
    return this.#lane.ended || this.#socket.destroyed;
  }

  answer(status: number, headers: readonly string[], body: Uint8Array | undefined): void {
    this.#lane.answer(status, headers, body);
  }

  drop(): void {
    this.#socket.destroy();
  }
}
