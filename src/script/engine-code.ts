// The code of the JavaScript engine, compiled once for all threads: what one of them has made fast
// is fast for the next one, too.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

/** The libraries that we compile with do not have it. */
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<EngineCode> };

/** A WebAssembly.Module. */
export type EngineCode = object & { readonly __opaque: 'engine code' };

const FILE = '@jitl/quickjs-wasmfile-release-sync/wasm';
let compiled: Promise<EngineCode> | undefined;

export function engineCode(): Promise<EngineCode> {
  compiled ??= readFile(createRequire(import.meta.url).resolve(FILE)).then((bytes) =>
    WebAssembly.compile(bytes),
  );
  return compiled;
}
