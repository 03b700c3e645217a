// The address of a request: which kinds of resources its path walks through, and their names.
//
//   /dbs/shop/colls/carts/docs/7   ->   shape "dbs/*/colls/*/docs/*", names ["shop", "carts", "7"]
//   /dbs/shop/colls/carts/docs     ->   shape "dbs/*/colls/*/docs",   names ["shop", "carts"]
import { failure } from '../value/errors.js';

export interface Address {
  readonly path: string;
  readonly shape: string;
  /** The kind of the last resource, which signatures and feeds go by: "docs" in both examples. */
  readonly type: string;
  readonly names: readonly string[];
  /** What a signature covers: the path of the resource itself, of its parent for a feed. */
  readonly link: string;
}

const SEGMENTS_MAX = 12;

/** There is no query string: `?` is a legal character of names and arrives as it is. */
export function parseAddress(url: string): Address {
  const path = withoutOuterSlashes(url);
  if (path === '') return { path: '', shape: '', type: '', names: [], link: '' };
  const segments = path.split('/');
  if (segments.length > SEGMENTS_MAX) throw failure('invalidPath', { path: `/${path}` });
  const names: string[] = [];
  let type = '';
  let shape = '';
  let link = '';
  // Every request comes through here, so texts grow in place instead of being gathered and joined.
  for (let index = 0; index < segments.length; index++) {
    const segment = segments[index] as string;
    if (index % 2 === 0) {
      type = segment;
      shape = index === 0 ? segment : `${shape}/${segment}`;
    } else {
      const name = decodeSegment(segment, path);
      names.push(name);
      shape += '/*';
      link = link === '' ? `${type}/${name}` : `${link}/${type}/${name}`;
    }
  }
  return { path, shape, type, names, link };
}

/** By hand: a regular expression would try the end anew at every slash of a long run. */
function withoutOuterSlashes(url: string): string {
  let start = 0;
  let end = url.length;
  while (url[start] === '/') start++;
  while (end > start && url[end - 1] === '/') end--;
  return url.slice(start, end);
}

function decodeSegment(segment: string, path: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw failure('invalidPath', { path: `/${path}` });
  }
}
