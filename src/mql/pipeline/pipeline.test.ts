// Pipelines row by row, over small collections in memory.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deserialize, EJSON } from 'bson';
import type { Bytes, Value } from '../../value/bson/value.js';
import { bytesOf, PLAIN_LANGUAGE, type Plain, valueFrom } from '../language.suite.js';
import { compilePipeline, STAGE_NAMES } from './pipeline.js';
import { pipelineRows } from './pipeline-rows.suite.js';
import type { PipelineHost } from './stage.js';

const collections: Readonly<Record<string, readonly Plain[]>> = {
  orders: [
    { _id: 1, item: 'a', qty: 2, tags: ['x', 'y'] },
    { _id: 2, item: 'b', qty: 5, tags: [] },
    { _id: 3, item: 'a', qty: 1 },
    { _id: 4, item: null, qty: 3, tags: ['y'] },
  ],
  items: [
    { _id: 'a', price: 10, parent: 'b' },
    { _id: 'b', price: 20, parent: 'c' },
    { _id: 'c', price: 30 },
  ],
  places: [
    { _id: 'far', at: { type: 'Point', coordinates: [2, 0] } },
    { _id: 'near', at: { type: 'Point', coordinates: [1, 0] } },
  ],
};

class Written implements PipelineHost {
  readonly out = new Map<string, Plain[]>();

  async *read({ collection }: { readonly collection: string }) {
    yield (collections[collection] ?? []).map((document) => bytesOf(document));
  }

  async replace(
    { collection }: { readonly collection: string },
    documents: AsyncIterable<readonly Bytes[]>,
  ): Promise<void> {
    const all: Plain[] = [];
    for await (const batch of documents) all.push(...batch.map((bytes) => deserialize(bytes)));
    this.out.set(collection, all);
  }

  async merge(
    merge: Parameters<PipelineHost['merge']>[0],
    documents: AsyncIterable<readonly Bytes[]>,
  ): Promise<void> {
    const target = [...(collections[merge.into.collection] ?? [])];
    for await (const batch of documents) {
      for (const incoming of batch) {
        const { _id } = deserialize(incoming);
        const at = target.findIndex((document) => document._id === _id);
        const existing = target[at];
        const result = merge.decide(existing && bytesOf(existing), incoming);
        if (result) target.splice(at < 0 ? target.length : at, 1, deserialize(result));
      }
    }
    this.out.set(merge.into.collection, target);
  }

  statistics(stage: string) {
    return stage === '$collStats' ? batches([{ count: 4 }]) : undefined;
  }

  geoPath() {
    return 'at';
  }
}

async function* batches(documents: readonly Plain[]): AsyncGenerator<readonly Bytes[]> {
  for (const document of documents) yield [bytesOf(document)];
}

async function run(
  stages: readonly Plain[],
  input: readonly Plain[] = collections.orders ?? [],
  host = new Written(),
): Promise<string> {
  const pipeline = compilePipeline(valueFrom(stages) as readonly Value[], PLAIN_LANGUAGE, host);
  const found: Plain[] = [];
  for await (const rows of pipeline.run(batches(input))) {
    for (const row of rows) found.push(deserialize(row.bytes, { promoteValues: false }));
  }
  return EJSON.stringify(found, { relaxed: false });
}

const shown = (documents: readonly Plain[]) =>
  EJSON.stringify(
    documents.map((document) => deserialize(bytesOf(document), { promoteValues: false })),
    { relaxed: false },
  );

for (const [stages, expected, from] of pipelineRows) {
  test(`pipeline ${EJSON.stringify(stages).slice(0, 150)}`, async () => {
    assert.equal(await run(stages, collections[from ?? 'orders']), shown(expected));
  });
}

test('$out replaces a collection and has no results', async () => {
  const host = new Written();
  assert.equal(
    await run([{ $match: { _id: 1 } }, { $project: { _id: 1 } }, { $out: 'o' }], undefined, host),
    '[]',
  );
  assert.deepEqual(host.out.get('o'), [{ _id: 1 }]);
});

const merges: readonly (readonly [spec: Plain, expected: readonly Plain[]])[] = [
  [
    {},
    [
      { _id: 'a', price: 10, parent: 'b', n: 1 },
      { _id: 'z', n: 2 },
    ],
  ],
  [
    { whenMatched: 'replace' },
    [
      { _id: 'a', n: 1 },
      { _id: 'z', n: 2 },
    ],
  ],
  [
    { whenMatched: 'keepExisting', whenNotMatched: 'discard' },
    [{ _id: 'a', price: 10, parent: 'b' }],
  ],
  [
    { whenMatched: [{ $set: { price: { $add: ['$price', '$$new.n'] } } }] },
    [
      { _id: 'a', price: 11, parent: 'b' },
      { _id: 'z', n: 2 },
    ],
  ],
];
for (const [spec, expected] of merges) {
  test(`$merge ${JSON.stringify(spec)}`, async () => {
    const host = new Written();
    const input = [
      { _id: 'a', n: 1 },
      { _id: 'z', n: 2 },
    ];
    await run([{ $merge: { into: 'items', ...spec } }], input, host);
    const others = ['b', 'c'];
    assert.deepEqual(
      host.out.get('items')?.filter(({ _id }) => !others.includes(_id)),
      expected,
    );
  });
}

const refused: readonly (readonly [stages: readonly Plain[], code: number, message: RegExp])[] = [
  [[{ $nope: 1 }], 40324, /^Unrecognized pipeline stage name: '\$nope'$/],
  [[{ $match: {}, $limit: 1 }], 40323, /exactly one field/],
  [[{ $out: 'x' }, { $limit: 1 }], 40601, /^\$out can only be the final stage in the pipeline$/],
  [[{ $limit: 1 }, { $collStats: {} }], 40602, /only valid as the first stage/],
  [[{ $facet: { a: [{ $out: 'x' }] } }], 40600, /not allowed to be used within a \$facet stage/],
  [[{ $limit: 0 }], 15958, /must be positive/],
  [[{ $limit: -1 }], 5107201, /^invalid argument to \$limit stage: Expected a non-negative number/],
  [[{ $skip: -1 }], 5107200, /Expected a non-negative number in: \$skip: -1$/],
  [[{ $skip: 'x' }], 5107200, /Expected a number in: \$skip: "x"$/],
  [[{ $project: { a: 1, b: 0 } }], 31254, /^Invalid \$project :: caused by :: Cannot do exclusion/],
  [[{ $group: { n: { $sum: 1 } } }], 15955, /must include an _id/],
  [[{ $group: { _id: 1, n: { $nope: 1 } } }], 15952, /unknown group operator '\$nope'/],
  [[{ $group: { _id: 1, n: 1 } }], 40234, /must be an accumulator object/],
  [[{ $unwind: 'tags' }], 28818, /should be prefixed with a '\$'/],
  [[{ $project: {} }], 51272, /at least one field/],
  [[{ $project: { a: { $nope: 1 } } }], 168, /Unrecognized expression '\$nope'/],
  [[{ $replaceRoot: { newRoot: '$qty' } }], 40228, /must evaluate to an object/],
  [
    [{ $merge: { into: 'items', whenNotMatched: 'fail' } }],
    13113,
    /could not find a matching document/,
  ],
  [[{ $sort: {} }], 15976, /at least one sort key/],
  [[{ $match: { $where: '1' } }], 2, /\$where is not supported/],
];
for (const [stages, code, message] of refused) {
  test(`pipeline ${JSON.stringify(stages)} is refused`, async () => {
    await assert.rejects(run(stages), { code, message });
  });
}

test('memory has a limit', async () => {
  const text = 'x'.repeat(1_000_000);
  async function* much(): AsyncGenerator<readonly Bytes[]> {
    for (let at = 0; at < 200; at++) yield [bytesOf({ _id: at, text })];
  }
  for (const stage of [{ $sort: { text: 1 } }, { $group: { _id: 1, all: { $push: '$text' } } }]) {
    const stages = valueFrom([stage]) as readonly Value[];
    const pipeline = compilePipeline(stages, PLAIN_LANGUAGE, new Written());
    await assert.rejects(
      async () => {
        for await (const _ of pipeline.run(much()));
      },
      { code: 292, codeName: 'QueryExceededMemoryLimitNoDiskUseAllowed' },
    );
  }
});

test('others have their turns while a pipeline works', async () => {
  const documents = Array.from({ length: 20_000 }, (_, at) =>
    bytesOf({ _id: at, a: (at * 7) % 1000 }),
  );
  async function* all(): AsyncGenerator<readonly Bytes[]> {
    for (let at = 0; at < documents.length; at += 1000) yield documents.slice(at, at + 1000);
  }
  const stages = [{ $sort: { a: -1 } }, { $group: { _id: '$a', all: { $push: '$_id' } } }];
  const pipeline = compilePipeline(
    valueFrom(stages) as readonly Value[],
    PLAIN_LANGUAGE,
    new Written(),
  );
  let turns = 0;
  let isDone = false;
  const takeTurn = (): void => {
    turns++;
    if (!isDone) setImmediate(takeTurn);
  };
  takeTurn();
  let found = 0;
  for await (const rows of pipeline.run(all())) found += rows.length;
  isDone = true;
  assert.equal(found, 1000);
  assert.ok(turns > 10, `${turns} turns`);
});

test('every stage has a row', () => {
  const text = EJSON.stringify([pipelineRows, refused, merges]);
  const without = STAGE_NAMES.filter((name) => !text.includes(`"${name}"`));
  assert.deepEqual(without, [
    '$indexStats',
    '$currentOp',
    '$planCacheStats',
    '$listSessions',
    '$listLocalSessions',
  ]);
});
