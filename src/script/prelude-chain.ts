// The query API in JavaScript: __.filter(…), __.map(…), __.chain()…value(). Documents come page by
// page, and the steps are taken over each page; sorting needs all of them. Runs inside the sandbox.
import type { Callback } from './prelude.js';
import { refusal } from './prelude-globals.js';

interface Step {
  readonly sorts: boolean;
  take(items: readonly unknown[]): readonly unknown[];
}
type StepMaker = (...args: readonly unknown[]) => Step;
type Pick = (item: unknown) => unknown;
interface PageOptions {
  readonly pageSize?: number;
  readonly continuation?: string;
}
interface Readable {
  getSelfLink(): string;
  readDocuments(link: string, options: PageOptions, callback: Callback): boolean;
  readonly response: { setBody(body: unknown): void };
}
type RunSteps = (steps: readonly Step[], rest: readonly unknown[]) => { isAccepted: boolean };

export function chainSteps(): Record<string, StepMaker> {
  const sorted = (by: Pick, direction: number): Step => ({
    sorts: true,
    take: (items) => {
      const keyed = items.map((item) => ({ item, key: by(item) as number }));
      keyed.sort((a, b) => (a.key === b.key ? 0 : a.key < b.key ? -direction : direction));
      return keyed.map(({ item }) => item);
    },
  });
  const plain = (take: Step['take']): Step => ({ sorts: false, take });
  const makers: Record<string, (...args: readonly never[]) => Step> = {
    filter: (keep: Pick) => plain((items) => items.filter((item) => keep(item) === true)),
    map: (change: Pick) => plain((items) => items.map((item) => change(item))),
    pluck: (name: string) =>
      plain((items) => items.map((item) => (item as Record<string, unknown>)[name])),
    flatten: (shallow?: boolean) => plain((items) => items.flat(shallow ? 1 : 100)),
    sortBy: (by: Pick) => sorted(by, 1),
    sortByDescending: (by: Pick) => sorted(by, -1),
    unwind: (inner: Pick, result?: (outer: unknown, inner: unknown) => unknown) =>
      plain((items) =>
        items.flatMap((outer) => {
          const list = inner(outer);
          if (!Array.isArray(list)) return [];
          return list.map((each) => (result ? result(outer, each) : each));
        }),
      ),
  };
  return makers as Record<string, StepMaker>;
}

/** Without a callback the rows are the body of the response, as on the service. */
export function chainRunner(collection: Readable): RunSteps {
  /** The token of a page of sorted rows tells how many came before. */
  const SORTED = 'sorted:';
  const PAGE = 1000;
  const take = (steps: readonly Step[], items: readonly unknown[]) =>
    steps.reduce<readonly unknown[]>((rows, step) => step.take(rows), items);
  const read = (options: PageOptions, callback: Callback) =>
    collection.readDocuments(collection.getSelfLink(), options, callback);
  const runSorted = (steps: readonly Step[], options: PageOptions, callback: Callback) => {
    const all: unknown[] = [];
    const { pageSize = 0, continuation = '' } = options;
    const start = continuation.startsWith(SORTED) ? Number(continuation.slice(SORTED.length)) : 0;
    const finish = () => {
      const rows = take(steps, all);
      const end = pageSize > 0 ? start + pageSize : rows.length;
      const token = end < rows.length ? { continuation: SORTED + String(end) } : {};
      callback(undefined, rows.slice(start, end), token);
    };
    const more = (from: PageOptions): boolean =>
      read(from, (error, feed, next) => {
        if (error) return callback(error);
        for (const item of feed as unknown[]) all.push(item);
        const { continuation: token } = next as PageOptions;
        if (token === undefined) return finish();
        if (more({ pageSize: PAGE, continuation: token })) return;
        callback(refusal(408, 'There was no time to read all documents, which sorting needs.'));
      });
    return more({ pageSize: PAGE });
  };
  return (steps, rest) => {
    const options: PageOptions =
      rest.find((each) => typeof each === 'object' && each !== null) ?? {};
    const given = rest.find((each) => typeof each === 'function') as Callback | undefined;
    const answer: Callback = (error, rows) => {
      if (error) throw error;
      collection.response.setBody(rows);
    };
    const callback = given ?? answer;
    if (steps.some((step) => step.sorts))
      return { isAccepted: runSorted(steps, options, callback) };
    const isAccepted = read(options, (error, feed, next) =>
      error ? callback(error) : callback(undefined, take(steps, feed as unknown[]), next),
    );
    return { isAccepted };
  };
}

export function chainFor(collection: Readable): Record<string, unknown> {
  const makers = chainSteps();
  const run = chainRunner(collection);
  const step = (name: string, args: readonly unknown[]) => (makers[name] as StepMaker)(...args);
  const chained = (steps: readonly Step[]): Record<string, unknown> => {
    const links: Record<string, unknown> = { value: (...rest: unknown[]) => run(steps, rest) };
    for (const name of Object.keys(makers)) {
      links[name] = (...args: unknown[]) => chained([...steps, step(name, args)]);
    }
    return links;
  };
  /** How many arguments belong to the step itself; options and callback follow. */
  const own = (name: string, args: readonly unknown[]): number => {
    if (name === 'flatten') return typeof args[0] === 'boolean' ? 1 : 0;
    if (name !== 'unwind') return 1;
    return typeof args[1] === 'function' && args.length > 2 ? 2 : 1;
  };
  const links: Record<string, unknown> = { chain: () => chained([]) };
  for (const name of Object.keys(makers)) {
    links[name] = (...args: unknown[]) => {
      const count = own(name, args);
      return run([step(name, args.slice(0, count))], args.slice(count));
    };
  }
  return links;
}
