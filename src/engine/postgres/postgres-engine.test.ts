// The contract suite on a real PostgreSQL.
import { after } from 'node:test';
import { systemClock } from '../../time/clock.js';
import { systemEntropy } from '../../time/entropy.js';
import { describeEngine } from '../contract.suite.js';
import { type Cluster, openCluster } from './cluster.suite.js';
import { openPostgres } from './postgres-engine.js';

const { uuid, fraction } = systemEntropy();
let cluster: Cluster | undefined;
after(() => cluster?.stop());

const citusUrl = process.env.TEST_CITUS_URL;
if (citusUrl) {
  describeEngine('Citus', async () => {
    const url = new URL(citusUrl);
    url.searchParams.set('schema', `t${uuid().replaceAll('-', '')}`);
    const { wall } = systemClock();
    return (await openPostgres({ url: url.href, server: uuid(), fraction, wall })).engine;
  });
}

describeEngine('PostgreSQL', async () => {
  cluster = await openCluster();
  const { wall } = systemClock();
  const url = cluster.newStore();
  return (await openPostgres({ url, server: uuid(), fraction, wall })).engine;
});
