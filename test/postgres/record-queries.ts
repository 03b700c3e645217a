// Loaded into the processes of other tests (--import): notes the queries they send, one JSON text
// per line, in the file that MAYFLY_RECORD names.
import { appendFileSync } from 'node:fs';
import { ClientRequest } from 'node:http';

const file = process.env.MAYFLY_RECORD;

function note(chunk: unknown): void {
  if (file === undefined || (typeof chunk !== 'string' && !(chunk instanceof Uint8Array))) return;
  const text = Buffer.from(chunk as string).toString();
  if (/^\s*\{\s*"query"\s*:/.test(text)) appendFileSync(file, `${text.replaceAll('\n', ' ')}\n`);
}

for (const name of ['write', 'end'] as const) {
  const original = ClientRequest.prototype[name] as (...args: unknown[]) => unknown;
  Object.defineProperty(ClientRequest.prototype, name, {
    configurable: true,
    writable: true,
    value(this: ClientRequest, ...args: unknown[]) {
      note(args[0]);
      return original.apply(this, args);
    },
  });
}
