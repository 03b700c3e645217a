// Guards the control API against web pages: a name rebound to this machine's address, and requests
// that a browser sends on behalf of another site. Programs that are no browsers send neither Origin
// nor Sec-Fetch-Site.
import type { IncomingHttpHeaders } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';
import { failure } from '../value/errors.js';

/** Refuses with foreignHost or foreignOrigin; `allowedHosts` are names without a port. */
export function checkHost(headers: IncomingHttpHeaders, allowedHosts: readonly string[]): void {
  const authority = headers[':authority'] ?? headers.host;
  const given = typeof authority === 'string' ? authority : '';
  const address = parseAuthority(given);
  if (address === undefined || !isOurs(address.name, allowedHosts)) {
    throw failure('foreignHost', { host: address?.name ?? given });
  }
  const { origin } = headers;
  if (origin !== undefined && !isSameOrigin(origin, address)) {
    throw failure('foreignOrigin', { origin });
  }
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    throw failure('foreignOrigin', { origin: origin ?? String(site) });
  }
}

/** `port` is absent when the text names none and the scheme decides. */
interface Address {
  readonly name: string;
  readonly port: number | undefined;
}

/**
 * authority = ( "[" IPv6 "]" | name ) [ ":" port ]; anything else, such as a user name, is refused.
 */
const AUTHORITY = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/;
const ORIGIN = /^(https?):\/\/(.+)$/;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 };

function parseAuthority(text: string): Address | undefined {
  const found = AUTHORITY.exec(text.toLowerCase());
  if (found === null) return undefined;
  const [, ipv6, plainName, port] = found;
  const name = ipv6 ?? plainName;
  if (name === undefined || (ipv6 !== undefined && !isIPv6(ipv6))) return undefined;
  return { name, port: port === undefined ? undefined : Number(port) };
}

/** An IP address is safe, because rebinding needs a name whose owner can change where it points. */
function isOurs(name: string, allowedHosts: readonly string[]): boolean {
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  if (isIPv4(name) || isIPv6(name)) return true;
  return allowedHosts.some((allowed) => allowed.toLowerCase() === name);
}

/** The scheme is not compared: one port speaks both, so either leads back to this server. */
function isSameOrigin(origin: string, host: Address): boolean {
  const [, scheme = '', authority = ''] = ORIGIN.exec(origin.toLowerCase()) ?? [];
  const from = parseAuthority(authority);
  if (from === undefined || from.name !== host.name) return false;
  const defaultPort = DEFAULT_PORTS[scheme];
  return (from.port ?? defaultPort) === (host.port ?? defaultPort);
}
