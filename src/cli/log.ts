// Log lines: JSON, one event each, for machines. People at a terminal get the banner and plain
// text.
import type { Log, LogLevel } from '../options.js';

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export function jsonLog(least: LogLevel, write: (line: string) => void, now: () => string): Log {
  return (level, event, fields = {}) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return;
    write(JSON.stringify({ time: now(), level, event, ...plain(fields) }));
  };
}

export function textLog(least: LogLevel, write: (line: string) => void): Log {
  return (level, event, fields = {}) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return;
    const details = Object.entries(plain(fields)).map(
      ([name, value]) => `${name}=${String(value)}`,
    );
    write(`${level}: ${event} ${details.join(' ')}`.trimEnd());
  };
}

function plain(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const shown = (value: unknown) =>
    value instanceof Error ? (value.stack ?? value.message) : value;
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, shown(value)]));
}
