// The data folder, made where there is none, and what is wrong where it cannot be.
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

export function makeFolder(folder: string): void {
  toldOf(folder, () => make(resolve(folder)));
}

/** What the system says of a folder in a few letters, in words. */
export function toldOf<T>(folder: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const words = WORDS[(error as NodeJS.ErrnoException).code ?? ''];
    if (words === undefined) throw error;
    throw new Error(`The data folder ${folder} cannot be used: ${words}`, { cause: error });
  }
}

/** One by one: made at once, folders below one that takes none keep some systems busy for ever. */
function make(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) make(parent);
  try {
    mkdirSync(path);
  } catch (error) {
    // Another server may have made it meanwhile.
    if (!existsSync(path)) throw error;
  }
}

const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there. Choose another with --data, or change its permissions.',
  EPERM: 'the system does not permit it. Choose another with --data.',
  EROFS: 'that file system is read-only. Choose another with --data.',
  ENOSPC: 'no space is left on that disk. Make room, or choose another with --data.',
  ENOTDIR: 'a file is in its place. Choose another with --data.',
  ENOENT: 'that file system takes no folders. Choose another with --data.',
};
