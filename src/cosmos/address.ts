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
  /** Another kind that some clients sign as. */
  readonly otherType?: string;
}

const SEGMENTS_MAX = 12;

/** There is no query string: `?` is a legal character of names and arrives as it is. */
export function parseAddress(url: string): Address {
  const path = withoutOuterSlashes(url);
  if (path === '') return { path: '', shape: '', type: '', names: [], link: '' };
  const nameStart = path.lastIndexOf('/') + 1;
  const feed = feeds.get(path.slice(0, nameStart));
  if (feed !== undefined) return inFeed(feed, path, nameStart);
  const segments = path.split('/');
  if (segments.length > SEGMENTS_MAX) throw failure('invalidPath', { path: `/${path}` });
  if (segments.length % 2 === 1) return parseFeed(segments, path);
  return inFeed(parseFeed(segments.slice(0, -1), path), path, nameStart);
}

const FEEDS_MAX = 1000;
const FEED_LENGTH_MAX = 1000;
/** Programs ask for many items of few containers: all but the id is worked out once. */
const feeds = new Map<string, Address>();

/** The address of a resource in a feed, whose own address is known. */
function inFeed(feed: Address, path: string, nameStart: number): Address {
  const { type } = feed;
  if (feed.shape === OPERATIONS) return operationOn(feed, path, nameStart);
  const name = decodeSegment(path.slice(nameStart), path);
  const start = feed.link === '' ? type : `${feed.link}/${type}`;
  return {
    path,
    shape: `${feed.shape}/*`,
    type,
    names: [...feed.names, name],
    link: `${start}/${name}`,
  };
}

const OPERATIONS = 'dbs/*/colls/*/operations';

/**
 * An operation is no resource: it is signed as a request to its container, or to what .NET calls a
 * partition key.
 */
function operationOn(feed: Address, path: string, nameStart: number): Address {
  const shape = `${OPERATIONS}/${path.slice(nameStart)}`;
  const { names, link } = feed;
  return { path, shape, type: 'colls', names, link, otherType: 'partitionkey' };
}

/** Segments end in a kind; errors tell the whole path. */
function parseFeed(segments: readonly string[], whole: string): Address {
  const names: string[] = [];
  const shape: string[] = [];
  const link: string[] = [];
  segments.forEach((segment, index) => {
    if (index % 2 === 0) {
      shape.push(segment);
      if (index < segments.length - 1) link.push(segment);
      return;
    }
    const name = decodeSegment(segment, whole);
    if (name === '') throw failure('invalidPath', { path: `/${whole}` });
    names.push(name);
    shape.push('*');
    link.push(name);
  });
  const path = segments.join('/');
  const type = segments.at(-1) ?? '';
  const feed = { path, shape: shape.join('/'), type, names, link: link.join('/') };
  if (path.length <= FEED_LENGTH_MAX) {
    if (feeds.size >= FEEDS_MAX) feeds.clear();
    feeds.set(`${path}/`, feed);
  }
  return feed;
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
