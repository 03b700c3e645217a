// The rules for names of resources and ids of items.
import { ITEM_ID_BYTES_MAX } from '../catalog/resources.js';
import { failure } from '../value/errors.js';

const NAME_CHARACTERS_MAX = 255;

/** Databases and containers. */
export function checkName(body: Readonly<Record<string, unknown>>): string {
  const id = stringId(body);
  if (id === '' || id.length > NAME_CHARACTERS_MAX) {
    throw failure('nameInvalid', { name: id, limit: NAME_CHARACTERS_MAX + 1 });
  }
  checkCharacters(id, /[/\\#?]/);
  if (id.endsWith(' ')) throw failure('nameEndsWithSpace');
  return id;
}

/** Items: blanks, `?`, `%` and control characters are fine. */
export function checkItemId(body: Readonly<Record<string, unknown>>): string {
  const id = stringId(body);
  if (id === '' || Buffer.byteLength(id) > ITEM_ID_BYTES_MAX) {
    throw failure('nameInvalid', { name: id, limit: ITEM_ID_BYTES_MAX + 1 });
  }
  checkCharacters(id, /[/\\#]/);
  return id;
}

function stringId(body: Readonly<Record<string, unknown>>): string {
  const id = Object.hasOwn(body, 'id') ? body.id : undefined;
  if (id === undefined) throw failure('missingProperty', { name: 'id' });
  if (typeof id === 'string') return id;
  throw failure('invalidInput', { why: `The id must be a string, not ${JSON.stringify(id)}.` });
}

/** Half a surrogate pair, which neither UTF-8 nor a URL can hold: no path could name it. */
const LONE_SURROGATE = /\p{Surrogate}/u;

function checkCharacters(id: string, forbidden: RegExp): void {
  const character = (forbidden.exec(id) ?? LONE_SURROGATE.exec(id))?.[0];
  if (character !== undefined) throw failure('nameInvalidCharacter', { character });
}

/** A property that would have no effect is refused, but for those that reads add. */
export function refuseOthers(
  body: Readonly<Record<string, unknown>>,
  what: string,
  known: readonly string[],
): void {
  const other = Object.keys(body).find(
    (name) => !known.includes(name) && !name.startsWith('_') && body[name] !== null,
  );
  if (other === undefined) return;
  const why = `'${other}' is not a property of ${what}. Known: ${known.join(', ')}.`;
  throw failure('invalidInput', { why });
}
