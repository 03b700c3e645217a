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

const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'DELETE', 'PATCH']);
const VERSION = ' HTTP/1.1';
const TARGET = /^\/[\x21-\x7e]*$/;
const LENGTH = /^\d{1,9}$/;
/** These change how a message is framed or how the connection goes on. */
const SPECIAL: ReadonlySet<string> = new Set([
  ...['transfer-encoding', 'expect', 'upgrade', 'te', 'trailer', 'http2-settings'],
  ...['proxy-connection'],
]);

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const COLON = 0x3a;
const DELETE = 0x7f;

/**
 * Reads the text of single bytes up to `end`, where the empty line begins: behind the line end of
 * the last field. Undefined for what is not for this parser.
 */
export function parseHead(text: string, end: number): Head | undefined {
  const lineEnd = text.indexOf('\r\n');
  const methodEnd = text.indexOf(' ');
  const targetEnd = lineEnd - VERSION.length;
  if (methodEnd < 0 || targetEnd <= methodEnd || !text.startsWith(VERSION, targetEnd)) {
    return undefined;
  }
  const method = text.slice(0, methodEnd);
  const target = text.slice(methodEnd + 1, targetEnd);
  if (!METHODS.has(method) || !TARGET.test(target)) return undefined;
  const headers = parseFields(text, lineEnd + 2, end);
  if (headers === undefined || headers.host === undefined) return undefined;
  const { connection, 'content-length': length = '0' } = headers;
  if (connection !== undefined && connection.toLowerCase() !== 'keep-alive') return undefined;
  if (!LENGTH.test(length)) return undefined;
  return { method, target, headers, bodyBytes: Number(length) };
}

/** One pass over the characters: they are checked, and fields and their names end where seen. */
function parseFields(text: string, start: number, end: number): IncomingHttpHeaders | undefined {
  const headers: Record<string, string> = {};
  let fieldStart = start;
  let colon = -1;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === COLON && colon < 0) colon = at;
    if ((code >= SPACE && code !== DELETE) || code === TAB) continue;
    if (code !== CR || text.charCodeAt(at + 1) !== LF || colon < 0) return undefined;
    const name = nameOf(text.slice(fieldStart, colon));
    // How two fields of one name are joined depends on the name, which Node's parser knows.
    if (name === undefined || headers[name] !== undefined) return undefined;
    headers[name] = trimmed(text, colon + 1, at);
    fieldStart = at + 2;
    colon = -1;
    at += 1;
  }
  return fieldStart === end ? headers : undefined;
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

const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const NAMES_MAX = 500;
const names = new Map<string, string>();

/** Clients send the same names again and again, so each is checked and lowered once. */
function nameOf(given: string): string | undefined {
  const known = names.get(given);
  if (known !== undefined) return known;
  const lower = given.toLowerCase();
  if (!NAME.test(lower) || SPECIAL.has(lower)) return undefined;
  if (names.size < NAMES_MAX) names.set(given, lower);
  return lower;
}
