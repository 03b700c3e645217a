// Checks every answer to a random request, and keeps count of what the answers have confirmed.
import assert from 'node:assert/strict';
import { type Answer, bytesOf, type WireRequest } from './wire.suite.js';

type Kind = 'databases' | 'containers' | 'items';
type Counts = Readonly<Record<Kind, number>>;

export class Tally {
  readonly #seed: number;
  readonly #seen = new Map<number | string, number>();
  readonly #confirmed: Record<Kind, number> = { databases: 0, containers: 0, items: 0 };
  /** What was sent whole and never answered may have happened, or not. */
  readonly #perhapsMore: Record<Kind, number> = { databases: 0, containers: 0, items: 0 };
  readonly #perhapsLess: Record<Kind, number> = { databases: 0, containers: 0, items: 0 };

  constructor(seed: number) {
    this.#seed = seed;
  }

  note(what: number | string): void {
    this.#seen.set(what, (this.#seen.get(what) ?? 0) + 1);
  }

  /** The request is undefined when the answer is to garbage. */
  answered(request: WireRequest | undefined, answer: Answer): void {
    this.note(answer.status);
    const complaint = complaintAbout(request, answer);
    if (complaint !== undefined) {
      const asked = request ? bytesOf(request).subarray(0, 3000).toString('latin1') : 'garbage';
      const said = `${answer.status} ${answer.body.subarray(0, 600)}`;
      assert.fail(`SEED=${this.#seed} ${complaint}\n${asked}\n${said}`);
    }
    if (request && isBatch(request)) this.#confirmed.items += batchChange(answer);
    const effect = request && effectOf(request);
    if (effect && answer.status === effect.status) this.#confirmed[effect.kind] += effect.change;
  }

  unanswered(request: WireRequest): void {
    this.note('no answer');
    if (isBatch(request)) {
      this.#perhapsMore.items += BATCH_OPERATIONS;
      this.#perhapsLess.items += BATCH_OPERATIONS;
    }
    const effect = effectOf(request);
    if (effect?.change === 1) this.#perhapsMore[effect.kind] += 1;
    if (effect?.change === -1) this.#perhapsLess[effect.kind] += 1;
  }

  /** What is there now must be what was there, and what the answers confirmed. */
  compare(before: Counts, now: Counts): void {
    for (const kind of ['databases', 'containers', 'items'] as const) {
      const expected = before[kind] + this.#confirmed[kind];
      const least = expected - this.#perhapsLess[kind];
      const most = expected + this.#perhapsMore[kind];
      const text = `SEED=${this.#seed} ${now[kind]} ${kind}, where ${least} to ${most} were expected`;
      assert.ok(least <= now[kind] && now[kind] <= most, text);
    }
  }

  summary(): string {
    const rows = [...this.#seen].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
    const { databases, containers, items } = this.#confirmed;
    const made = `${databases} databases, ${containers} containers, ${items} more items`;
    return `${rows.map(([what, count]) => `${what}: ${count}`).join(', ')}; ${made}`;
  }
}

/** What is wrong with an answer; undefined when it is as it should be. */
function complaintAbout(request: WireRequest | undefined, answer: Answer): string | undefined {
  const { status, headers, body } = answer;
  if (status >= 500) return 'a defect';
  if (headers.has('x-injected')) return 'a header of the client among those of the server';
  if (status < 400 || request?.method === 'HEAD') return undefined;
  if (headers.get('content-type') !== 'application/json') return 'a refusal that is no JSON';
  try {
    const { code, message } = JSON.parse(body.toString()) as Record<string, unknown>;
    const isComplete = typeof code === 'string' && typeof message === 'string' && message !== '';
    return isComplete ? undefined : 'a refusal without code or message';
  } catch {
    return 'a refusal that is no JSON';
  }
}

/** As many operations as the random batches have. */
const BATCH_OPERATIONS = 6;

function isBatch({ method, headers }: WireRequest): boolean {
  return method === 'POST' && Object.hasOwn(headers, 'x-ms-cosmos-is-batch-request');
}

/** A batch says of each of its operations what became of it. */
function batchChange({ status, body }: Answer): number {
  if (status !== 200 && status !== 207) return 0;
  const results: unknown = JSON.parse(body.toString());
  if (!Array.isArray(results)) return 0;
  const codes = results.map(({ statusCode }: { statusCode: number }) => statusCode);
  return codes.filter((code) => code === 201).length - codes.filter((code) => code === 204).length;
}

const KINDS: ReadonlyMap<string, Kind> = new Map([
  ['dbs', 'databases'],
  ['colls', 'containers'],
  ['docs', 'items'],
]);

/** What a request does if it succeeds with this status. */
function effectOf({
  method,
  path,
}: WireRequest): { kind: Kind; change: 1 | -1; status: number } | undefined {
  const segments = path.split('/').filter((segment) => segment !== '');
  if (method === 'DELETE' && segments.at(-2) === 'docs') {
    return { kind: 'items', change: -1, status: 204 };
  }
  const kind = method === 'POST' ? KINDS.get(segments.at(-1) ?? '') : undefined;
  return kind && { kind, change: 1, status: 201 };
}
