// Reads a store through the layers above it: what a layer holds hides what lies below. Where no
// layer has anything, reads go straight to the store.
import { successor } from './keys.js';
import { type Layer, nameOf, type Version } from './layer.js';
import type { Entry, Key, Reader, Slab } from './store.js';

/** So many entries of the store below are read at once while layers hide some of them. */
const READ_MAX = 1000;
/** Places further away are looked for by counting. */
const PLACES_WALKED = 64;

/** What is seen: the layers with the newest first, and up to which record. */
export interface View {
  readonly layers: readonly Layer[];
  readonly number: number;
}

export class Overlaid implements Reader {
  readonly #below: Reader;
  readonly #shown: { readonly view: View };

  constructor(below: Reader, shown: { readonly view: View }) {
    this.#below = below;
    this.#shown = shown;
  }

  get(key: Key): Uint8Array | undefined {
    const version = this.#find(key);
    return version ? version.value : this.#below.get(key);
  }

  getInto(slab: Slab, key: Key): Uint8Array | undefined {
    const version = this.#find(key);
    return version ? version.value : this.#below.getInto(slab, key);
  }

  has(key: Key): boolean {
    const version = this.#find(key);
    return version ? version.value !== undefined : this.#below.has(key);
  }

  range(from: Key, to: Key, limit: number): readonly Entry[] {
    const first = this.#first(from, to);
    const read = (start: Key, count: number) => this.#below.range(start, to, count);
    if (!first) return read(from, limit);
    const keyIn = ([key]: Entry) => key;
    const make = ({ key, value }: Version): Entry => [key, value as Uint8Array];
    return merge(first, from, limit, { read, keyIn, make, isBefore: up, behind: successor });
  }

  keys(from: Key, to: Key, limit: number): readonly Key[] {
    const first = this.#first(from, to);
    const read = (start: Key, count: number) => this.#below.keys(start, to, count);
    if (!first) return read(from, limit);
    const parts = { keyIn: itself, make: keyOf, isBefore: up, behind: successor };
    return merge(first, from, limit, { read, ...parts });
  }

  keysDown(from: Key, to: Key, limit: number): readonly Key[] {
    const first = this.#last(from, to);
    const read = (end: Key, count: number) => this.#below.keysDown(from, end, count);
    if (!first) return read(to, limit);
    // The end of a range is not part of it, so the last key read is the next end as it is.
    const parts = { keyIn: itself, make: keyOf, isBefore: down, behind: itself };
    return merge(first, to, limit, { read, ...parts });
  }

  keyAt(from: Key, to: Key, places: number): Key | undefined {
    if (!this.#first(from, to)) return this.#below.keyAt(from, to, places);
    if (places <= PLACES_WALKED) return this.keys(from, to, places + 1)[places];
    const guess = this.#below.keyAt(from, to, places);
    if (!guess) {
      const behind = this.count(from, to) - places;
      return behind > 0 ? this.keysDown(from, to, behind)[behind - 1] : undefined;
    }
    const more = this.#difference(from, guess);
    // Removed keys push the place further back, added ones pull it forward.
    if (more <= 0) return this.keyAt(guess, to, -more);
    return this.keysDown(from, guess, more)[more - 1];
  }

  count(from: Key, to: Key): number {
    return this.#below.count(from, to) + this.#difference(from, to);
  }

  /** How many keys more, or less, than the store below has. */
  #difference(from: Key, to: Key): number {
    let difference = 0;
    for (let each = this.#first(from, to); each; each = each.next()) {
      const { key, value } = each.version;
      const isBelow = this.#below.has(key);
      if (value !== undefined && !isBelow) difference += 1;
      if (value === undefined && isBelow) difference -= 1;
    }
    return difference;
  }

  #find(key: Key): Version | undefined {
    const { layers, number } = this.#shown.view;
    if (layers.length === 0) return undefined;
    const name = nameOf(key);
    for (const layer of layers) {
      const version = layer.find(name, number);
      if (version) return version;
    }
    return undefined;
  }

  #first(from: Key, to: Key): Step | undefined {
    const { layers, number } = this.#shown.view;
    if (layers.length === 0) return undefined;
    const [start, end] = [nameOf(from), nameOf(to)];
    const cursors = layers.map((layer) => {
      const cursor = layer.seek(start);
      const next = () => within(cursor.next(), (name) => name < end);
      return { layer, next, name: next() };
    });
    return stepOf(cursors, number, up);
  }

  #last(from: Key, to: Key): Step | undefined {
    const { layers, number } = this.#shown.view;
    if (layers.length === 0) return undefined;
    const [start, end] = [nameOf(from), nameOf(to)];
    const cursors = layers.map((layer) => {
      const cursor = layer.seek(end);
      const next = () => within(cursor.previous(), (name) => name >= start);
      return { layer, next, name: next() };
    });
    return stepOf(cursors, number, down);
  }
}

/** One key of the layers in its visible version, and the way to the next. */
interface Step {
  readonly name: string;
  readonly version: Version;
  next(): Step | undefined;
}
interface LayerCursor {
  readonly layer: Layer;
  name: string | undefined;
  next(): string | undefined;
}
type IsBefore = (a: string, b: string) => boolean;

function within(name: string | undefined, holds: (name: string) => boolean): string | undefined {
  return name !== undefined && holds(name) ? name : undefined;
}

function stepOf(
  cursors: readonly LayerCursor[],
  number: number,
  isBefore: IsBefore,
): Step | undefined {
  while (true) {
    let name: string | undefined;
    for (const cursor of cursors) {
      if (cursor.name === undefined) continue;
      if (name === undefined || isBefore(cursor.name, name)) name = cursor.name;
    }
    if (name === undefined) return undefined;
    let version: Version | undefined;
    for (const cursor of cursors) {
      if (cursor.name !== name) continue;
      version ??= cursor.layer.find(name, number);
      cursor.name = cursor.next();
    }
    // A key that came after the view is none of it.
    if (version) return { name, version, next: () => stepOf(cursors, number, isBefore) };
  }
}

/** How the store below is read, and what the result is made of. */
interface Reading<T> {
  readonly isBefore: IsBefore;
  read(place: Key, count: number): readonly T[];
  keyIn(found: T): Key;
  make(version: Version): T;
  /** Where to read on behind a key. */
  behind(key: Key): Key;
}

const itself = (key: Key): Key => key;
const keyOf = ({ key }: Version): Key => key;
const up: IsBefore = (a, b) => a < b;
const down: IsBefore = (a, b) => a > b;

function merge<T>(first: Step, start: Key, limit: number, reading: Reading<T>): readonly T[] {
  const { isBefore, keyIn, make } = reading;
  const result: T[] = [];
  let step: Step | undefined = first;
  let size = limit;
  for (let place = start; result.length < limit; size = Math.min(2 * size, READ_MAX)) {
    const found = reading.read(place, size);
    for (const each of found) {
      const name = step && nameOf(keyIn(each));
      while (step && name !== undefined && isBefore(step.name, name)) {
        if (step.version.value !== undefined) result.push(make(step.version));
        step = step.next();
      }
      // The step comes before the next key of the store, in place of this one.
      if (step && step.name === name) continue;
      result.push(each);
      if (result.length >= limit) break;
    }
    const last = found.at(-1);
    if (last === undefined || found.length < size) break;
    place = reading.behind(keyIn(last));
  }
  for (; step && result.length < limit; step = step.next()) {
    if (step.version.value !== undefined) result.push(make(step.version));
  }
  return result.length > limit ? result.slice(0, limit) : result;
}
