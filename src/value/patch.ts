// Applies the operations of a patch to the text of a document. Only what lies on the way to a place
// is taken apart; everything else keeps its text, with the order of its properties and its digits.
import { failure } from './errors.js';
import { elementsOf, jsonSlice, kindOf, membersOf, type Slice, textOf } from './json-slice.js';
import type { Pointer } from './pointer.js';

/** `text` is the path as the request has it; values are JSON text without blanks. */
export interface Place {
  readonly pointer: Pointer;
  readonly text: string;
}
export type PatchOperation =
  | { readonly op: 'add' | 'set' | 'replace'; readonly path: Place; readonly value: string }
  | { readonly op: 'incr'; readonly path: Place; readonly by: number }
  | { readonly op: 'remove'; readonly path: Place }
  | { readonly op: 'move'; readonly from: Place; readonly path: Place };

/**
 * The text of an object with the operations applied in their order, or the failure of one. The text
 * has no blanks, as all that is stored.
 */
export function applyPatch(text: string, operations: readonly PatchOperation[]): string {
  const root: OpenNode = new Map(membersOf(jsonSlice(text)));
  for (const [index, operation] of operations.entries()) {
    const fail: Fail = (why) => failure('patchFailed', { number: index + 1, why });
    apply(root, operation, fail);
  }
  return print(root);
}

/** A piece of text until somebody has to look inside. */
type Node = Slice | OpenNode;
type OpenNode = Map<string, Node> | Node[];
type Fail = (why: string) => Error;

function apply(root: OpenNode, operation: PatchOperation, fail: Fail): void {
  switch (operation.op) {
    case 'add':
      put(targetOf(root, operation.path, fail), jsonSlice(operation.value), 'insert');
      break;
    case 'set':
      put(targetOf(root, operation.path, fail), jsonSlice(operation.value), 'overwrite');
      break;
    case 'replace':
      put(existing(root, 'Replace', operation.path, fail), jsonSlice(operation.value), 'overwrite');
      break;
    case 'incr': {
      const target = targetOf(root, operation.path, fail);
      put(target, increased(target, operation.by, operation.path, fail), 'overwrite');
      break;
    }
    case 'remove':
      take(existing(root, 'Remove', operation.path, fail));
      break;
    case 'move': {
      const moved = take(existing(root, 'Move', operation.from, fail));
      put(targetOf(root, operation.path, fail), moved, 'insert');
      break;
    }
    default:
      throw new Error(`unknown operation ${operation satisfies never}`);
  }
}

/** A member of an object, or an element of an array: its end counts as an element to be. */
type Target =
  | { readonly kind: 'member'; readonly of: Map<string, Node>; readonly name: string }
  | { readonly kind: 'element'; readonly of: Node[]; readonly index: number };

function targetOf(root: OpenNode, { pointer, text }: Place, fail: Fail): Target {
  let parent = root;
  for (const name of pointer.slice(0, -1)) {
    const child = stepInto(parent, name, text, fail);
    const node = child && peek(child);
    if (!child || node === undefined) {
      throw fail(`The path '${text}' leads through '${name}', which is not there.`);
    }
    parent = open(node) ?? refuseScalar(name, text, fail);
    put(child, parent, 'overwrite');
  }
  return stepInto(parent, pointer[pointer.length - 1] ?? '', text, fail);
}

function stepInto(parent: OpenNode, name: string, text: string, fail: Fail): Target {
  if (!Array.isArray(parent)) return { kind: 'member', of: parent, name };
  if (name === '-') return { kind: 'element', of: parent, index: parent.length };
  if (!/^(?:0|[1-9]\d*)$/.test(name)) {
    throw fail(`The path '${text}' leads into an array, and '${name}' is no index of it.`);
  }
  const index = Number(name);
  if (index <= parent.length) return { kind: 'element', of: parent, index };
  throw fail(
    `The index ${name} of the path '${text}' is beyond the array's ${parent.length} elements.`,
  );
}

function refuseScalar(name: string, text: string, fail: Fail): never {
  throw fail(`The path '${text}' leads through '${name}', which is no object or array.`);
}

function existing(root: OpenNode, what: string, path: Place, fail: Fail): Target {
  const target = targetOf(root, path, fail);
  if (peek(target) !== undefined) return target;
  throw fail(`${what} Operation can only be performed on what exists. '${path.text}' does not.`);
}

function peek(target: Target): Node | undefined {
  return target.kind === 'member' ? target.of.get(target.name) : target.of[target.index];
}

function put(target: Target, value: Node, mode: 'insert' | 'overwrite'): void {
  if (target.kind === 'member') target.of.set(target.name, value);
  else target.of.splice(target.index, mode === 'insert' ? 0 : 1, value);
}

function take(target: Target): Node {
  const taken = peek(target);
  if (taken === undefined) throw new Error('only what exists is taken');
  if (target.kind === 'member') target.of.delete(target.name);
  else target.of.splice(target.index, 1);
  return taken;
}

function increased(target: Target, by: number, path: Place, fail: Fail): Slice {
  const node = peek(target);
  const number: unknown = node === undefined ? 0 : open(node) ? undefined : JSON.parse(print(node));
  if (typeof number !== 'number') {
    throw fail(`Increment Operation can only be performed on a number. '${path.text}' is none.`);
  }
  if (Number.isFinite(number + by)) return jsonSlice(JSON.stringify(number + by));
  throw fail(`The sum at '${path.text}' is more than a number can hold.`);
}

function open(node: Node): OpenNode | undefined {
  if (!isSlice(node)) return node;
  switch (kindOf(node)) {
    case 'object':
      return new Map(membersOf(node));
    case 'array':
      return elementsOf(node);
    case 'scalar':
      return undefined;
  }
}

function print(node: Node): string {
  if (isSlice(node)) return textOf(node);
  if (Array.isArray(node)) return `[${node.map(print).join(',')}]`;
  const members = Array.from(node, ([name, value]) => `${JSON.stringify(name)}:${print(value)}`);
  return `{${members.join(',')}}`;
}

function isSlice(node: Node): node is Slice {
  return !Array.isArray(node) && !(node instanceof Map);
}
