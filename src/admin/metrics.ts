// GET /_mayfly/metrics: Prometheus text.
import { ttlStatus } from '../documents/ttl.js';
import type { Gauge } from '../http/metrics.js';
import { round } from '../throughput/charges.js';
import { MayflyError } from '../value/errors.js';
import type { AdminAnswer, AdminRequest } from './server.js';

export async function readMetrics(request: AdminRequest): Promise<AdminAnswer> {
  const gauges = [
    ...(await containerGauges(request)),
    ...unitGauges(request),
    ...(await serverGauges(request)),
  ];
  return { text: request.metrics.render(gauges), type: 'text/plain; version=0.0.4' };
}

async function containerGauges(request: AdminRequest): Promise<readonly Gauge[]> {
  const { catalog, documents, at } = request;
  const live: Values = [];
  const expired: Values = [];
  const lag: Values = [];
  for (const database of catalog.databases()) {
    for (const container of catalog.containers(database)) {
      const labels = labelsOf(database.id, container.definition.id);
      try {
        const status = await ttlStatus(documents, container, at);
        live.push({ labels, value: status.live });
        expired.push({ labels, value: status.expired });
        lag.push({ labels, value: status.oldestLagSeconds });
      } catch (error) {
        // A container that was deleted meanwhile has no numbers any more.
        if (!(error instanceof MayflyError)) throw error;
      }
    }
  }
  return [
    gauge('mayfly_items', 'Live items.', live),
    gauge('mayfly_expired_items', 'Items expired and not purged yet.', expired),
    gauge('mayfly_purge_lag_seconds', 'How long the oldest expired item waits for its purge.', lag),
  ];
}

/** Of containers and collections alike. */
function unitGauges({ catalog, budgets }: AdminRequest): readonly Gauge[] {
  const charged: Values = [];
  const throttled: Values = [];
  const purged: Values = [];
  const provisioned: Values = [];
  for (const database of catalog.databases()) {
    for (const each of [...catalog.containers(database), ...catalog.collections.in(database)]) {
      const labels = labelsOf(database.id, each.definition.id);
      const usage = budgets.usage(each);
      charged.push({ labels, value: round(usage.charged) });
      throttled.push({ labels, value: usage.throttled });
      purged.push({ labels, value: round(usage.purged) });
      provisioned.push({ labels, value: budgets.perSecond(each) });
    }
  }
  return [
    counters('mayfly_request_units_total', 'Request units charged to requests.', charged),
    counters('mayfly_throttled_requests_total', 'Requests answered with 429.', throttled),
    counters('mayfly_purge_request_units_total', 'Request units the purge spent.', purged),
    gauge('mayfly_throughput', 'Request units per second, as provisioned or scaled.', provisioned),
  ];
}

async function serverGauges({ documents, purger }: AdminRequest): Promise<readonly Gauge[]> {
  const { purgedTotal, bytesTotal, paused } = purger.status();
  const size = await documents.engine.size();
  return [
    counter('mayfly_purged_items_total', 'Items purged since the start.', purgedTotal),
    counter('mayfly_purged_bytes_total', 'Bytes of items purged since the start.', bytesTotal),
    gauge('mayfly_purge_paused', '1 while the purge is paused.', [{ value: paused ? 1 : 0 }]),
    gauge('mayfly_store_bytes', 'Size of the store.', [{ value: size }]),
  ];
}

type Values = { labels: string; value: number }[];

function labelsOf(database: string, container: string): string {
  return `database=${quote(database)},container=${quote(container)}`;
}

function gauge(name: string, help: string, values: Gauge['values']): Gauge {
  return { name, help, type: 'gauge', values };
}

function counter(name: string, help: string, value: number): Gauge {
  return counters(name, help, [{ value }]);
}

function counters(name: string, help: string, values: Gauge['values']): Gauge {
  return { name, help, type: 'counter', values };
}

/** Label values escape backslash, quote and line feed, which is what JSON does to them too. */
function quote(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}
