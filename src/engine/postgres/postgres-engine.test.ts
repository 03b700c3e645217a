// The contract suite on a real PostgreSQL, or on the cluster that TEST_CITUS_URL names.
import { after } from 'node:test';
import { describeEngine } from '../contract.suite.js';
import { type Cluster, openAt, openCluster } from './cluster.suite.js';

let cluster: Cluster | undefined;
after(() => cluster?.stop());

describeEngine(process.env.TEST_CITUS_URL ? 'Citus' : 'PostgreSQL', async () => {
  cluster = await openCluster();
  return openAt(cluster.newStore());
});
