// Citus runs a statement on one node when each of its distributed tables is bound to a bucket. Here
// a proxy listens to what a whole life of a container says to PostgreSQL: no statement about items,
// unique keys, versions, heads or leases leaves the bucket out.
import assert from 'node:assert/strict';
import { connect, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import {
  ALL,
  BUDGET,
  containerNamed,
  insert,
  LATER,
  NOW,
  remove,
  replace,
} from '../../src/engine/contract-fixture.suite.js';
import type { Container, Engine, ScanRequest } from '../../src/engine/engine.js';
import { openAt, openCluster } from '../../src/engine/postgres/cluster.suite.js';
import { cosmosRules } from '../../src/time/expiry.js';

const cluster = await openCluster();
after(() => cluster.stop());

const DISTRIBUTED = /"(?:[duv]_[^"]+|head|lease)"(?! *\()/g;
/** Statements that define tables go to all shards, and reading the catalog's own tables to none. */
const IS_ABOUT_ROWS = /^\s*(?:select|insert|update|delete|with)\b/i;

test('every statement about a container names its bucket', async () => {
  const { url, said, close } = await listening(cluster.newStore());
  const engine = await openAt(url);
  await live(engine);
  await engine.close();
  await close();
  const about = [...said].filter((text) => IS_ABOUT_ROWS.test(text) && tablesOf(text) > 0);
  assert(about.length > 20, `${about.length} statements`);
  for (const text of about) {
    const bound = text.match(/\bbucket\b/g)?.length ?? 0;
    assert(bound >= tablesOf(text), `a table without its bucket: ${text}`);
  }
});

function tablesOf(text: string): number {
  // A lease is let go by its owner when the server leaves, wherever it is.
  if (/^delete from \S+"lease" where owner/.test(text)) return 0;
  return text.match(DISTRIBUTED)?.length ?? 0;
}

async function live(engine: Engine): Promise<void> {
  const unique = { name: 'u', paths: [{ path: ['mail'], descending: false }], unique: true };
  const box: Container = {
    ...containerNamed('box'),
    ...{ expiry: cosmosRules(-1), indexes: [unique], retentionMs: 1_000 },
  };
  await engine.createContainer(box);
  const commit = (...changes: ReturnType<typeof insert>[]) =>
    engine.commit(box, [{ partition: ['a'], changes }], NOW);
  for (let n = 0; n < 5; n++) await commit(insert(`${n}`, { mail: n, ttl: 1 }));
  await commit(replace('1', { mail: 7 }), remove('2'));
  const key = { partition: ['a'], id: '1' };
  await engine.get(box, [key, 1], NOW);
  await engine.inspect(box, key);
  const filter = { op: '=', path: ['mail'], value: 7 } as const;
  const order = [{ path: ['mail'], descending: true }];
  const requests: ScanRequest[] = [
    ALL,
    { ...ALL, filter },
    { ...ALL, partition: ['a'], order, limit: 2 },
    { ...ALL, span: { from: '', to: 'FF' } },
  ];
  for (const request of requests) {
    const plan = engine.plan(box, request);
    for await (const _ of plan.run(NOW, { ...BUDGET, rowsMax: 2 }));
    await plan.count(NOW);
    await plan.countBy(['mail'], NOW);
  }
  const scan = { partition: ['a'], span: undefined, after: 0 };
  const { items } = await engine.changes(box, scan, NOW, BUDGET);
  await engine.versions?.(box, scan, NOW, BUDGET);
  const { lsn, nextSerial } = await engine.stats(box);
  await engine.restore(box, { items, lsn, nextSerial });
  await engine.expiries(box, { ...{ rules: box.expiry, until: LATER(5_000) }, ...REST });
  await engine.nextExpiry(box);
  await engine.purge(box, LATER(2_000), 100);
  await engine.purge(box, LATER(9_000), 100);
  await engine.check();
  await engine.alterContainer({ ...box, expiry: cosmosRules(5) });
  await engine.dropContainer('box');
}

const REST = { after: undefined, rowsMax: 10 };

/** Passes everything on, and keeps the texts of statements. */
async function listening(address: string) {
  const url = new URL(address);
  const said = new Set<string>();
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(url.port), url.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    upstream.pipe(client);
    client.pipe(upstream);
    const read = reader((text) => said.add(text));
    client.on('data', read);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxied = new URL(address);
  proxied.port = String((server.address() as { port: number }).port);
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: proxied.href, said, close };
}

/**
 * Messages of a client: a first one without a type, then 1 byte type and 4 bytes length, which
 * counts itself. 'P' holds a name and a text, 'Q' a text, each ended by a zero.
 */
function reader(note: (text: string) => void): (data: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let typeBytes = 0;
  return (data) => {
    rest = Buffer.concat([rest, data]);
    for (;;) {
      if (rest.length < typeBytes + 4) return;
      const end = typeBytes + rest.readUInt32BE(typeBytes);
      if (rest.length < end) return;
      const type = typeBytes ? String.fromCharCode(rest[0] ?? 0) : '';
      const texts = rest
        .subarray(typeBytes + 4, end)
        .toString('utf8')
        .split('\0');
      if (type === 'P') note(texts[1] ?? '');
      if (type === 'Q') note(texts[0] ?? '');
      rest = rest.subarray(end);
      typeBytes = 1;
    }
  };
}
