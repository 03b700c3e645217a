// Counters of what was answered and how long it took, in the Prometheus text format.

/** Upper bounds in milliseconds; each power of ten in three steps. */
const BUCKETS_MS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000];

interface Histogram {
  readonly buckets: number[];
  sumMs: number;
  count: number;
}
export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter';
  readonly values: readonly { readonly labels?: string; readonly value: number }[];
}

export class Metrics {
  readonly #requests = new Map<string, Map<number, number>>();
  readonly #latency = new Map<string, Histogram>();

  /** Operations come from the route table, so there are only so many of them. */
  observe(operation: string, status: number, ms: number): void {
    const statuses = this.#requests.get(operation) ?? new Map<number, number>();
    this.#requests.set(operation, statuses.set(status, (statuses.get(status) ?? 0) + 1));
    const histogram = this.#latency.get(operation) ?? newHistogram();
    this.#latency.set(operation, histogram);
    const index = BUCKETS_MS.findIndex((bound) => ms <= bound);
    const bucket = index < 0 ? BUCKETS_MS.length : index;
    histogram.buckets[bucket] = (histogram.buckets[bucket] ?? 0) + 1;
    histogram.sumMs += ms;
    histogram.count += 1;
  }

  render(gauges: readonly Gauge[]): string {
    return [...this.#renderRequests(), ...gauges.flatMap(renderGauge), ''].join('\n');
  }

  *#renderRequests(): Iterable<string> {
    yield '# HELP mayfly_requests_total Requests answered, by operation and HTTP status.';
    yield '# TYPE mayfly_requests_total counter';
    for (const [operation, statuses] of this.#requests) {
      for (const [status, count] of statuses) {
        yield `mayfly_requests_total{operation="${operation}",status="${status}"} ${count}`;
      }
    }
    yield '# HELP mayfly_request_duration_seconds Time from request to answer.';
    yield '# TYPE mayfly_request_duration_seconds histogram';
    for (const [operation, histogram] of this.#latency)
      yield* renderHistogram(operation, histogram);
  }
}

function newHistogram(): Histogram {
  return { buckets: new Array<number>(BUCKETS_MS.length + 1).fill(0), sumMs: 0, count: 0 };
}

function* renderHistogram(operation: string, histogram: Histogram): Iterable<string> {
  const name = 'mayfly_request_duration_seconds';
  let below = 0;
  for (const [index, bound] of BUCKETS_MS.entries()) {
    below += histogram.buckets[index] ?? 0;
    yield `${name}_bucket{operation="${operation}",le="${bound / 1000}"} ${below}`;
  }
  yield `${name}_bucket{operation="${operation}",le="+Inf"} ${histogram.count}`;
  yield `${name}_sum{operation="${operation}"} ${histogram.sumMs / 1000}`;
  yield `${name}_count{operation="${operation}"} ${histogram.count}`;
}

function renderGauge(gauge: Gauge): readonly string[] {
  return [
    `# HELP ${gauge.name} ${gauge.help}`,
    `# TYPE ${gauge.name} ${gauge.type}`,
    ...gauge.values.map(
      ({ labels, value }) => `${gauge.name}${labels ? `{${labels}}` : ''} ${value}`,
    ),
  ];
}
