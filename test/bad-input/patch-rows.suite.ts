// Bad patches: what is no patch, what no patch may touch, and what does not fit the item.
import { IN_A, ITEM, type Row, row } from './support.suite.js';

const SYNTAX = 'Invalid patch request: check syntax of patch specification.';
const POINTER = 'must be a JSON pointer';
const set = { op: 'set', path: '/new', value: 1 };

function refused(says: string | readonly string[], body: unknown, status = 400): Row {
  return row('PATCH', ITEM, status, says, { headers: IN_A, body });
}

const shapes: readonly Row[] = [
  refused('The body is empty.', ''),
  refused('The request payload is invalid.', '[{"op":"set"'),
  refused('The request payload is invalid.', Buffer.of(0x5b, 0xff, 0x5d)),
  refused(
    'nested deeper',
    `[{"op":"set","path":"/a","value":${'['.repeat(200)}${']'.repeat(200)}}]`,
  ),
  ...['1', 'null', '"[]"', 'true'].map((body) => refused([SYNTAX, 'The body must be'], body)),
  ...['{}', '{"operations":{}}', '{"operations":null}'].map((body) =>
    refused([SYNTAX, 'The operations must be an array.'], body),
  ),
  ...['[]', ' [ ] ', '{"operations":[]}'].map((body) => refused([SYNTAX, 'at least one'], body)),
  ...[11, 1000].map((length) =>
    refused(
      "The number of patch operations can't exceed '10'.",
      Array.from({ length }, () => set),
    ),
  ),
  refused([SYNTAX, "not 'conditions'"], { operations: [set], conditions: 'from c' }),
  ...[1, null, 'set', [set]].map((each) => refused([SYNTAX, 'Operation 2:'], [set, each])),
];

const operations: readonly Row[] = [
  ...['', 'test', 'copy', 'SET', null, 1, {}].map((op) =>
    refused([SYNTAX, 'The op must be add, set,', JSON.stringify(op)], [{ ...set, op }]),
  ),
  ...['', 'a', 'a/b', '/~', '/~2', '$.a', null, 1, ['a']].flatMap((path) => [
    refused([SYNTAX, `The path ${POINTER}`, JSON.stringify(path)], [{ ...set, path }]),
    refused([SYNTAX, `The from ${POINTER}`], [{ op: 'move', from: path, path: '/a' }]),
  ]),
  ...['add', 'set', 'replace', 'incr'].flatMap((op) => [
    refused([SYNTAX, 'The value is missing.'], [{ op, path: '/a' }]),
    refused([SYNTAX, `The path ${POINTER}`], [{ op, value: 1 }]),
  ]),
  ...['"1"', 'null', 'true', '[1]', '{}', '1e999'].map((value) =>
    refused([SYNTAX, 'must be a number', value], `[{"op":"incr","path":"/a","value":${value}}]`),
  ),
  refused([SYNTAX, "'/a' cannot be moved to '/a/b'"], [{ op: 'move', from: '/a', path: '/a/b' }]),
];

const forbidden: readonly Row[] = ['id', '_rid', '_self', '_etag', '_attachments', '_ts'].flatMap(
  (name) =>
    [
      { op: 'add', path: `/${name}`, value: 1 },
      { op: 'set', path: `/${name}`, value: 1 },
      { op: 'replace', path: `/${name}/x`, value: 1 },
      { op: 'remove', path: `/${name}` },
      { op: 'incr', path: `/${name}`, value: 1 },
      { op: 'move', from: `/${name}`, path: '/a' },
      { op: 'move', from: '/a', path: `/${name}` },
    ].map((each) =>
      refused(`Invalid patch request: Cannot patch system property '${name}'.`, [set, each]),
    ),
);

const partition: readonly Row[] = [
  { op: 'set', path: '/pk', value: 'b' },
  { op: 'set', path: '/pk', value: { x: 1 } },
  { op: 'remove', path: '/pk' },
  { op: 'move', from: '/pk', path: '/other' },
  { op: 'move', from: '/new', path: '/pk' },
].map((each) => refused("Cannot change the partition key '/pk' of an item.", [set, each]));

const misfits: readonly Row[] = [
  { op: 'replace', path: '/nothing', value: 1 },
  { op: 'remove', path: '/nothing' },
  { op: 'move', from: '/nothing', path: '/a' },
  { op: 'add', path: '/nothing/a', value: 1 },
  { op: 'set', path: '/new/a', value: 1 },
  { op: 'incr', path: '/pk', value: 1 },
].map((each) => refused('For Operation(2): ', [set, each]));

const conditions: readonly Row[] = [
  ...['', 'c.n = 1', 'where c.n = 1', 'select * from c', 'fromc', 'from c order by c.n'].map(
    (condition) => refused([SYNTAX, 'A condition is'], { operations: [set], condition }),
  ),
  ...['from c group by c.n', 'from c offset 0 limit 1', 'from (select distinct d from d) c'].map(
    (condition) => refused([SYNTAX, 'A condition is'], { operations: [set], condition }),
  ),
  ...['from', 'from c where', 'from c where c.n =', 'from c where x.n = 1', 'from c; drop'].map(
    (condition) => refused('"errors"', { operations: [set], condition }),
  ),
  refused('@n', { operations: [set], condition: 'from c where c.n = @n' }),
  ...[1, true, [], {}].map((condition) =>
    refused([SYNTAX, 'The condition must be a text'], { operations: [set], condition }),
  ),
  ...['from c where false', 'from c where c.nothing', 'from c where c.nothing = 1'].map(
    (condition) => refused('precondition is not met', { operations: [set], condition }, 412),
  ),
];

export const patchRows: readonly Row[] = [
  ...shapes,
  ...operations,
  ...forbidden,
  ...partition,
  ...misfits,
  ...conditions,
  row('PATCH', ITEM, 400, 'PartitionKey value must be supplied', { body: [set] }),
  row('PATCH', `${ITEM}0`, 404, 'Resource Not Found', { headers: IN_A, body: [set] }),
  row('PATCH', ITEM, 403, 'A read-only key', { headers: IN_A, body: [set], sign: 'reader' }),
];
