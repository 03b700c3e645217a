// Positions come back from clients inside continuation tokens, so their form is checked.
import type { Resume } from '../engine/engine.js';
import type { Position } from './page.js';

export function isPosition(value: unknown): value is Position {
  if (typeof value !== 'object' || value === null) return false;
  const position = value as Readonly<Record<string, unknown>>;
  if (!isCount(position.offset)) return false;
  if (position.limit !== undefined && !isCount(position.limit)) return false;
  if (position.taken !== undefined && !isCount(position.taken)) return false;
  switch (position.way) {
    case 'stream':
      return (
        isCount(position.skip) &&
        isCount(position.skipOf) &&
        (position.resume === undefined || isText(position.resume))
      );
    case 'sorted':
      return isText(position.identity) && isKeys(position.keys);
    case 'ranked':
      return isCount(position.passed);
    case 'groups':
      return isText(position.identity);
    default:
      return false;
  }
}

/** The engine's part of a position, where there is one. */
export function resumeIn(position: Position | undefined): Resume | undefined {
  if (position?.way !== 'stream' || position.resume === undefined) return undefined;
  return Buffer.from(position.resume, 'base64') as unknown as Resume;
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isKeys(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText);
}
