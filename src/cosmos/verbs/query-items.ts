// POST …/docs as a query. Until the SQL language is here, one query is answered: all items, which
// is how the SDKs list.
import { failure } from '../../value/errors.js';
import { parseQuery } from '../query-text.js';
import type { Reply } from '../reply.js';
import type { CosmosRequest } from '../request.js';
import { listItems } from './list-items.js';

export async function queryItems(request: CosmosRequest): Promise<Reply> {
  const query = parseQuery(await request.body());
  if (query.where === undefined) return listItems(request);
  throw failure('notSupported', {
    what: `The query "${query.text}"`,
    hint: 'Items can be read one by one, or all of them with SELECT * FROM c.',
  });
}
