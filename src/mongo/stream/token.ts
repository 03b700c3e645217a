// Where a change stream stands, as a token that clients hand back: it names a place in the changes
// of every collection, so nothing is lost or told twice, whichever of them was ahead.
//
//   12 hex digits  the latest instant of what was told, so that tokens sort as the events came
//    8             how many events were told at that instant
//    1             0; 1 after an event that ends the stream; 2 of the end itself
//    8             the number of the last event of collections themselves
//   then for each collection:
//   12             the beginning of its id in the engine
//   10             lsn
//    6             how many events of that lsn were passed; ffffff: all of them
import type { Lsn } from '../../engine/engine.js';
import { mongoFailure } from '../../value/mongo-errors.js';

export interface Place {
  readonly lsn: Lsn;
  /** How many events of that lsn have been passed, less one. */
  readonly passed: number;
}
export type Ending = 'none' | 'due' | 'told';

export interface Position {
  readonly horizon: number;
  readonly sequence: number;
  readonly ending: Ending;
  /** The number of the last event of collections themselves. */
  readonly event: number;
  /** By the short names of their containers. */
  readonly places: ReadonlyMap<string, Place>;
}

export const ALL = 0xffffff;
export const START: Place = { lsn: 0, passed: ALL };
const ENDINGS: readonly Ending[] = ['none', 'due', 'told'];
const HEAD = /^([0-9a-f]{12})([0-9a-f]{8})([012])([0-9a-f]{8})((?:[0-9a-f]{28})*)$/;
const PLACE = /(.{12})(.{10})(.{6})/g;
/** As many collections as there can be, and some. */
const TOKEN_LENGTH_MAX = 29 + 28 * 2000;

/** Of the id of a container in the engine. */
export function shortName(engine: string): string {
  return engine.replaceAll('-', '').slice(0, 12);
}

export function tokenOf({ horizon, sequence, ending, event, places }: Position): string {
  const head = hex(horizon, 12) + hex(sequence, 8) + ENDINGS.indexOf(ending) + hex(event, 8);
  let rest = '';
  for (const [name, { lsn, passed }] of places) rest += name + hex(lsn, 10) + hex(passed, 6);
  return head + rest;
}

export function positionOf(token: string): Position {
  const [, horizon = '', sequence = '', ending = '', event = '', rest = ''] =
    (token.length <= TOKEN_LENGTH_MAX && HEAD.exec(token)) || [];
  if (horizon === '') {
    throw mongoFailure('InvalidResumeToken', `The resume token '${token.slice(0, 100)}' is none`);
  }
  const places = new Map<string, Place>();
  for (const [, name = '', lsn = '', passed = ''] of rest.matchAll(PLACE)) {
    places.set(name, { lsn: number(lsn), passed: number(passed) });
  }
  return {
    horizon: number(horizon),
    sequence: number(sequence),
    ending: ENDINGS[Number(ending)] as Ending,
    event: number(event),
    places,
  };
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

function number(digits: string): number {
  return Number.parseInt(digits, 16);
}
