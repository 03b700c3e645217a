// What the simulated requests and answers look like: paths, headers, bodies, and the part of an
// answer that must be the same on every server.
import type { Answer } from './client.suite.js';
import { partitionHeader } from './client.suite.js';
import type { Body, Kept, Partition, Place } from './model.suite.js';

export const DATABASE = 'db';

export interface Document {
  readonly _rid: string;
  readonly _etag: string;
}

export function pathOf(box: number): string {
  return `dbs/${DATABASE}/colls/box-${box}`;
}

export function explainPath(box: number, { partition, id }: Place): string {
  const key = JSON.stringify([partition === undefined ? {} : partition]);
  return `${pathOf(box)}/docs/${id}/ttl?partitionKey=${encodeURIComponent(key)}`;
}

export function definitionOf(box: number, defaultTtl: unknown): object {
  return {
    id: `box-${box}`,
    partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
    ...(defaultTtl === undefined ? {} : { defaultTtl }),
  };
}

/** A whole list has no partition key. */
export function scopeHeader(partition: Partition | 'all'): Readonly<Record<string, string>> {
  return partition === 'all' ? {} : partitionHeader(partition);
}

export function documentsOf(answer: Answer): readonly Document[] {
  return (answer.body as { Documents?: readonly Document[] } | undefined)?.Documents ?? [];
}

/** An item without what a server chooses freely: etag and resource id. */
export function viewOf(item: Kept): object {
  return { ...item.body, _ts: item.seconds };
}

export function viewOfDocument(document: unknown): object {
  const { _rid, _self, _etag, _attachments, ...view } = document as Record<string, unknown>;
  return view;
}

export function isoOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}

/** The patch that gives an item the properties of a body, but for those it cannot change. */
export function operationsFor(body: Body): readonly object[] {
  const { id: _id, pk: _pk, ...settings } = body;
  return Object.entries(settings).map(([name, value]) => ({ op: 'set', path: `/${name}`, value }));
}
