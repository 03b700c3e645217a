// The conflict resolution policy: which of two concurrent writes from different regions wins.
import {
  asChoice,
  asObject,
  asString,
  type Fields,
  field,
  refuse,
  refuseUnknown,
  shown,
} from './fields.js';
import { asPropertyPath } from './property-path.js';

export interface ConflictResolutionPolicy {
  readonly mode: ConflictResolutionMode;
  readonly conflictResolutionPath: string;
  readonly conflictResolutionProcedure: string;
}
export type ConflictResolutionMode = 'LastWriterWins' | 'Custom';

const MODES = ['LastWriterWins', 'Custom'] as const;
const WHERE = 'conflictResolutionPolicy';

export function readConflictResolution(
  value: unknown,
  absentMode: ConflictResolutionMode = 'LastWriterWins',
): ConflictResolutionPolicy {
  const fields = asObject(value ?? {}, WHERE);
  const mode = asChoice(field(fields, 'mode') ?? absentMode, `${WHERE}.mode`, MODES);
  const path = readText(fields, 'conflictResolutionPath');
  const procedure = readText(fields, 'conflictResolutionProcedure');
  refuseUnknown(fields, WHERE, ['mode', 'conflictResolutionPath', 'conflictResolutionProcedure']);
  if (mode === 'Custom') {
    if (path !== '') throw meaningless('conflictResolutionPath', path, mode);
    return { mode, conflictResolutionPath: '', conflictResolutionProcedure: procedure };
  }
  if (procedure !== '') throw meaningless('conflictResolutionProcedure', procedure, mode);
  if (path !== '') asPropertyPath(path, `${WHERE}.conflictResolutionPath`);
  return { mode, conflictResolutionPath: path || '/_ts', conflictResolutionProcedure: '' };
}

/** A replacement may choose another path or procedure, but not another way to resolve. */
export function keepConflictResolution(
  value: unknown,
  current: ConflictResolutionPolicy,
): ConflictResolutionPolicy {
  if (value === undefined) return current;
  const given = readConflictResolution(value, current.mode);
  if (given.mode === current.mode) return given;
  throw refuse(
    `The mode of the conflict resolution policy cannot be changed: it is ${current.mode}, ` +
      `the replacement says ${given.mode}.`,
  );
}

function readText(fields: Fields, name: string): string {
  return asString(field(fields, name) ?? '', `${WHERE}.${name}`);
}

function meaningless(name: string, value: string, mode: ConflictResolutionMode) {
  return refuse(`'${WHERE}.${name}' is ${shown(value)}; it must be empty with the mode ${mode}.`);
}
