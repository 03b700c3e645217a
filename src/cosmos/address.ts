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
  const shape: string[] = [];
  const names: string[] = [];
  segments.forEach((segment, index) => {
    if (index % 2 === 0) {
      shape.push(segment);
      return;
    }
    shape.push('*');
    names.push(decodeSegment(segment, path));
  });
  const isFeed = segments.length % 2 === 1;
  const type = segments[isFeed ? segments.length - 1 : segments.length - 2] ?? '';
  const link = names.map((name, index) => `${segments[index * 2]}/${name}`).join('/');
  return { path, shape: shape.join('/'), type, names, link };
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
