// The contract suite on a real PostgreSQL.
import { after } from 'node:test';
import { systemEntropy } from '../../time/entropy.js';
import { describeEngine } from '../contract.suite.js';
import { type Cluster, openCluster } from './cluster.suite.js';
import { openPostgres } from './postgres-engine.js';

const { uuid, fraction } = systemEntropy();
let cluster: Cluster | undefined;
after(() => cluster?.stop());

describeEngine('PostgreSQL', async () => {
  cluster = await openCluster();
  return openPostgres({ url: cluster.newStore(), server: uuid(), fraction });
});
