// The indexing policies under test, and what they say about a path: read off the list of rules each
// time, without the engine's tree.

export interface Policy {
  readonly name: string;
  readonly lazy?: true;
  /** `/a/?` is the path itself, `/a/*` all below it, `[]` any element of an array. */
  readonly included: readonly string[];
  readonly excluded: readonly string[];
  readonly composites: readonly (readonly {
    readonly path: string;
    readonly descending: boolean;
  }[])[];
}

const ascending = (path: string) => ({ path, descending: false });
const descending = (path: string) => ({ path, descending: true });

export const POLICIES: readonly [Policy, ...Policy[]] = [
  { name: 'default', included: ['/*'], excluded: ['/"_etag"/?'], composites: [] },
  {
    name: 'excluded',
    included: ['/*', '/o/q/r/?'],
    excluded: ['/b/?', '/o/*', '/list/[]/v/?', '/tags/*', '/"_etag"/?'],
    composites: [
      [ascending('/a'), ascending('/n')],
      [descending('/a'), ascending('/s')],
      [ascending('/b'), descending('/n'), ascending('/s')],
    ],
  },
  {
    name: 'named',
    included: ['/a/?', '/n/?', '/s/?', '/long/?', '/tags/[]/?', '/list/[]/k/?', '/o/q/*'],
    excluded: ['/*'],
    composites: [[descending('/n'), descending('/long')]],
  },
  {
    name: 'lazy',
    lazy: true,
    included: ['/*', '/n/?'],
    excluded: ['/b/?', '/"_etag"/?'],
    composites: [[ascending('/a'), descending('/n')]],
  },
  { name: 'nothing', included: [], excluded: ['/*'], composites: [] },
];

/** The policy as a client would send it. */
export function policyBody(policy: Policy): object {
  return {
    indexingMode: policy.lazy ? 'lazy' : 'consistent',
    automatic: true,
    includedPaths: policy.included.map((path) => ({ path })),
    excludedPaths: policy.excluded.map((path) => ({ path })),
    compositeIndexes: policy.composites.map((paths) =>
      paths.map(({ path, descending: down }) => ({
        path,
        order: down ? 'descending' : 'ascending',
      })),
    ),
  };
}

/** Deeper beats shallower, `/?` beats `/*`. `id` and `_ts` are always in. */
export function isIncluded(policy: Policy, path: readonly (string | number)[]): boolean {
  const text = textOfPath(path);
  if (text === '/id' || text === '/_ts') return true;
  const weight = (rule: string) => {
    if (rule === `${text}/?`) return 2 * rule.length + 1;
    return rule.endsWith('/*') && `${text}/`.startsWith(rule.slice(0, -1)) ? 2 * rule.length : -1;
  };
  const most = (rules: readonly string[]) => Math.max(-1, ...rules.map(weight));
  return most(policy.included) > most(policy.excluded);
}

/**
 * Elements of arrays are never included by name: an array has no place for the one that it lacks.
 */
export function isIncludedByName(policy: Policy, path: readonly (string | number)[]): boolean {
  if (path.some((step) => typeof step === 'number')) return false;
  return policy.included.includes(`${textOfPath(path)}/?`);
}

function textOfPath(path: readonly (string | number)[]): string {
  return path.map((step) => (typeof step === 'number' ? '/[]' : `/${step}`)).join('');
}
