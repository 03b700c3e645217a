// Scripts that are none, for operations there are not, and requests to run what is not there.
import { CARTS, DOCS, IN_A, ITEM, type Row, row } from './support.suite.js';

const SPROCS = `${CARTS}/sprocs`;
const TRIGGERS = `${CARTS}/triggers`;
const FUNCTION = 'function () {}';
const NEW = { id: 'new', pk: 'a' };
const PATCH = [{ op: 'set', path: '/n', value: 1 }];
const BATCH = { 'x-ms-cosmos-is-batch-request': 'true', 'x-ms-cosmos-batch-atomic': 'true' };
const HUGE = `function () { return '${'x'.repeat(512 * 1024)}' }`;

const include = (when: 'pre' | 'post') => ({
  ...IN_A,
  [`x-ms-documentdb-${when}-trigger-include`]: 't1',
});

export const scriptRows: readonly Row[] = [
  ...['sprocs', 'triggers', 'udfs'].flatMap((feed) => [
    row('POST', `${CARTS}/${feed}`, 400, "'id; '", { body: { body: FUNCTION } }),
    row('POST', `${CARTS}/${feed}`, 400, "'body; '", { body: { id: 's' } }),
    row('POST', `${CARTS}/${feed}`, 400, 'text of a function', { body: { id: 's', body: 1 } }),
    row('POST', `${CARTS}/${feed}`, 400, "'/'", { body: { id: 'a/b', body: FUNCTION } }),
    row('POST', `${CARTS}/${feed}`, 413, 'too large', { body: { id: 's', body: HUGE } }),
    row('GET', `${CARTS}/${feed}/none`, 404, 'Not Found'),
    row('PUT', `${CARTS}/${feed}/none`, 404, 'Not Found', { body: { id: 'none', body: FUNCTION } }),
    row('DELETE', `${CARTS}/${feed}/none`, 404, 'Not Found'),
    row('PATCH', `${CARTS}/${feed}/none`, 405, 'PATCH'),
    row('GET', `/dbs/shop/colls/none/${feed}`, 404, 'Owner', { sub: 1003 }),
  ]),
  row('POST', SPROCS, 400, ["'s'", 's.js:1:25'], {
    body: { id: 's', body: 'function () { return 1 +; }' },
    sub: 65535,
  }),
  row('POST', SPROCS, 400, 'one function', { body: { id: 's', body: '1 + 1' }, sub: 65535 }),
  row('POST', TRIGGERS, 400, "'triggerType; '", { body: { id: 't', body: FUNCTION } }),
  row('POST', TRIGGERS, 400, ['Pre, Post', '"Before"'], {
    body: { id: 't', body: FUNCTION, triggerType: 'Before', triggerOperation: 'All' },
  }),
  row('POST', TRIGGERS, 400, ['Create', '"Read"'], {
    body: { id: 't', body: FUNCTION, triggerType: 'Pre', triggerOperation: 'Read' },
  }),
  row('POST', `${SPROCS}/none`, 404, 'Not Found', { headers: IN_A, body: [] }),
  row('POST', `${SPROCS}/none`, 400, 'Script request has invalid body', {
    headers: IN_A,
    body: { a: 1 },
  }),
  ...(['pre', 'post'] as const).flatMap((when) => [
    row('POST', DOCS, 400, ["'t1'", 'no such trigger'], { headers: include(when), body: NEW }),
    row('DELETE', ITEM, 400, ["'t1'", 'no such trigger'], { headers: include(when) }),
    row('PATCH', ITEM, 400, ["'t1'", 'runs no triggers'], { headers: include(when), body: PATCH }),
    row('POST', DOCS, 400, ["'t1'", 'runs no triggers'], {
      headers: { ...include(when), ...BATCH },
      body: [{ operationType: 'Read', id: '1' }],
    }),
  ]),
];
