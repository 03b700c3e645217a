// Queries inside stored procedures: over what is stored and what is staged, page by page, in SQL
// and in JavaScript; and writers beside them.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Box, type Json, keyHeader, ok, type Reply, serve } from './support.suite.js';

const server = await serve({ scriptTimeMs: 60_000 });
let count = 0;

async function store(box: Box, body: string): Promise<string> {
  count += 1;
  const path = `${box.path}/sprocs`;
  ok(await server.send('POST', path, { body: { id: `s${count}`, body } }), 201);
  return `${path}/s${count}`;
}

function execute(path: string, args: readonly unknown[] = []): Promise<Reply> {
  return server.send('POST', path, { body: args, headers: keyHeader('p') });
}

async function answer(box: Box, body: string, args: readonly unknown[] = []): Promise<unknown> {
  const { text } = ok(await execute(await store(box, body), args), 200);
  return text === '' ? undefined : JSON.parse(text);
}

/** Ten items in the partition, one beside it. */
async function filled(definition: Json = {}): Promise<Box> {
  const box = await server.box(definition);
  for (let n = 0; n < 10; n++) {
    ok(await box.create({ id: `i${n}`, pk: 'p', n, odd: n % 2 === 1, tags: [n, -n] }), 201);
  }
  ok(await box.create({ id: 'elsewhere', pk: 'q', n: 100 }), 201);
  return box;
}

const query = (text: string, more = '{}') => `function (value) {
  const query = { query: ${JSON.stringify(text)}, parameters: [{ name: '@v', value }] };
  __.queryDocuments(__.getSelfLink(), query, ${more}, (error, rows) => {
    if (error) throw error;
    __.response.setBody(rows);
  });
}`;

/** Changes the partition first: i0 is gone, i1 has another n, new ones are made. */
const staged = (text: string) => `function () {
  const fail = (error) => { if (error) throw error; };
  const link = (id) => __.getAltLink() + '/docs/' + id;
  __.deleteDocument(link('i0'), fail);
  __.replaceDocument(link('i1'), { id: 'i1', pk: 'p', n: 11, odd: true, tags: [] }, fail);
  __.createDocument(__.getSelfLink(), { id: 'a', pk: 'p', n: 5.5, odd: false, tags: [] }, fail);
  __.createDocument(__.getSelfLink(), { id: 'b', pk: 'p', n: -1, odd: true, tags: [9] }, () => {
    __.queryDocuments(__.getSelfLink(), ${JSON.stringify(text)}, (error, rows) => {
      fail(error);
      __.response.setBody(rows);
    });
  });
}`;

describe('what is stored', () => {
  for (const [text, value, expected] of [
    ['SELECT VALUE COUNT(1) FROM c', 0, [10]],
    ['SELECT VALUE c.id FROM c WHERE c.n = @v', 3, ['i3']],
    ['SELECT VALUE c.n FROM c WHERE c.n > @v ORDER BY c.n DESC', 6, [9, 8, 7]],
    ['SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 8 LIMIT 5', 0, [8, 9]],
    ["SELECT VALUE c.id FROM c WHERE c.pk = 'q'", 0, []],
    [
      'SELECT c.odd, SUM(c.n) AS sum FROM c GROUP BY c.odd',
      0,
      [
        { odd: false, sum: 20 },
        { odd: true, sum: 25 },
      ],
    ],
    ['SELECT VALUE t FROM c JOIN t IN c.tags WHERE c.n = @v', 4, [4, -4]],
    ['SELECT DISTINCT VALUE c.odd FROM c', 0, [false, true]],
    ['SELECT VALUE MAX(c.n) FROM c', 0, [9]],
  ] as const) {
    test(text, async () => {
      assert.deepEqual(await answer(await filled(), query(text), [value]), expected);
    });
  }
});

describe('what is staged', () => {
  for (const [text, expected] of [
    ['SELECT VALUE COUNT(1) FROM c', [11]],
    ['SELECT VALUE SUM(c.n) FROM c', [45 - 1 + 11 + 5.5 - 1]],
    ['SELECT VALUE MIN(c.n) FROM c', [-1]],
    ['SELECT VALUE MAX(c.n) FROM c', [11]],
    ['SELECT VALUE c.id FROM c WHERE c.n = 0', []],
    ['SELECT VALUE c.id FROM c WHERE c.n = 1', []],
    ['SELECT VALUE c.id FROM c WHERE c.n = 11', ['i1']],
    ['SELECT VALUE c.n FROM c ORDER BY c.n', [-1, 2, 3, 4, 5, 5.5, 6, 7, 8, 9, 11]],
    ['SELECT TOP 3 VALUE c.n FROM c ORDER BY c.n DESC', [11, 9, 8]],
    ['SELECT VALUE c.n FROM c WHERE c.odd AND c.n BETWEEN 5 AND 20 ORDER BY c.n', [5, 7, 9, 11]],
    [
      'SELECT c.odd, COUNT(1) AS n FROM c GROUP BY c.odd',
      [
        { odd: false, n: 5 },
        { odd: true, n: 6 },
      ],
    ],
    ['SELECT VALUE t FROM c JOIN t IN c.tags WHERE t = 9 ORDER BY c.n', [9, 9]],
    ['SELECT VALUE c.id FROM c WHERE IS_DEFINED(c._rid) AND c.n = 5.5', ['a']],
  ] as const) {
    test(text, async () => {
      assert.deepEqual(await answer(await filled(), staged(text)), expected);
    });
  }
});

describe('page by page', () => {
  /** Reads pages and does something with each of their items. */
  const paging = (text: string, act: string, pageSize: number) => `function () {
    const pages = [];
    const text = ${JSON.stringify(text)};
    const pageSize = ${pageSize};
    const link = __.getSelfLink();
    const next = (continuation) =>
      __.queryDocuments(link, text, { pageSize, continuation }, (error, rows, options) => {
        if (error) throw error;
        pages.push(rows.map((row) => row.id));
        for (const row of rows) { ${act} }
        if (options.continuation) next(options.continuation);
        else __.response.setBody(pages);
      });
    next();
  }`;
  const ALL = Array.from({ length: 10 }, (_, n) => `i${n}`);

  test('all of them once', async () => {
    const pages = (await answer(await filled(), paging('SELECT * FROM c', '', 3))) as string[][];
    assert.deepEqual(pages.flat(), ALL);
    assert.ok(pages.every((page) => page.length <= 3));
  });

  for (const text of [
    'SELECT * FROM c',
    'SELECT * FROM c ORDER BY c.n',
    'SELECT * FROM c WHERE c.n >= 0',
  ]) {
    for (const [what, act] of [
      ['replaced', '__.replaceDocument(row._self, { ...row, seen: true });'],
      ['deleted', '__.deleteDocument(row._self);'],
      ['upserted', '__.upsertDocument(__.getSelfLink(), { ...row, n: row.n });'],
    ] as const) {
      test(`${text}: items that are ${what} on the way come once`, async () => {
        const box = await filled();
        const pages = (await answer(box, paging(text, act, 3))) as string[][];
        assert.deepEqual(pages.flat(), ALL);
        const left = await box.ids(keyHeader('p'));
        assert.equal(left.length, what === 'deleted' ? 0 : 10);
      });
    }
  }

  test('a script that is run again goes on where it stopped', async () => {
    const box = await filled();
    const path = await store(
      box,
      `function (continuation) {
        __.queryDocuments(__.getSelfLink(), 'SELECT * FROM c', { pageSize: 4, continuation }, (error, rows, options) => {
          if (error) throw error;
          for (const row of rows) {
            __.replaceDocument(row._self, { ...row, touched: (row.touched ?? 0) + 1 });
          }
          __.response.setBody(options.continuation ?? null);
        });
      }`,
    );
    let continuation: unknown;
    let runs = 0;
    do {
      const { text } = ok(await execute(path, [continuation]), 200);
      continuation = JSON.parse(text);
      runs += 1;
    } while (continuation !== null && runs < 10);
    assert.equal(runs, 3);
    for (const id of ALL) assert.equal((await box.read(id)).json.touched, 1, id);
  });
});

describe('in JavaScript', () => {
  for (const [what, body, expected] of [
    ['filter', '() => __.filter((d) => d.n > 7)', 2],
    ['map', '() => __.map((d) => d.n * 2)', [0, 2, 4, 6, 8, 10, 12, 14, 16, 18]],
    ['pluck', "() => __.pluck('n')", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
    ['sortByDescending', '() => __.sortByDescending((d) => d.n)', 10],
    [
      'chain',
      "() => __.chain().filter((d) => d.odd).sortByDescending((d) => d.n).pluck('n').value()",
      [9, 7, 5, 3, 1],
    ],
    [
      'flatten',
      "() => __.chain().filter((d) => d.n < 2).pluck('tags').flatten().value()",
      [0, 0, 1, -1],
    ],
    [
      'unwind',
      '() => __.chain().filter((d) => d.n === 3).unwind((d) => d.tags, (d, t) => d.n * t).value()',
      [9, -9],
    ],
    [
      'a callback',
      '(() => __.chain().sortBy((d) => -d.n).map((d) => d.n).value({ pageSize: 2 }, (e, rows, o) => __.response.setBody([rows, o.continuation])))',
      [[9, 8], 'sorted:2'],
    ],
    ['accepted', '() => __.response.setBody(__.filter(() => false, () => {}).isAccepted)', true],
  ] as const) {
    test(what, async () => {
      const rows = await answer(await filled(), body);
      if (typeof expected === 'number') assert.equal((rows as unknown[]).length, expected);
      else assert.deepEqual(rows, expected);
    });
  }
});

describe('beside other writers', () => {
  const INCREMENT = `function () {
    __.readDocument(__.getAltLink() + '/docs/counter', (error, counter) => {
      if (error) throw error;
      counter.n += 1;
      __.replaceDocument(counter._self, counter, (error) => { if (error) throw error; });
    });
  }`;

  test('no increment is lost: they act, or say 449', async () => {
    const box = await server.box();
    ok(await box.create({ id: 'counter', pk: 'p', n: 0 }), 201);
    const path = await store(box, INCREMENT);
    const replies = await Promise.all(Array.from({ length: 12 }, () => execute(path)));
    const done = replies.filter(({ status }) => status === 200).length;
    for (const { status } of replies) assert.ok(status === 200 || status === 449);
    assert.ok(done > 0);
    assert.equal((await box.read('counter')).json.n, done);
  });

  test('a script that is overtaken begins anew', async () => {
    const box = await server.box();
    ok(await box.create({ id: 'counter', pk: 'p', n: 0 }), 201);
    const path = await store(box, INCREMENT);
    let written = 0;
    let isOver = false;
    const writer = async () => {
      while (!isOver && written < 200) {
        ok(await box.patch('counter', [{ op: 'incr', path: '/n', value: 100 }]), 200);
        written += 1;
      }
    };
    const writing = writer();
    const statuses: number[] = [];
    for (let run = 0; run < 5; run++) statuses.push((await execute(path)).status);
    isOver = true;
    await writing;
    const done = statuses.filter((status) => status === 200).length;
    assert.ok(statuses.every((status) => status === 200 || status === 449));
    assert.equal((await box.read('counter')).json.n, written * 100 + done);
  });
});

test('functions in its queries', async () => {
  const box = await filled();
  const body = { id: 'twice', body: 'function (x) { return 2 * x; }' };
  ok(await server.send('POST', `${box.path}/udfs`, { body }), 201);
  const text = 'SELECT VALUE udf.twice(c.n) FROM c WHERE udf.twice(c.n) >= @v ORDER BY c.n';
  assert.deepEqual(await answer(box, query(text), [16]), [16, 18]);
});

test('operations are accepted until there were too many', async () => {
  const box = await server.box();
  const body = `function () {
    let n = 0;
    while (__.readDocument(__.getAltLink() + '/docs/none', () => {})) n++;
    __.response.setBody(n);
  }`;
  assert.equal(await answer(box, body), 5000);
  const writing = `function () {
    let n = 0;
    while (__.upsertDocument(__.getSelfLink(), { id: 'x', pk: 'p' })) n++;
    __.response.setBody([n, __.readDocument(__.getAltLink() + '/docs/x', () => {})]);
  }`;
  assert.deepEqual(await answer(box, writing), [2000, true]);
  const large = `function () {
    let n = 0;
    const text = 'x'.repeat(1e6);
    while (__.readDocument(__.getAltLink() + '/docs/none', { text }, () => {})) n++;
    __.response.setBody(n);
  }`;
  assert.equal(await answer(box, large), 16);
});
