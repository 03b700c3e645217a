// The open connections of a port, and how they end: answers in flight are finished, the rest is
// closed.
import type { Server, Socket } from 'node:net';
import { answerOn } from './client-error.js';
import type { Lane } from './lane.js';
import type { Speaker } from './speaker.js';

export class Connections {
  readonly #sockets = new Set<Socket>();
  readonly #lanes = new Map<Socket, Lane>();
  readonly #speakers: Speaker[] = [];
  #drained: Promise<void> | undefined;

  get draining(): boolean {
    return this.#drained !== undefined;
  }

  /** A server that answers on the connections. */
  addSpeaker(speaker: Speaker): void {
    this.#speakers.push(speaker);
    // A TLS connection counts twice: only its inner socket tells whether a request has begun.
    speaker.on('secureConnection', (socket: Socket) => this.#add(socket));
  }

  /** The server that accepts the connections. */
  watch(front: Server): void {
    front.on('connection', (socket: Socket) => this.#add(socket));
  }

  enterLane(socket: Socket, lane: Lane): void {
    this.#lanes.set(socket, lane);
  }

  leaveLane(socket: Socket): void {
    this.#lanes.delete(socket);
  }

  drain(front: Server, deadline: Promise<unknown>): Promise<void> {
    this.#drained ??= this.#finish(front, deadline);
    return this.#drained;
  }

  #add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#lanes.delete(socket);
    });
  }

  async #finish(front: Server, deadline: Promise<unknown>): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      front.close(() => resolve());
    });
    // Closing a server closes its idle connections, and only those.
    for (const speaker of this.#speakers) speaker.close();
    for (const socket of this.#sockets) {
      const lane = this.#lanes.get(socket);
      if (lane) lane.windDown();
      else windDown(socket);
    }
    await Promise.race([closed, deadline.catch(() => undefined)]);
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

/** Ends a connection that has not begun, and lets one with an answer in progress end after it. */
function windDown(socket: Socket): void {
  const answer = answerOn(socket);
  // Node counts a connection that has not sent anything yet as busy, but nobody waits for it.
  if (socket.bytesRead === 0) socket.destroy();
  else if (answer?.headersSent) answer.once('finish', () => socket.destroySoon());
  else if (answer !== undefined) answer.shouldKeepAlive = false;
}
