// What this version does not do: each answers 400 and says what it is. A row goes when it is done.
import { DOCS, type Row, row } from './support.suite.js';

function unsupported(
  method: string,
  path: string,
  what: string,
  headers: Readonly<Record<string, string>> = {},
  body: unknown = undefined,
): Row {
  return row(method, path, 400, [what, 'is not supported by this version of Mayfly.'], {
    headers,
    body,
  });
}

const IN_PARTITION = { 'x-ms-documentdb-partitionkey': '["a"]' };
const NEW = { id: 'new', pk: 'a' };

export const unsupportedRows: readonly Row[] = [
  row('POST', DOCS, 400, ['The body is no batch in HybridRow'], {
    headers: { ...IN_PARTITION, 'x-ms-cosmos-is-batch-request': 'true' },
    body: Buffer.from([0x81, 0, 0, 0]),
  }),
  row('GET', DOCS, 400, ['changeFeedPolicy.retentionDuration'], {
    headers: { 'a-im': 'Full-Fidelity Feed', 'if-none-match': '*' },
  }),
  unsupported(
    'POST',
    DOCS,
    'The indexing directive Exclude',
    { ...IN_PARTITION, 'x-ms-indexing-directive': 'exclude' },
    NEW,
  ),
  row('POST', '/dbs', 400, ["The legacy offer type 'S1'", 'x-ms-offer-throughput instead'], {
    headers: { 'x-ms-offer-type': 'S1' },
    body: { id: 'new' },
  }),
];
