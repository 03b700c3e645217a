// The real SDK against enforced throughput: it waits as it is told, and gets through. The clock
// stands still until somebody was refused, so that a slow machine cannot pay for everything first.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  BulkOperationType,
  ChangeFeedStartFrom,
  type Container,
  CosmosClient,
} from '@azure/cosmos';
import { start, VirtualClock } from '../../src/main.js';

const clock = new VirtualClock();
const mayfly = await start({ throughput: 'enforce', clock });
const { cosmos: endpoint, key } = mayfly;
const client = new CosmosClient({ endpoint, key });
const impatient = new CosmosClient({
  endpoint,
  key,
  connectionPolicy: { retryOptions: { maxRetryAttemptCount: 0 } },
});
after(async () => {
  client.dispose();
  impatient.dispose();
  await mayfly.close();
});
before(async () => {
  await client.databases.create({ id: 'd' });
});

let containers = 0;

async function newContainer(throughput = 400): Promise<Container> {
  const id = `c${++containers}`;
  const { container } = await client.database('d').containers.create({
    id,
    partitionKey: '/pk',
    throughput,
  });
  return container;
}

/** Puts the budget into debt for this long. */
async function exhaust(container: Container, ms: number): Promise<void> {
  clock.freeze();
  const bytes = ((ms * 0.4 + 400 - 7) / 45) * 99 * 1024;
  await container.items.create({ id: 'debt', pk: 'd', pad: 'x'.repeat(Math.round(bytes)) });
}

/** Does the work while nothing flows in, until it was refused once. */
async function throttling<T>(container: Container, work: () => Promise<T>): Promise<T> {
  const working = work();
  while ((await throttled(container)) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  clock.unfreeze();
  return working;
}

async function throttled(container: Container): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  const text = await (await fetch(`${endpoint}_mayfly/metrics`, { headers })).text();
  const name = `mayfly_throttled_requests_total{database="d",container="${container.id}"} `;
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(name))
      ?.slice(name.length),
  );
}

test('a client that does not retry is told when to come back', async () => {
  const container = await newContainer();
  await exhaust(container, 200);
  const refused = await impatient
    .database('d')
    .container(container.id)
    .item('1', 'p')
    .read()
    .catch(
      (error: unknown) => error as { code: number; retryAfterInMs: number; substatus: number },
    );
  assert.ok('retryAfterInMs' in refused);
  assert.equal(refused.code, 429);
  assert.equal(refused.substatus, 3200);
  assert.ok(refused.retryAfterInMs > 0 && refused.retryAfterInMs <= 250);
});

test('a client as it comes gets through: writes, reads, patches, batches', async () => {
  const container = await newContainer();
  await exhaust(container, 150);
  const { statusCode } = await throttling(container, () =>
    container.items.create({ id: '1', pk: 'p', n: 1 }),
  );
  assert.equal(statusCode, 201);
  const patched = await container.item('1', 'p').patch([{ op: 'incr', path: '/n', value: 1 }]);
  assert.equal(patched.resource?.n, 2);
  const batch = await container.items.batch(
    [
      { operationType: BulkOperationType.Create, resourceBody: { id: '2', pk: 'p' } },
      { operationType: BulkOperationType.Read, id: '1' },
    ],
    'p',
  );
  assert.equal(batch.code, 200);
  const sum = batch.result?.reduce((total, { requestCharge }) => total + requestCharge, 0) ?? 0;
  assert.equal(sum.toFixed(2), Number(batch.headers?.['x-ms-request-charge']).toFixed(2));
});

test('many writers at once all get through, at the pace that is provisioned', async () => {
  const container = await newContainer();
  clock.freeze();
  const started = clock.now();
  const written = await throttling(container, () =>
    Promise.all(
      Array.from({ length: 150 }, (_, index) =>
        container.items.create({ id: `w${index}`, pk: `p${index}` }),
      ),
    ),
  );
  const charges = written.map(({ requestCharge }) => requestCharge);
  const spent = charges.reduce((sum, charge) => sum + charge, 0);
  const tookMs = clock.now() - started;
  assert.ok(tookMs >= ((spent - 400 - 7) * 1000) / 400, `${spent} in ${tookMs} ms`);
  const { resources } = await container.items.query('SELECT VALUE COUNT(1) FROM c').fetchAll();
  assert.deepEqual(resources, [150]);
});

test('bulk gets through', async () => {
  const container = await newContainer();
  const operations = Array.from({ length: 150 }, (_, index) => ({
    operationType: BulkOperationType.Create,
    partitionKey: `p${index % 7}`,
    resourceBody: { id: `b${index}`, pk: `p${index % 7}` },
  }));
  clock.freeze();
  const results = await throttling(container, () =>
    container.items.executeBulkOperations(operations as never),
  );
  const codes = results.map(
    (result) => (result as { response?: { statusCode?: number } }).response?.statusCode,
  );
  assert.deepEqual([...new Set(codes)], [201]);
});

test('queries and feeds get through, page by page', async () => {
  const container = await newContainer();
  for (let index = 0; index < 30; index++)
    await container.items.create({ id: `${index}`, pk: 'p' });
  await exhaust(container, 150);
  const { resources } = await throttling(container, () =>
    container.items.query('SELECT c.id FROM c WHERE c.pk = "p"', { maxItemCount: 5 }).fetchAll(),
  );
  assert.equal(resources.length, 30);
});

test('charges as the SDK tells them', async () => {
  const container = await newContainer(10_000);
  clock.unfreeze();
  const item = { id: '1', pk: 'p', pad: 'x'.repeat(990) };
  const created = await container.items.create(item);
  assert.ok(created.requestCharge >= 5.5 && created.requestCharge <= 6, `${created.requestCharge}`);
  const one = container.item('1', 'p');
  assert.equal((await one.read()).requestCharge, 1);
  assert.equal((await container.item('none', 'p').read()).requestCharge, 1);
  const half = Math.round(created.requestCharge * 150) / 100;
  assert.equal((await one.replace(item)).requestCharge, half);
  assert.equal((await container.items.upsert(item)).requestCharge, half);
  const patched = await one.patch([{ op: 'set', path: '/n', value: 1 }]);
  assert.ok(patched.requestCharge > half, 'one more value is indexed');
  const large = { id: '2', pk: 'p', pad: 'x'.repeat(102_400) };
  assert.ok((await container.items.create(large)).requestCharge > 50);
  assert.ok(Math.abs((await container.item('2', 'p').read()).requestCharge - 10) < 0.1);
  assert.ok((await container.item('2', 'p').delete()).requestCharge > 50);
  for (let index = 0; index < 40; index++)
    await container.items.create({ id: `q${index}`, pk: 'p' });
  const spent = async (maxItemCount: number) => {
    const options = { maxItemCount, partitionKey: 'p' };
    const pages = container.items.query('SELECT * FROM c', options).getAsyncIterator();
    let sum = 0;
    for await (const { requestCharge } of pages) sum += requestCharge;
    return sum;
  };
  const [whole, paged] = [await spent(1000), await spent(7)];
  assert.ok(Math.abs(paged / whole - 1) < 0.1, `${paged} by pages, ${whole} at once`);
  const feed = container.items.getChangeFeedIterator({
    maxItemCount: 100,
    changeFeedStartFrom: ChangeFeedStartFrom.Beginning(),
  });
  const news = await feed.readNext();
  assert.ok(news.requestCharge > 1 && news.count === 41, `${news.requestCharge}, ${news.count}`);
  const nothing = await feed.readNext();
  assert.deepEqual([nothing.statusCode, nothing.requestCharge], [304, 1]);
});

test('throughput is read and replaced through the SDK', async () => {
  const container = await newContainer(700);
  const { resource: offer } = await container.readOffer();
  assert.equal(offer?.content?.offerThroughput, 700);
  assert.ok(offer?.content && offer.id);
  offer.content.offerThroughput = 1100;
  const replaced = await client.offer(offer.id).replace(offer);
  assert.equal(replaced.resource?.content?.offerThroughput, 1100);
  const { container: scaled } = await client.database('d').containers.create({
    id: 'scaled',
    partitionKey: '/pk',
    maxThroughput: 4000,
  });
  const autoscale = (await scaled.readOffer()).resource;
  assert.equal(autoscale?.content?.offerAutopilotSettings?.maxThroughput, 4000);
  assert.equal(autoscale?.content?.offerThroughput, 400);
});
