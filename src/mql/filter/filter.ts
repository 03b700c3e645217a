// A filter, ready to be asked about raw documents.
import { decodeDocument } from '../../value/bson/read.js';
import type { Bytes, Document } from '../../value/bson/value.js';
import type { Language } from '../language.js';
import { type Score, scoreOf } from '../text.js';
import { compileNode } from './compile.js';
import { type Distance, distanceOf } from './geo.js';
import { parseFilter } from './parse.js';
import { forgetPosition, lastPosition } from './path.js';
import type { Node } from './tree.js';

export interface CompiledFilter {
  /** Takes the bytes of a document that has passed validation. */
  readonly matches: (document: Bytes) => boolean;
  /** The place in the array that made the document match: what a positional `$` stands for. */
  readonly position: (document: Bytes) => number | undefined;
  /** Of `$near`: how far a document is away; the results are sorted by it unless told otherwise. */
  readonly distance: Distance | undefined;
  /** Of `$text`: what `{ $meta: "textScore" }` tells. */
  readonly textScore: Score | undefined;
  readonly tree: Node;
}

export function compileFilter(filter: Document | Bytes, language: Language): CompiledFilter {
  const document = filter instanceof Map ? filter : decodeDocument(filter);
  const tree = parseFilter(document, language);
  const test = compileNode(tree);
  return {
    matches: (document) => test(document, 0),
    position: (document) => {
      forgetPosition();
      if (!test(document, 0)) return undefined;
      const position = lastPosition();
      return position < 0 ? undefined : position;
    },
    distance: distanceOf(tree),
    textScore: scoreOf(document, language),
    tree,
  };
}
