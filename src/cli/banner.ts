// What a person at a terminal sees when the server is up.
import type { Mayfly, StartOptions } from '../main.js';
import { VERSION } from '../version.js';

export function banner(server: Mayfly, options: StartOptions): string {
  const { cosmos, connectionString, clock, mongo } = server;
  const both = options.tls === 'auto' ? `  (and ${cosmos.replace('http:', 'https:')})` : '';
  const control = `${cosmos}_mayfly/`;
  return `
  Mayfly ${VERSION}

  Endpoint    ${cosmos}${both}
  Connection  ${connectionString}
  MongoDB     ${mongo ?? 'off'}
  Data        ${options.store === undefined ? (options.data ?? '') : withoutPassword(options.store)}
  Clock       ${clock.mode}${clock.mode === 'virtual' ? `  (move it with POST ${control}clock)` : ''}
  Control     ${control}health

  Ctrl-C stops.
`;
}

/** The address of a server that wants a password, for screens and logs. */
export function withoutPassword(address: string): string {
  const url = new URL(address);
  if (url.password !== '') url.password = '***';
  return url.href;
}
