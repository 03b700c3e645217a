// Two clients of the real SDK at the same item, at the same time: in every round exactly one wins.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BulkOperationType, type Container, type OperationInput } from '@azure/cosmos';
import { serve } from './support.suite.js';

const ROUNDS = 40;
const server = await serve();
const clients = [server.client(), server.client()] as const;

interface Racer {
  readonly container: Container;
  readonly name: string;
}

async function racers(definition = {}): Promise<readonly Racer[]> {
  const box = await server.box(definition);
  return clients.map((client, index) => ({
    container: client.database(box.database).container('c'),
    name: `racer ${index}`,
  }));
}

/** The codes of both, the lower one first: the winner's. */
async function race(
  contenders: readonly Racer[],
  run: (racer: Racer) => Promise<unknown>,
): Promise<readonly number[]> {
  const codes = contenders.map(async (racer) => {
    try {
      const answer = (await run(racer)) as { readonly statusCode?: number; readonly code?: number };
      return Number(answer.statusCode ?? answer.code);
    } catch (error) {
      return Number((error as { readonly code: unknown }).code);
    }
  });
  return (await Promise.all(codes)).sort((a, b) => a - b);
}

const guarded = (etag: string) => ({ accessCondition: { type: 'IfMatch', condition: etag } });

test('replacing with the same etag: one is done, one is 412', async () => {
  const both = await racers();
  const { container } = both[0] as Racer;
  let { resource, etag } = await container.items.create<object>({ id: 'x', pk: 'p' });
  for (let round = 0; round < ROUNDS; round++) {
    const codes = await race(both, (racer) =>
      racer.container
        .item('x', 'p')
        .replace({ id: 'x', pk: 'p', round, by: racer.name }, guarded(etag)),
    );
    assert.deepEqual(codes, [200, 412], `round ${round}`);
    ({ resource, etag } = await container.item('x', 'p').read<object>());
    assert.equal((resource as unknown as { readonly round: number }).round, round);
  }
});

test('patching and deleting with the same etag: one is done, the other is 412 or finds nothing', async () => {
  const both = await racers();
  for (let round = 0; round < ROUNDS; round++) {
    const id = `x${round}`;
    const { etag } = await (both[0] as Racer).container.items.create({ id, pk: 'p', n: 0 });
    const codes = await race(both, ({ container, name }) =>
      name === 'racer 0'
        ? container.item(id, 'p').delete(guarded(etag))
        : container.item(id, 'p').patch([{ op: 'incr', path: '/n', value: 1 }], guarded(etag)),
    );
    assert.ok(['200,412', '204,404'].includes(codes.join()), `round ${round}: ${codes}`);
  }
});

test('creating the same id: one is 201, one is 409', async () => {
  const both = await racers();
  for (let round = 0; round < ROUNDS; round++) {
    const codes = await race(both, ({ container, name }) =>
      container.items.create({ id: `x${round}`, pk: 'p', name }),
    );
    assert.deepEqual(codes, [201, 409], `round ${round}`);
  }
});

test('T11: the same unique key under two ids: one is 201, one is 409', async () => {
  const both = await racers({ uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/email'] }] } });
  for (let round = 0; round < ROUNDS; round++) {
    const codes = await race(both, ({ container, name }) =>
      container.items.create({ id: `${name}-${round}`, pk: 'p', email: `mail-${round}` }),
    );
    assert.deepEqual(codes, [201, 409], `round ${round}`);
  }
});

test('batches over the same items: one is whole, of the other nothing is there', async () => {
  const both = await racers();
  const { container } = both[0] as Racer;
  for (let round = 0; round < ROUNDS; round++) {
    // They meet in the middle: each has done something of its own before.
    const operations = (name: string): OperationInput[] =>
      [`${name} first`, 'shared', `${name} last`].map((id) => ({
        operationType: BulkOperationType.Create,
        resourceBody: { id: `${id} ${round}`, pk: `round ${round}`, name },
      }));
    const codes = await race(both, (racer) =>
      racer.container.items.batch(operations(racer.name), `round ${round}`),
    );
    assert.deepEqual(codes, [200, 207], `round ${round}`);
    const { resources } = await container.items
      .query<string>('SELECT VALUE c.name FROM c', { partitionKey: `round ${round}` })
      .fetchAll();
    assert.equal(resources.length, 3, `round ${round}`);
    assert.equal(new Set(resources).size, 1, `round ${round}`);
  }
});

test('T10, T11: creating over an expired item that is not purged: one is 201, one is 409', async () => {
  const both = await racers({
    defaultTtl: -1,
    uniqueKeyPolicy: { uniqueKeys: [{ paths: ['/email'] }] },
  });
  const { container } = both[0] as Racer;
  for (let round = 0; round < ROUNDS; round++) {
    const item = { id: `x${round}`, pk: 'p', email: `mail-${round}` };
    const { etag } = await container.items.create({ ...item, ttl: 1 });
    server.clock.advance(1000);
    const codes = await race(both, (racer) =>
      racer.container.items.create({ ...item, by: racer.name }),
    );
    assert.deepEqual(codes, [201, 409], `round ${round}`);
    const late = await race(both, (racer) =>
      racer.container.item(item.id, 'p').replace({ ...item, late: true }, guarded(etag)),
    );
    assert.deepEqual(late, [412, 412], 'the etag of the dead is nobody’s');
  }
});

test('counters that both increase miss nothing', async () => {
  const both = await racers();
  const { container } = both[0] as Racer;
  await container.items.create({ id: 'n', pk: 'p', n: 0 });
  for (let round = 0; round < ROUNDS; round++) {
    const codes = await race(both, (racer) =>
      racer.container.item('n', 'p').patch([{ op: 'incr', path: '/n', value: 1 }]),
    );
    assert.deepEqual(codes, [200, 200]);
  }
  const { resource } = await container.item('n', 'p').read<{ readonly n: number }>();
  assert.equal(resource?.n, 2 * ROUNDS);
});
