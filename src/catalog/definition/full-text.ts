// Full-text search: the policy says which properties hold prose and in what language; the indexes
// speed it up.
import {
  asList,
  asObject,
  clip,
  field,
  firstRepeated,
  present,
  refuse,
  refuseUnknown,
  shown,
} from './fields.js';
import { parsePropertyPath, propertyPathKey } from './property-path.js';

export interface FullTextPath {
  readonly path: string;
  readonly language?: string;
}
export interface FullTextPolicy {
  readonly defaultLanguage: string;
  readonly fullTextPaths?: readonly FullTextPath[];
}
export interface FullTextIndex {
  readonly path: string;
}

const LANGUAGES = ['en-US', 'de-DE', 'es-ES', 'fr-FR', 'it-IT', 'pt-BR', 'pt-PT'];

export function readFullTextPolicy(value: unknown): FullTextPolicy | undefined {
  if (value === undefined) return undefined;
  const fields = asObject(value, 'fullTextPolicy');
  const defaultLanguage = readLanguage(field(fields, 'defaultLanguage'));
  const paths = field(fields, 'fullTextPaths');
  const fullTextPaths = paths === undefined ? undefined : readPaths(paths);
  refuseUnknown(fields, 'fullTextPolicy', ['defaultLanguage', 'fullTextPaths']);
  return present({ defaultLanguage, fullTextPaths });
}

export function readFullTextIndexes(
  value: unknown,
  policy: FullTextPolicy | undefined,
): readonly FullTextIndex[] {
  const where = 'indexingPolicy.fullTextIndexes';
  const known = new Set(policy?.fullTextPaths?.map(({ path }) => pathKey(path)));
  const indexes = asList(value, where).map((entry, at) => {
    const index = readIndex(entry, where, at);
    if (known.has(pathKey(index.path))) return index;
    throw refuse(
      `The path of the Full Text Index ${clip(index.path)} does not match the path specified ` +
        'in the Full Text Policy.',
    );
  });
  const repeated = firstRepeated(indexes, ({ path }) => pathKey(path) ?? '');
  if (repeated === undefined) return indexes;
  throw refuse(`The path '${clip(repeated.path)}' appears twice in '${where}'.`);
}

function readPaths(value: unknown): readonly FullTextPath[] {
  const where = 'fullTextPolicy.fullTextPaths';
  const paths = asList(value, where).map((entry, at) => readPath(entry, `${where}[${at}]`));
  const repeated = firstRepeated(paths, ({ path }) => pathKey(path) ?? '');
  if (repeated === undefined) return paths;
  throw refuse(`The Full Text Policy contains a duplicate Path: ${clip(repeated.path)}.`);
}

/** A path without a language speaks the default one. */
function readPath(value: unknown, where: string): FullTextPath {
  const fields = asObject(value, where);
  const path = field(fields, 'path');
  if (typeof path !== 'string' || pathKey(path) === undefined) {
    const word = typeof path === 'string' ? clip(path) : shown(path);
    throw refuse(`The Full Text Policy contains an invalid Path: ${word}.`);
  }
  const given = field(fields, 'language');
  const language = given === undefined ? undefined : readLanguage(given);
  refuseUnknown(fields, where, ['path', 'language']);
  return present({ path, language });
}

function readLanguage(value: unknown): string {
  const language = LANGUAGES.find((known) => known === value);
  if (language !== undefined) return language;
  const word = typeof value === 'string' ? clip(value) : shown(value);
  throw refuse(
    `The Full Text Policy contains an unsupported language ${word}. ` +
      `Supported languages are: ${LANGUAGES.join(', ')}.`,
  );
}

function readIndex(value: unknown, where: string, at: number): FullTextIndex {
  const fields = asObject(value, `${where}[${at}]`);
  const path = field(fields, 'path');
  if (path === undefined) {
    throw refuse(`Missing path in full-text index specification at index (${at}).`);
  }
  if (typeof path !== 'string' || pathKey(path) === undefined) {
    throw refuse(
      `Full-text index specification at index (${at}) contains invalid path ${shown(path)}.`,
    );
  }
  refuseUnknown(fields, `${where}[${at}]`, ['path']);
  return { path };
}

/** Undefined for a text that is no path to one property. */
function pathKey(text: string): string | undefined {
  const path = parsePropertyPath(text);
  return 'failedAt' in path ? undefined : propertyPathKey(path);
}
