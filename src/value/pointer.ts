// JSON pointers (RFC 6901): how a patch names a place in a document.
//
//   pointer = "/" name { "/" name }      ~1 in a name stands for `/`, ~0 for `~`
//
// The pointer to the whole document, the empty text, is none here: no patch may replace it.

export type Pointer = readonly [string, ...string[]];

/** The names on the way; undefined when the text does not follow the grammar. */
export function parsePointer(text: string): Pointer | undefined {
  if (!text.startsWith('/') || /~(?![01])/.test(text)) return undefined;
  const [first = '', ...rest] = text.slice(1).split('/').map(plainName);
  return [first, ...rest];
}

/** Whether a place is somewhere inside another, and not that place itself. */
export function isInside(place: Pointer, outer: Pointer): boolean {
  return place.length > outer.length && outer.every((name, index) => name === place[index]);
}

function plainName(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~');
}
