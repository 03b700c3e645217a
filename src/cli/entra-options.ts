// The options of `mayfly start` about Entra tokens, which belong together.
import { readFileSync } from 'node:fs';
import type { StartOptions } from '../options.js';
import { UsageError } from './usage-error.js';

const DETAILS = ['keys', 'issuer', 'audience', 'contributor', 'reader'] as const;

export function entraOptions(
  values: ReadonlyMap<string, readonly string[]>,
): StartOptions['entra'] {
  const mode = values.get('entra')?.at(-1) ?? 'off';
  if (mode !== 'off' && mode !== 'accept' && mode !== 'verify') {
    throw new UsageError(`--entra wants off or accept or verify, not '${mode}'.`);
  }
  if (mode !== 'verify') {
    const given = DETAILS.find((name) => values.has(`entra-${name}`));
    if (given) throw new UsageError(`--entra-${given} has no effect without --entra verify.`);
    return mode;
  }
  const file = values.get('entra-keys')?.at(-1);
  if (file === undefined) throw new UsageError('--entra verify needs --entra-keys FILE.');
  const list = (name: (typeof DETAILS)[number]) => values.get(`entra-${name}`) ?? [];
  return {
    keys: readerOf(file),
    issuers: list('issuer'),
    audiences: list('audience'),
    contributors: list('contributor'),
    readers: list('reader'),
  };
}

/** Read at once, so that a file that cannot be read is told as such, and again when keys change. */
function readerOf(file: string): () => string {
  const read = () => readFileSync(file, 'utf8');
  try {
    read();
  } catch (error) {
    throw new UsageError(`--entra-keys: ${error instanceof Error ? error.message : String(error)}`);
  }
  return read;
}
