// A few queries against the model: whatever way they find their items, no dead one is among them
// (T10).
import type { Kept, Partition } from './model.suite.js';
import type { Operator } from './operator.suite.js';
import { documentsOf, pathOf, scopeHeader, viewOf, viewOfDocument } from './wire.suite.js';

/** Counting, finding by an index, and putting in order. */
export type Question = 'count' | 'find' | 'order';

export async function seeQuery(
  { client, box, model, nowMs }: Operator,
  partition: Partition | 'all',
  question: Question,
  value: unknown,
): Promise<{ readonly got: unknown; readonly wanted: unknown }> {
  const headers = {
    ...scopeHeader(partition),
    'content-type': 'application/query+json',
    'x-ms-documentdb-isquery': 'true',
    'x-ms-documentdb-query-enablecrosspartition': 'true',
    'x-ms-max-item-count': '1000',
  };
  const body = { query: TEXTS[question], parameters: [{ name: '@value', value }] };
  const answer = await client.cosmos('POST', `${pathOf(box)}/docs`, { headers, body });
  const live = model
    .live(nowMs)
    .filter((item) => partition === 'all' || item.partition === partition);
  const rows: readonly unknown[] = documentsOf(answer);
  if (question === 'count') return { got: rows, wanted: [live.length] };
  const found = question === 'find' ? live.filter((item) => item.body.u === value) : live;
  const wanted = [...found].sort((a, b) => numberOf(b) - numberOf(a)).map(viewOf);
  return {
    got: { status: answer.status, rows: rows.map(viewOfDocument) },
    wanted: { status: 200, rows: wanted },
  };
}

const TEXTS: Readonly<Record<Question, string>> = {
  count: 'SELECT VALUE COUNT(1) FROM c',
  find: 'SELECT * FROM c WHERE c.u = @value ORDER BY c.n DESC',
  order: 'SELECT * FROM c ORDER BY c.n DESC',
};

/** The count of the write, which no two items share. */
const numberOf = (item: Kept): number => Number(item.body.n);
