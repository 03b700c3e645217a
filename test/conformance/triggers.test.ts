// Triggers: they run when a request names them, in one transaction with its write.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TriggerOperation, TriggerType } from '@azure/cosmos';
import { type Box, ok, refused, serve } from './support.suite.js';

const server = await serve({ scriptTimeMs: 20_000 });

async function define(
  box: Box,
  id: string,
  triggerType: string,
  triggerOperation: string,
  body: string,
): Promise<void> {
  const trigger = { id, triggerType, triggerOperation, body };
  ok(await server.send('POST', `${box.path}/triggers`, { body: trigger }), 201);
}

const pre = (id: string) => ({ 'x-ms-documentdb-pre-trigger-include': id });
const post = (id: string) => ({ 'x-ms-documentdb-post-trigger-include': id });

const STAMP = `function () {
  const request = getContext().getRequest();
  const item = request.getBody();
  item.by = request.getOperationType();
  request.setBody(item);
}`;
/** Counts in another item of the partition. */
const COUNT = `function () {
  const item = getContext().getResponse().getBody();
  __.readDocument(__.getAltLink() + '/docs/count', (error, count) => {
    const next = error ? { id: 'count', pk: 'p', n: 0 } : count;
    next.n += 1;
    next.last = item ? item._rid : null;
    __.upsertDocument(__.getSelfLink(), next, (error) => { if (error) throw error; });
  });
}`;

describe('before a write', () => {
  test('a create, an upsert and a replace are changed', async () => {
    const box = await server.box();
    await define(box, 'stamp', 'Pre', 'All', STAMP);
    const item = { id: 'x', pk: 'p' };
    const made = ok(await box.create(item, pre('stamp')), 201);
    assert.equal(made.json.by, 'Create');
    assert.equal(ok(await box.upsert(item, pre('stamp')), 200).json.by, 'Upsert');
    const replaced = ok(await box.replace(item, pre('stamp')), 200);
    assert.equal(replaced.json.by, 'Replace');
    assert.equal(replaced.json._rid, made.json._rid);
    assert.deepEqual((await box.read('x')).json, replaced.json);
    assert.equal(replaced.headers.etag, replaced.json._etag);
    assert.ok(Number(replaced.headers['x-ms-request-charge']) > 1);
  });

  test('the id may change, the partition may not', async () => {
    const box = await server.box();
    const change = (what: string) => `() => {
      const r = getContext().getRequest();
      r.setBody({ ...r.getBody(), ${what} });
    }`;
    await define(box, 'id', 'Pre', 'Create', change("id: 'other'"));
    await define(box, 'pk', 'Pre', 'Create', change("pk: 'other'"));
    assert.equal(ok(await box.create({ id: 'x', pk: 'p' }, pre('id')), 201).json.id, 'other');
    refused(await box.create({ id: 'y', pk: 'p' }, pre('pk')), 400, 1001);
    assert.deepEqual(await box.ids(), ['other']);
  });

  test('it may refuse', async () => {
    const box = await server.box();
    const body =
      "() => { if (!getContext().getRequest().getBody().good) throw new Error(403, 'bad'); }";
    await define(box, 'check', 'Pre', 'All', body);
    refused(await box.create({ id: 'x', pk: 'p' }, pre('check')), 400, 403, 'Error: bad');
    ok(await box.create({ id: 'y', pk: 'p', good: true }, pre('check')), 201);
    assert.deepEqual(await box.ids(), ['y']);
  });

  test('preconditions may come from it', async () => {
    const box = await server.box();
    ok(await box.create({ id: 'x', pk: 'p' }), 201);
    const body = `() => getContext().getRequest().setValue('If-Match', '"other"')`;
    await define(box, 'match', 'Pre', 'Replace', body);
    refused(await box.replace({ id: 'x', pk: 'p' }, pre('match')), 412, 0);
  });

  test('it sees the headers, but not the signature, and has no response', async () => {
    const box = await server.box();
    const body = `() => {
      const r = getContext().getRequest();
      let none = '';
      try { getContext().getResponse(); } catch (error) { none = error.number; }
      r.setBody({ ...r.getBody(), v: r.getValue('x-ms-version'), a: typeof r.getValue('authorization'), none });
    }`;
    await define(box, 'look', 'Pre', 'All', body);
    const { json } = ok(await box.create({ id: 'x', pk: 'p' }, pre('look')), 201);
    assert.deepEqual([json.v, json.a, json.none], ['2020-07-15', 'undefined', 400]);
  });

  test('T20: what it makes of the ttl is judged', async () => {
    const box = await server.box({ defaultTtl: -1 });
    const body =
      '() => { const r = getContext().getRequest(); r.setBody({ ...r.getBody(), ttl: 0 }); }';
    await define(box, 'ttl', 'Pre', 'All', body);
    refused(await box.create({ id: 'x', pk: 'p' }, pre('ttl')), 400, 0, 'ttl');
  });
});

describe('after a write', () => {
  test('it sees the item, and writes beside it in the same commit', async () => {
    const box = await server.box();
    await define(box, 'count', 'Post', 'All', COUNT);
    const first = ok(await box.create({ id: 'x', pk: 'p' }, post('count')), 201);
    const count = (await box.read('count')).json;
    assert.deepEqual([count.n, count.last], [1, first.json._rid]);
    const second = ok(await box.upsert({ id: 'x', pk: 'p' }, post('count')), 200);
    assert.equal(Number(second.headers.lsn), Number(first.headers.lsn) + 1);
    ok(await box.replace({ id: 'x', pk: 'p' }, post('count')), 200);
    const gone = ok(await box.remove('x', 'p', post('count')), 204);
    assert.equal(gone.text, '');
    assert.equal((await box.read('count')).json.n, 4);
    assert.deepEqual(await box.ids(), ['count']);
  });

  test('what it throws undoes the write', async () => {
    const box = await server.box();
    await define(box, 'no', 'Post', 'All', "() => { throw new Error('undone'); }");
    ok(await box.create({ id: 'there', pk: 'p' }), 201);
    refused(await box.create({ id: 'x', pk: 'p' }, post('no')), 400, 0, 'undone');
    refused(await box.remove('there', 'p', post('no')), 400, 0, 'undone');
    assert.deepEqual(await box.ids(), ['there']);
  });

  test('it may change the answer, not the item', async () => {
    const box = await server.box();
    const body =
      '() => { const r = getContext().getResponse(); r.setBody({ ...r.getBody(), more: 1 }); }';
    await define(box, 'more', 'Post', 'Create', body);
    assert.equal(ok(await box.create({ id: 'x', pk: 'p' }, post('more')), 201).json.more, 1);
    assert.equal((await box.read('x')).json.more, undefined);
    const minimal = { ...post('more'), prefer: 'return=minimal' };
    assert.equal(ok(await box.create({ id: 'y', pk: 'p' }, minimal), 201).text, '');
  });

  test('it sees the request as the trigger before it has left it', async () => {
    const box = await server.box();
    await define(box, 'stamp', 'Pre', 'All', STAMP);
    const body = `() => {
      const seen = { id: 'seen', pk: 'p', by: getContext().getRequest().getBody().by };
      __.createDocument(__.getSelfLink(), seen);
    }`;
    await define(box, 'see', 'Post', 'All', body);
    ok(await box.create({ id: 'x', pk: 'p' }, { ...pre('stamp'), ...post('see') }), 201);
    assert.equal((await box.read('seen')).json.by, 'Create');
  });
});

describe('which triggers fit', () => {
  test('type and operation', async () => {
    const box = await server.box();
    const nothing = 'function () {}';
    for (const operation of ['Create', 'Replace', 'Update', 'Delete', 'Upsert', 'all']) {
      await define(box, operation, 'pre', operation, nothing);
    }
    await define(box, 'late', 'Post', 'All', nothing);
    const item = { id: 'x', pk: 'p' };
    ok(await box.create(item), 201);
    const fits = async (id: string) => {
      const statuses = [
        await box.create({ ...item, id }, pre(id)),
        await box.replace(item, pre(id)),
        await box.upsert(item, pre(id)),
      ].map(({ status }) => status < 300);
      const gone = await box.remove('x', 'p', pre(id));
      if (gone.status === 204) ok(await box.create(item), 201);
      return [...statuses, gone.status === 204];
    };
    assert.deepEqual(await fits('Create'), [true, false, true, false]);
    assert.deepEqual(await fits('Replace'), [false, true, true, false]);
    assert.deepEqual(await fits('Update'), [false, true, true, false]);
    assert.deepEqual(await fits('Upsert'), [false, false, true, false]);
    assert.deepEqual(await fits('Delete'), [false, false, false, true]);
    assert.deepEqual(await fits('all'), [true, true, true, true]);
    refused(await box.replace(item, pre('late')), 400, 0, "'late' cannot be run here");
    refused(await box.replace(item, post('all')), 400, 0, 'not Post');
    refused(await box.replace(item, pre('none')), 400, 0, 'no such trigger');
  });

  test('nobody runs them but those who name them', async () => {
    const box = await server.box();
    await define(box, 'stamp', 'Pre', 'All', STAMP);
    assert.equal(ok(await box.create({ id: 'x', pk: 'p' }), 201).json.by, undefined);
    assert.equal(ok(await box.create({ id: 'y', pk: 'p' }, pre('')), 201).json.by, undefined);
  });

  test('several run one after the other', async () => {
    const box = await server.box();
    const add = (n: number) => `() => {
      const r = getContext().getRequest();
      r.setBody({ ...r.getBody(), list: [...(r.getBody().list ?? []), ${n}] });
    }`;
    await define(box, 'one', 'Pre', 'All', add(1));
    await define(box, 'two', 'Pre', 'All', add(2));
    const { json } = ok(await box.create({ id: 'x', pk: 'p' }, pre('one, two')), 201);
    assert.deepEqual(json.list, [1, 2]);
  });
});

test('through the SDK', async () => {
  const box = await server.box();
  const container = server.client().database(box.database).container('c');
  await container.scripts.triggers.create({
    id: 'stamp',
    body: STAMP,
    triggerType: TriggerType.Pre,
    triggerOperation: TriggerOperation.All,
  });
  await container.scripts.triggers.create({
    id: 'count',
    body: COUNT,
    triggerType: TriggerType.Post,
    triggerOperation: TriggerOperation.All,
  });
  const options = { preTriggerInclude: ['stamp'], postTriggerInclude: ['count'] };
  const { resource } = await container.items.create({ id: 'x', pk: 'p' }, options);
  assert.equal((resource as { by?: string } | undefined)?.by, 'Create');
  await container.items.upsert({ id: 'x', pk: 'p' }, options);
  await container.item('x', 'p').replace({ id: 'x', pk: 'p' }, options);
  await container.item('x', 'p').delete({ postTriggerInclude: ['count'] });
  const { resource: count } = await container.item('count', 'p').read();
  assert.equal(count.n, 4);
});
