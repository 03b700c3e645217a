// The floor of the MongoDB face: the least a Node server can do for a message. It answers each with
// the same reply that Mayfly gave, and looks at nothing but lengths.
import { createServer } from 'node:net';
import { answerCalls, listenAnywhere } from './child.js';

answerCalls({ serve });

async function serve({ reply }: { readonly reply: string }): Promise<number> {
  const bytes = Buffer.from(reply, 'base64');
  const server = createServer({ noDelay: true }, (socket) => {
    let pending = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      while (pending.length >= 4 && pending.length >= pending.readInt32LE(0)) {
        const answer = Buffer.from(bytes);
        answer.writeInt32LE(pending.readInt32LE(4), 8);
        pending = pending.subarray(pending.readInt32LE(0));
        socket.write(answer);
      }
    });
  });
  return listenAnywhere(server);
}
