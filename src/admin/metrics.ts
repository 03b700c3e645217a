// GET /_mayfly/metrics: Prometheus text.
import { ttlStatus } from '../documents/ttl.js';
import type { Gauge } from '../http/metrics.js';
import { MayflyError } from '../value/errors.js';
import type { AdminAnswer, AdminRequest } from './server.js';

export async function readMetrics(request: AdminRequest): Promise<AdminAnswer> {
  const gauges = [...(await containerGauges(request)), ...(await serverGauges(request))];
  return { text: request.metrics.render(gauges), type: 'text/plain; version=0.0.4' };
}

async function containerGauges(request: AdminRequest): Promise<readonly Gauge[]> {
  const { catalog, documents, at } = request;
  const live: { labels: string; value: number }[] = [];
  const expired: typeof live = [];
  const lag: typeof live = [];
  for (const database of catalog.databases()) {
    for (const container of catalog.containers(database)) {
      const labels = `database=${quote(database.id)},container=${quote(container.definition.id)}`;
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

function gauge(name: string, help: string, values: Gauge['values']): Gauge {
  return { name, help, type: 'gauge', values };
}

function counter(name: string, help: string, value: number): Gauge {
  return { name, help, type: 'counter', values: [{ value }] };
}

/** Label values escape backslash, quote and line feed, which is what JSON does to them too. */
function quote(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}
