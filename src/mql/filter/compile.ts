// From the tree of a filter to closures over raw documents.
import { BsonType } from '../../value/bson/types.js';
import { forgetPosition, lastPosition, someAtPath, type Test } from './path.js';
import type { DocumentTest, FieldNode, Node } from './tree.js';

/** Tests of the document that begins at an offset. */
export function compileNode(node: Node): DocumentTest {
  switch (node.kind) {
    case 'and':
      return conjunction(node.of.map(compileNode));
    case 'or':
      return disjunction(node.of.map(compileNode));
    case 'nor':
      return negation(disjunction(node.of.map(compileNode)));
    case 'not':
      return negation(compileNode(node.of));
    case 'field':
      return fieldTest(node);
    case 'whole':
      return node.test;
    default:
      return node satisfies never;
  }
}

function fieldTest({ path, elements, test }: FieldNode): DocumentTest {
  return (bytes, document) => someAtPath(bytes, document, path, elements, test);
}

function conjunction(tests: readonly DocumentTest[]): DocumentTest {
  const [first, second] = tests;
  if (!first) return () => true;
  if (!second) return first;
  if (tests.length === 2) return (bytes, at) => first(bytes, at) && second(bytes, at);
  return (bytes, at) => {
    for (const test of tests) if (!test(bytes, at)) return false;
    return true;
  };
}

function disjunction(tests: readonly DocumentTest[]): DocumentTest {
  return (bytes, at) => {
    for (const test of tests) if (test(bytes, at)) return true;
    return false;
  };
}

/** What fails inside of a negation has no position to tell. */
function negation(test: DocumentTest): DocumentTest {
  return (bytes, at) => {
    const position = lastPosition();
    const passes = test(bytes, at);
    forgetPosition(position);
    return !passes;
  };
}

/**
 * Tests of a single value, as `$elemMatch` makes them of its elements: conditions look at the value
 * itself, and at the elements of an array only where they ask about arrays.
 */
export function compileOnValue(node: Node): Test {
  switch (node.kind) {
    case 'and': {
      const tests = node.of.map(compileOnValue);
      return (bytes, type, at) => tests.every((test) => test(bytes, type, at));
    }
    case 'or': {
      const tests = node.of.map(compileOnValue);
      return (bytes, type, at) => tests.some((test) => test(bytes, type, at));
    }
    case 'nor': {
      const tests = node.of.map(compileOnValue);
      return (bytes, type, at) => !tests.some((test) => test(bytes, type, at));
    }
    case 'not': {
      const test = compileOnValue(node.of);
      return (bytes, type, at) => !test(bytes, type, at);
    }
    case 'field':
      return node.test;
    case 'whole':
      return (bytes, type, at) => type === BsonType.object && node.test(bytes, at);
    default:
      return node satisfies never;
  }
}
