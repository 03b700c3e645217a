// Pipelines and what they make of the collections of the test, stage by stage.
import { Double, Long } from 'bson';
import type { Plain } from '../language.suite.js';

const double = (value: number) => new Double(value);
const long = (value: number) => Long.fromNumber(value);

export type PipelineRow = readonly [
  stages: readonly Plain[],
  expected: readonly Plain[],
  from?: string,
];

export const pipelineRows: readonly PipelineRow[] = [
  [
    [{ $match: { qty: { $gt: 2 } } }, { $project: { qty: 1 } }],
    [
      { _id: 2, qty: 5 },
      { _id: 4, qty: 3 },
    ],
  ],
  [
    [{ $sort: { qty: -1 } }, { $project: { _id: 1 } }],
    [{ _id: 2 }, { _id: 4 }, { _id: 1 }, { _id: 3 }],
  ],
  [[{ $sort: { qty: 1 } }, { $skip: 1 }, { $limit: 1 }, { $project: { _id: 1 } }], [{ _id: 1 }]],
  [[{ $skip: 3 }, { $unset: ['tags', 'item'] }], [{ _id: 4, qty: 3 }]],
  [
    [{ $limit: 1 }, { $set: { 'a.b': '$qty', qty: '$$REMOVE' } }, { $unset: 'tags' }],
    [{ _id: 1, item: 'a', a: { b: 2 } }],
  ],
  [
    [{ $limit: 1 }, { $addFields: { item: { $toUpper: '$item' } } }, { $project: { item: 1 } }],
    [{ _id: 1, item: 'A' }],
  ],
  [[{ $limit: 1 }, { $replaceRoot: { newRoot: { x: '$qty' } } }], [{ x: 2 }]],
  [[{ $limit: 1 }, { $replaceWith: { x: '$qty' } }], [{ x: 2 }]],
  [[{ $count: 'n' }], [{ n: 4 }]],
  [[{ $match: { _id: 99 } }, { $count: 'n' }], []],
  // Groups.
  [[{ $group: { _id: null, n: { $sum: 1 } } }], [{ _id: null, n: 4 }]],
  [
    [
      {
        $group: { _id: '$item', n: { $count: {} }, all: { $push: '$qty' }, avg: { $avg: '$qty' } },
      },
      { $sort: { _id: 1 } },
    ],
    [
      { _id: null, n: 1, all: [3], avg: double(3) },
      { _id: 'a', n: 2, all: [2, 1], avg: double(1.5) },
      { _id: 'b', n: 1, all: [5], avg: double(5) },
    ],
  ],
  [
    [
      {
        $group: {
          _id: 1,
          min: { $min: '$qty' },
          max: { $max: '$qty' },
          first: { $first: '$item' },
          last: { $last: '$tags' },
          set: { $addToSet: { $type: '$item' } },
          merged: { $mergeObjects: { k: '$qty' } },
          dev: { $stdDevPop: '$zz' },
          top: { $top: { sortBy: { qty: -1 }, output: '$_id' } },
          low: { $bottomN: { n: 2, sortBy: { qty: -1 }, output: '$qty' } },
          two: { $firstN: { n: 2, input: '$_id' } },
          end: { $lastN: { n: 1, input: '$_id' } },
          big: { $maxN: { n: 2, input: '$qty' } },
          least: { $minN: { n: 1, input: '$qty' } },
          mid: { $median: { input: '$qty', method: 'approximate' } },
        },
      },
    ],
    [
      {
        _id: 1,
        min: 1,
        max: 5,
        first: 'a',
        last: ['y'],
        set: ['string', 'null'],
        merged: { k: 3 },
        dev: null,
        top: 2,
        low: [2, 1],
        two: [1, 2],
        end: [4],
        big: [5, 3],
        least: [1],
        mid: double(2),
      },
    ],
  ],
  [[{ $sortByCount: '$item' }, { $limit: 1 }], [{ _id: 'a', count: 2 }]],
  [
    [{ $bucket: { groupBy: '$qty', boundaries: [0, 2, 4], default: 'more' } }],
    [
      { _id: 0, count: 1 },
      { _id: 2, count: 2 },
      { _id: 'more', count: 1 },
    ],
  ],
  [
    [{ $bucketAuto: { groupBy: '$qty', buckets: 2 } }],
    [
      { _id: { min: 1, max: 3 }, count: 2 },
      { _id: { min: 3, max: 5 }, count: 2 },
    ],
  ],
  [
    [
      { $bucketAuto: { groupBy: '$qty', buckets: 2, granularity: '1-2-5' } },
      { $project: { count: 1, min: { $multiply: ['$_id.min', 2] }, max: { $toInt: '$_id.max' } } },
      { $unset: '_id' },
    ],
    [
      { count: 3, min: double(1), max: 5 },
      { count: 1, min: double(10), max: 10 },
    ],
  ],
  // One row becomes many, or fewer.
  [
    [{ $unwind: '$tags' }, { $project: { tags: 1 } }],
    [
      { _id: 1, tags: 'x' },
      { _id: 1, tags: 'y' },
      { _id: 4, tags: 'y' },
    ],
  ],
  [
    [
      { $unwind: { path: '$tags', preserveNullAndEmptyArrays: true, includeArrayIndex: 'at' } },
      { $project: { tags: 1, at: 1 } },
    ],
    [
      { _id: 1, tags: 'x', at: long(0) },
      { _id: 1, tags: 'y', at: long(1) },
      { _id: 2, at: null },
      { _id: 3, at: null },
      { _id: 4, tags: 'y', at: long(0) },
    ],
  ],
  [[{ $sample: { size: 2 } }, { $count: 'n' }], [{ n: 2 }]],
  [
    [
      { $limit: 1 },
      { $set: { in: { level: 5 }, level: 1 } },
      { $redact: { $cond: [{ $gt: ['$level', 3] }, '$$PRUNE', '$$DESCEND'] } },
      { $project: { level: 1, in: 1 } },
    ],
    [{ _id: 1, level: 1 }],
  ],
  // Joins.
  [
    [
      { $lookup: { from: 'items', localField: 'item', foreignField: '_id', as: 'found' } },
      { $project: { found: '$found.price' } },
    ],
    [
      { _id: 1, found: [10] },
      { _id: 2, found: [20] },
      { _id: 3, found: [10] },
      { _id: 4, found: [] },
    ],
  ],
  [
    [
      { $lookup: { from: 'items', localField: 'zz', foreignField: 'parent', as: 'found' } },
      { $limit: 1 },
      { $project: { found: '$found._id' } },
    ],
    [{ _id: 1, found: ['c'] }],
  ],
  [
    [
      {
        $lookup: {
          from: 'items',
          let: { q: '$qty' },
          pipeline: [
            { $match: { $expr: { $gt: ['$price', { $multiply: ['$$q', 8] }] } } },
            { $project: { _id: 1 } },
          ],
          as: 'found',
        },
      },
      { $limit: 2 },
      { $project: { found: '$found._id' } },
    ],
    [
      { _id: 1, found: ['b', 'c'] },
      { _id: 2, found: [] },
    ],
  ],
  [
    [
      {
        $lookup: {
          from: 'items',
          localField: 'item',
          foreignField: '_id',
          pipeline: [{ $project: { _id: 0, price: 1 } }],
          as: 'found',
        },
      },
      { $limit: 1 },
      { $project: { found: 1 } },
    ],
    [{ _id: 1, found: [{ price: 10 }] }],
  ],
  [
    [
      { $limit: 1 },
      {
        $graphLookup: {
          from: 'items',
          startWith: '$item',
          connectFromField: 'parent',
          connectToField: '_id',
          as: 'line',
          depthField: 'depth',
          maxDepth: 1,
        },
      },
      { $project: { line: { $map: { input: '$line', in: ['$$this._id', '$$this.depth'] } } } },
    ],
    [
      {
        _id: 1,
        line: [
          ['a', long(0)],
          ['b', long(1)],
        ],
      },
    ],
  ],
  [
    [
      { $limit: 1 },
      { $project: { _id: 1 } },
      { $unionWith: { coll: 'items', pipeline: [{ $match: { price: 30 } }] } },
    ],
    [{ _id: 1 }, { _id: 'c', price: 30 }],
  ],
  [
    [
      {
        $facet: {
          n: [{ $count: 'n' }],
          top: [{ $sort: { qty: -1 } }, { $limit: 1 }, { $project: { _id: 1 } }],
        },
      },
    ],
    [{ n: [{ n: 4 }], top: [{ _id: 2 }] }],
  ],
  // Windows and gaps.
  [
    [
      {
        $setWindowFields: {
          partitionBy: '$item',
          sortBy: { _id: 1 },
          output: {
            sum: { $sum: '$qty', window: { documents: ['unbounded', 'current'] } },
            place: { $documentNumber: {} },
            before: { $shift: { output: '$qty', by: -1, default: 'none' } },
          },
        },
      },
      { $project: { sum: 1, place: 1, before: 1 } },
      { $sort: { _id: 1 } },
    ],
    [
      { _id: 1, sum: 2, place: 1, before: 'none' },
      { _id: 2, sum: 5, place: 1, before: 'none' },
      { _id: 3, sum: 3, place: 2, before: 2 },
      { _id: 4, sum: 3, place: 1, before: 'none' },
    ],
  ],
  [
    [
      {
        $setWindowFields: {
          sortBy: { qty: 1 },
          output: {
            near: { $push: '$qty', window: { range: [-1, 1] } },
            two: { $sum: '$qty', window: { documents: [-1, 0] } },
            rate: { $derivative: { input: '$_id' }, window: { documents: [-1, 0] } },
            mean: { $expMovingAvg: { input: '$qty', N: 3 } },
          },
        },
      },
      { $project: { near: 1, two: 1, rate: 1, mean: 1 } },
    ],
    [
      { _id: 3, near: [1, 2], two: 1, rate: null, mean: double(1) },
      { _id: 1, near: [1, 2, 3], two: 3, rate: double(-2), mean: double(1.5) },
      { _id: 4, near: [2, 3], two: 5, rate: double(3), mean: double(2.25) },
      { _id: 2, near: [5], two: 8, rate: double(-1), mean: double(3.625) },
    ],
  ],
  [
    [
      {
        $setWindowFields: {
          sortBy: { item: 1 },
          output: { r: { $rank: {} }, d: { $denseRank: {} } },
        },
      },
      { $project: { r: 1, d: 1 } },
    ],
    [
      { _id: 4, r: 1, d: 1 },
      { _id: 1, r: 2, d: 2 },
      { _id: 3, r: 2, d: 2 },
      { _id: 2, r: 4, d: 3 },
    ],
  ],
  [
    [
      { $project: { _id: 0, qty: 1 } },
      { $densify: { field: 'qty', range: { step: 1, bounds: 'full' } } },
    ],
    [{ qty: 1 }, { qty: 2 }, { qty: 3 }, { qty: 4 }, { qty: 5 }],
  ],
  [
    [
      { $project: { _id: 0, qty: 1 } },
      { $match: { qty: 2 } },
      { $densify: { field: 'qty', range: { step: 2, bounds: [0, 5] } } },
    ],
    [{ qty: 0 }, { qty: 2 }, { qty: 4 }],
  ],
  [
    [
      {
        $fill: {
          sortBy: { qty: 1 },
          output: { item: { method: 'locf' }, tags: { value: 'none' } },
        },
      },
      { $project: { item: 1, tags: 1 } },
    ],
    [
      { _id: 3, item: 'a', tags: 'none' },
      { _id: 1, item: 'a', tags: ['x', 'y'] },
      { _id: 4, item: 'a', tags: ['y'] },
      { _id: 2, item: 'b', tags: [] },
    ],
  ],
  [
    [
      { $set: { v: { $cond: [{ $in: ['$qty', [1, 5]] }, '$qty', null] } } },
      { $fill: { sortBy: { qty: 1 }, output: { v: { method: 'linear' } } } },
      { $project: { _id: 0, v: 1 } },
    ],
    [{ v: 1 }, { v: double(2) }, { v: double(3) }, { v: 5 }],
  ],
  // Sources.
  [[{ $documents: [{ x: 1 }, { x: { $add: [1, 1] } }] }, { $match: { x: 2 } }], [{ x: 2 }]],
  [[{ $collStats: {} }], [{ count: 4 }]],
  [
    [
      {
        $geoNear: {
          near: { type: 'Point', coordinates: [0, 0] },
          distanceField: 'd',
          maxDistance: 150_000,
        },
      },
      { $project: { d: { $round: ['$d', -3] } } },
    ],
    [{ _id: 'near', d: double(111000) }],
    'places',
  ],
];
