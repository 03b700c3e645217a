// The body of a patch: an array of operations, or an object that has them and a condition.
//
//   {"condition": "from c where c.n > 0", "operations": [{"op": "remove", "path": "/n"}]}
import { failure } from '../value/errors.js';
import { compactJson, parseJson } from '../value/json.js';
import {
  elementsOf,
  jsonSlice,
  kindOf,
  membersOf,
  type Slice,
  textOf,
} from '../value/json-slice.js';
import type { PatchOperation, Place } from '../value/patch.js';
import { isInside, parsePointer } from '../value/pointer.js';
import { SYSTEM_PROPERTIES } from './item-body.js';

export interface PatchBody {
  readonly operations: readonly PatchOperation[];
  readonly condition: string | undefined;
}

const OPERATIONS_MAX = 10;

export function parsePatch(body: Buffer): PatchBody {
  parseJson(body);
  const patch = jsonSlice(compactJson(body.toString()));
  switch (kindOf(patch)) {
    case 'array':
      return { operations: operationsOf(patch), condition: undefined };
    case 'object':
      return patchOf(new Map(membersOf(patch)));
    case 'scalar':
      throw syntax('The body must be an array of operations or an object.');
  }
}

function patchOf(members: ReadonlyMap<string, Slice>): PatchBody {
  for (const name of members.keys()) {
    if (name === 'operations' || name === 'condition') continue;
    throw syntax(`A patch has operations and a condition, but not '${name}'.`);
  }
  return {
    operations: operationsOf(members.get('operations')),
    condition: conditionOf(members.get('condition')),
  };
}

function conditionOf(slice: Slice | undefined): string | undefined {
  const condition = parsed(slice);
  if (condition === null) return undefined;
  if (typeof condition === 'string') return condition;
  throw syntax(`The condition must be a text, not ${JSON.stringify(condition)}.`);
}

function operationsOf(slice: Slice | undefined): readonly PatchOperation[] {
  if (!slice || kindOf(slice) !== 'array') throw syntax('The operations must be an array.');
  const operations = elementsOf(slice);
  if (operations.length === 0) throw syntax('There must be at least one operation.');
  if (operations.length > OPERATIONS_MAX) throw failure('patchTooMany', { limit: OPERATIONS_MAX });
  return operations.map(operationOf);
}

/** Members that an operation does not know are passed over, as RFC 6902 has it. */
function operationOf(slice: Slice, index: number): PatchOperation {
  const wrong = (why: string) => syntax(`Operation ${index + 1}: ${why}`);
  if (kindOf(slice) !== 'object') throw wrong(`It must be an object, not ${textOf(slice)}.`);
  const members = new Map(membersOf(slice));
  const op = parsed(members.get('op'));
  const place = (name: string) => placeOf(members.get(name), name, wrong);
  const value = () => {
    const given = members.get('value');
    if (given === undefined) throw wrong('The value is missing.');
    return textOf(given);
  };
  switch (op) {
    case 'add':
    case 'set':
    case 'replace':
      return { op, path: place('path'), value: value() };
    case 'incr': {
      const by: unknown = JSON.parse(value());
      if (typeof by === 'number' && Number.isFinite(by)) return { op, path: place('path'), by };
      throw wrong(`The value of an increment must be a number, not ${value()}.`);
    }
    case 'remove':
      return { op, path: place('path') };
    case 'move': {
      const [from, path] = [place('from'), place('path')];
      if (!isInside(path.pointer, from.pointer)) return { op, from, path };
      throw wrong(`'${from.text}' cannot be moved to '${path.text}', which is inside of it.`);
    }
    default:
      throw wrong(
        `The op must be add, set, replace, remove, incr or move, not ${JSON.stringify(op)}.`,
      );
  }
}

function placeOf(slice: Slice | undefined, name: string, wrong: (why: string) => Error): Place {
  const text = parsed(slice);
  const pointer = typeof text === 'string' ? parsePointer(text) : undefined;
  if (typeof text !== 'string' || pointer === undefined) {
    const given = slice ? textOf(slice) : 'missing';
    throw wrong(`The ${name} must be a JSON pointer such as '/a/0/b', not ${given}.`);
  }
  const [top] = pointer;
  if (top === 'id' || SYSTEM_PROPERTIES.has(top))
    throw failure('patchSystemProperty', { name: top });
  return { pointer, text };
}

/** Absent is null, which none of the members may be. */
function parsed(slice: Slice | undefined): unknown {
  return slice ? JSON.parse(textOf(slice)) : null;
}

function syntax(why: string): Error {
  return failure('patchSyntax', { why });
}
