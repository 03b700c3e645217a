// The head of an HTTP/1.1 request, read strictly. Only what every parser reads in the same way is
// taken: whatever is unusual, doubtful or wrong is left to Node's parser, which knows the rules and
// says what is broken. So this one may be simple, and cannot be tricked into another reading.
//
//   head    = method SP target SP "HTTP/1.1" CRLF *( field CRLF )
//   target  = "/" *VCHAR
//   field   = name ":" *( SP / TAB ) value *( SP / TAB )
//   value   = *( VCHAR / SP / TAB / %x80-FF )
import type { IncomingHttpHeaders } from 'node:http';

export interface Head {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** Bytes that follow the head. */
  readonly bodyBytes: number;
}

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'] as const;
const VERSION = ' HTTP/1.1';
const TARGET = /^\/[\x21-\x7e]*$/;
const LENGTH = /^\d{1,9}$/;
/** These change how a message is framed or how the connection goes on. */
const SPECIAL: ReadonlySet<string> = new Set([
  ...['transfer-encoding', 'expect', 'upgrade', 'te', 'trailer', 'http2-settings'],
  ...['proxy-connection'],
]);

/** Control characters, line ends among them. */
const FORBIDDEN = /[^\t\x20-\x7e\x80-\xff]/;
const TAB = 0x09;
const SPACE = 0x20;

/**
 * Reads the text of single bytes up to `end`, where the empty line begins: behind the line end of
 * the last field. Undefined for what is not for this parser.
 */
export function parseHead(text: string, end: number): Head | undefined {
  const method = methodOf(text);
  const lineEnd = text.indexOf('\r\n');
  const targetEnd = lineEnd - VERSION.length;
  if (method === undefined || !text.startsWith(VERSION, targetEnd)) return undefined;
  const target = text.slice(method.length + 1, targetEnd);
  if (!TARGET.test(target)) return undefined;
  const headers = parseFields(text, lineEnd + 2, end);
  if (headers === undefined || headers.host === undefined) return undefined;
  const { connection, 'content-length': length = '0' } = headers;
  if (connection !== undefined && connection.toLowerCase() !== 'keep-alive') return undefined;
  if (!LENGTH.test(length)) return undefined;
  return { method, target, headers, bodyBytes: Number(length) };
}

function methodOf(text: string): string | undefined {
  for (const method of METHODS) {
    if (text.startsWith(method) && text.charCodeAt(method.length) === SPACE) return method;
  }
  return undefined;
}

function parseFields(text: string, start: number, end: number): IncomingHttpHeaders | undefined {
  const headers: Record<string, string> = {};
  heads += 1;
  if (fields.size > FIELDS_MAX) fields.clear();
  for (let at = start; at < end; ) {
    const colon = text.indexOf(':', at);
    const field = colon < 0 ? undefined : fieldOf(text.slice(at, colon));
    // How two fields of one name are joined depends on the name, which Node's parser knows.
    if (field === undefined || field.seenIn === heads) return undefined;
    field.seenIn = heads;
    const from = text.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1;
    let to = from + field.last.length;
    // Clients send most values again and again; one that was read before is not looked at again.
    if (!text.startsWith(field.last, from) || !text.startsWith('\r\n', to)) {
      to = text.indexOf('\r\n', colon);
      const value = trimmed(text, from, to);
      if (FORBIDDEN.test(value)) return undefined;
      field.last = value;
    }
    headers[field.name] = field.last;
    at = to + 2;
  }
  return headers;
}

function trimmed(text: string, start: number, end: number): string {
  let from = start;
  let to = end;
  while (from < to && isBlank(text.charCodeAt(from))) from++;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

/** A header that clients send, its last value, and the last head it was in. */
interface Field {
  readonly name: string;
  last: string;
  seenIn: number;
}
let heads = 0;

const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const FIELDS_MAX = 500;
/** By their names in lower case, and as clients write them. */
const fields = new Map<string, Field>();

/** Each name is checked and lowered once. */
function fieldOf(given: string): Field | undefined {
  const known = fields.get(given);
  if (known !== undefined) return known;
  const name = given.toLowerCase();
  if (!NAME.test(name) || SPECIAL.has(name)) return undefined;
  const field = fields.get(name) ?? { name, last: '', seenIn: 0 };
  fields.set(name, field).set(given, field);
  return field;
}
