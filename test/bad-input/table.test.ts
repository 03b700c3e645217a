// Bad requests of every kind over real connections: each gets its status, sub-status, code word and
// a message with the offending value and the rule; and after all of them nothing has changed.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { bodyRows } from './body-rows.suite.js';
import { controlRows } from './control-rows.suite.js';
import { definitionRows } from './definition-rows.suite.js';
import { headerRows } from './header-rows.suite.js';
import { identityRows } from './identity-rows.suite.js';
import { patchRows } from './patch-rows.suite.js';
import { pathRows } from './path-rows.suite.js';
import { scriptRows } from './script-rows.suite.js';
import { CODES, type Row, Target } from './support.suite.js';
import { unsupportedRows } from './unsupported-rows.suite.js';
import type { Answer } from './wire.suite.js';

/** No row changes anything, so they need not wait for each other. */
const ROWS_AT_ONCE = 20;

const ALLOW = /^(GET|PUT|POST|PATCH|DELETE)(, (GET|PUT|POST|PATCH|DELETE))*$/;

const target = new Target();
await target.start();
after(() => target.close());

const before = await target.state();
const tables: Readonly<Record<string, readonly Row[]>> = {
  paths: pathRows,
  identity: identityRows(target),
  headers: await headerRows(target),
  bodies: bodyRows,
  patches: patchRows,
  definitions: await definitionRows(target),
  scripts: scriptRows,
  unsupported: unsupportedRows,
  control: controlRows,
};

for (const [name, rows] of Object.entries(tables)) {
  describe(name, { concurrency: ROWS_AT_ONCE }, () => {
    for (const row of rows) test(`${row.status} ${row.name}`, () => check(row));
  });
}

test('after all of them nothing has changed, and the server is well', async () => {
  assert.equal(await target.state(), before);
  assert.deepEqual(target.defects, []);
  const health = await target.json('GET', '/_mayfly/health', { sign: 'unsigned' });
  assert.equal(health.status, 'ok');
  const metrics = await target.ask('GET', '/_mayfly/metrics', { sign: 'bearer' });
  assert.doesNotMatch(metrics.body.toString(), /status="5\d\d"/);
});

async function check(row: Row): Promise<void> {
  const { method, path, headers, body, sign } = row;
  const answer = await target.ask(method, path, { headers, sign, ...(body ? { body } : {}) });
  assert.equal(answer.status, row.status, answer.body.toString());
  if (method === 'HEAD') return;
  checkBody(row, answer);
  // The control API and what is no request have no headers of Cosmos.
  if (row.status !== 431 && !path.startsWith('/_mayfly/')) checkHeaders(row, answer);
}

function checkBody(row: Row, answer: Answer): void {
  assert.equal(answer.headers.get('content-type'), 'application/json');
  const { code, message } = JSON.parse(answer.body.toString()) as Record<string, string>;
  assert.equal(code, CODES[row.status]);
  assert.ok(message !== undefined && message.length < 2000, `${message?.length} characters`);
  // Texts of the storage layer travel as JSON within the message.
  const wrapped = /^Message: (\{.*\})\r\nActivityId/s.exec(message)?.[1];
  const { Errors } = JSON.parse(wrapped ?? '{}') as { Errors?: readonly string[] };
  const text = Errors?.join() ?? message;
  for (const part of row.says) assert.ok(text.includes(part), `'${part}' is not in: ${text}`);
}

function checkHeaders(row: Row, { headers, body }: Answer): void {
  assert.equal(headers.get('x-ms-substatus'), String(row.subStatus));
  // What is a method of its own to us is a POST to the client.
  if (row.status === 405) assert.match(headers.get('allow') ?? '', ALLOW);
  assert.ok(Number(headers.get('x-ms-request-charge')) > 0);
  const activityId = headers.get('x-ms-activity-id') ?? '';
  assert.match(activityId, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  assert.ok(body.includes(`ActivityId: ${activityId}`));
}
