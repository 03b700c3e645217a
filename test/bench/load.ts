// The load generator, a process of its own: keep-alive connections on bare sockets, requests built
// ahead, and of each answer only its status and length are looked at. An answer that is no success
// or too short ends the benchmark.
import { connect, type Socket } from 'node:net';
import { answerCalls } from './child.js';
import { HOST, requestBytes, type Work } from './wire.js';

export interface LoadPlan {
  readonly port: number;
  readonly connections: number;
  readonly work: Work;
  /** No answer may have a smaller body. */
  readonly bodyBytesMin: number;
}
export interface LoadResult {
  readonly requests: number;
  readonly ms: number;
}
export interface FlowResult {
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

let lanes: readonly Lane[] = [];
let requests: readonly Buffer[] = [];
let stopFlow: () => void = () => undefined;

answerCalls({ prepare, run, runFor, flow, stop: () => stopFlow() });

/** Fresh connections and signatures for every round, before anything is measured. */
async function prepare(plan: LoadPlan): Promise<void> {
  for (const lane of lanes) lane.close();
  requests = requestBytes(plan.work, plan.port);
  const opening = Array.from({ length: plan.connections }, () => Lane.open(plan));
  lanes = await Promise.all(opening);
}

/** Each connection sends its next request when it has its answer. */
function run({ count }: { readonly count: number }): Promise<LoadResult> {
  return sendWhile((sent) => sent < count);
}

/** The same until the time is over; whatever is under way then is waited for. */
function runFor({ msMax }: { readonly msMax: number }): Promise<LoadResult> {
  const end = performance.now() + msMax;
  return sendWhile(() => performance.now() < end);
}

async function sendWhile(goesOn: (sent: number) => boolean): Promise<LoadResult> {
  const start = performance.now();
  let sent = 0;
  const keepSending = async (lane: Lane) => {
    while (goesOn(sent)) {
      const request = requests[sent % requests.length];
      sent += 1;
      if (request) await lane.ask(request);
    }
  };
  await Promise.all(lanes.map(keepSending));
  return { requests: sent, ms: performance.now() - start };
}

/**
 * Requests at a fixed rate, whether or not the server keeps up: one that finds no free connection
 * waits, and its waiting counts.
 */
async function flow(plan: { readonly perSecond: number; readonly msMax: number }) {
  const free = [...lanes];
  const waiting: number[] = [];
  const latencies: number[] = [];
  const start = performance.now();
  let failed: unknown;
  let sent = 0;
  let stopped = false;
  stopFlow = () => {
    stopped = true;
  };
  const pump = () => {
    while (free.length > 0 && waiting.length > 0) {
      const lane = free.pop() as Lane;
      const since = waiting.shift() as number;
      const request = requests[sent++ % requests.length] as Buffer;
      lane.ask(request).then(
        () => {
          latencies.push(performance.now() - since);
          free.push(lane);
          pump();
        },
        (error: unknown) => {
          failed ??= error;
        },
      );
    }
  };
  let due = 0;
  while (!stopped && failed === undefined && performance.now() - start < plan.msMax) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    const now = performance.now();
    for (; due < ((now - start) * plan.perSecond) / 1000; due += 1) waiting.push(now);
    pump();
  }
  while (failed === undefined && latencies.length < due) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  if (failed !== undefined) throw failed;
  return summary(latencies);
}

function summary(latencies: readonly number[]): FlowResult {
  const sorted = Float64Array.from(latencies).sort();
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  return { requests: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

interface Asked {
  resolve(): void;
  reject(error: Error): void;
}

/** One connection with at most one request under way. */
class Lane {
  readonly #socket: Socket;
  readonly #bodyBytesMin: number;
  #asked: Asked | undefined;
  #pieces: Buffer[] = [];
  #received = 0;
  /** Bytes of the whole answer, known when its head has arrived. */
  #expected: number | undefined;
  #status = 0;

  private constructor(socket: Socket, bodyBytesMin: number) {
    this.#socket = socket;
    this.#bodyBytesMin = bodyBytesMin;
    socket.on('data', (piece: Buffer) => this.#take(piece));
    socket.on('error', (error) => this.#fail(error.message));
    socket.on('close', () => this.#fail('the server closed the connection'));
  }

  static open({ port, bodyBytesMin }: LoadPlan): Promise<Lane> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: HOST, port, noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Lane(socket, bodyBytesMin));
      });
    });
  }

  ask(request: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#asked = { resolve, reject };
      if (this.#socket.destroyed) this.#fail('the server closed the connection');
      else this.#socket.write(request);
    });
  }

  close(): void {
    this.#asked = undefined;
    this.#socket.destroy();
  }

  #take(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#received += piece.length;
    if (this.#expected === undefined) this.#readHead();
    if (this.#expected === undefined || this.#received < this.#expected) return;
    if (this.#received > this.#expected) this.#fail(`more than one answer: ${this.#text()}`);
    else if (this.#status < 200 || this.#status > 299) this.#fail(this.#text());
    else this.#finish();
  }

  #readHead(): void {
    const bytes = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces);
    const end = bytes?.indexOf('\r\n\r\n') ?? -1;
    if (!bytes || end < 0) return;
    const head = bytes.toString('latin1', 0, end);
    this.#status = Number(head.slice(9, 12));
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    this.#expected = end + 4 + length;
    const isSuccess = this.#status >= 200 && this.#status <= 299;
    if (isSuccess && length < this.#bodyBytesMin) {
      this.#fail(`a body of ${length} bytes, fewer than ${this.#bodyBytesMin}\n${head}`);
    }
  }

  #finish(): void {
    const asked = this.#asked;
    this.#asked = undefined;
    this.#pieces = [];
    this.#received = 0;
    this.#expected = undefined;
    asked?.resolve();
  }

  #text(): string {
    return Buffer.concat(this.#pieces).toString();
  }

  #fail(why: string): void {
    const asked = this.#asked;
    this.#asked = undefined;
    asked?.reject(new Error(`An answer that must not be: ${why}`));
  }
}
