// Paths as a tree whose nodes know what stands for them in keys: a document is walked without
// spelling out or hashing any of its paths again.
import { murmur128 } from '../../value/murmur.js';
import type { IndexPath } from '../indexing.js';

/** Beyond this many known paths they are forgotten and learned anew. */
const NODES_MAX = 20_000;
/** Names may hold any character, so each is written with its length. */
const NAME = 'n';
const ELEMENT = '[]';

export class PathNode {
  /** The first bytes of a hash of the path, as two numbers. */
  readonly high: number;
  readonly low: number;
  readonly isRoot: boolean;
  /** Elements of an array share a path. */
  readonly isInArray: boolean;
  readonly #text: string;
  readonly #members = new Map<string, PathNode>();
  #element: PathNode | undefined;

  constructor(text: string, isInArray: boolean) {
    // In UTF-8 all lone surrogates would be one character.
    const bytes = Buffer.from(text, 'utf16le');
    const { first } = murmur128(bytes, bytes.length);
    this.high = first.high >>> 0;
    this.low = first.low >>> 0;
    this.isRoot = text === '';
    this.isInArray = isInArray;
    this.#text = text;
    nodes += 1;
  }

  member(name: string): PathNode {
    const known = this.#members.get(name);
    if (known !== undefined) return known;
    const made = new PathNode(`${this.#text}${NAME}${name.length}:${name}`, this.isInArray);
    this.#members.set(name, made);
    return made;
  }

  element(): PathNode {
    this.#element ??= new PathNode(this.#text + ELEMENT, true);
    return this.#element;
  }
}

let nodes = 0;
let root = new PathNode('', false);

export function rootPath(): PathNode {
  if (nodes > NODES_MAX) {
    nodes = 0;
    root = new PathNode('', false);
  }
  return root;
}

export function nodeAt(path: IndexPath): PathNode {
  let node = rootPath();
  for (const step of path) node = step === null ? node.element() : node.member(step);
  return node;
}
