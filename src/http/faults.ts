// Faults on demand: rules that make a server answer wrongly, late or not at all, so that clients
// can be tested. Without a rule a request pays for one look at a number.
import { failure } from '../value/errors.js';

/** One operation of a face, as rules can name it. */
export interface Operation {
  readonly name: string;
  readonly resource: string;
  /** How many names its address holds: of the database, of the container, of what is in it. */
  readonly names: number;
  /** Whether the last of them is that of the resource itself. */
  readonly hasId: boolean;
}

/** What a request does, and to what. */
export interface Target {
  readonly operation: string;
  readonly resource: string;
  readonly names: readonly string[];
}

export interface FaultRule {
  /** Any operation, resource, database, container or id where it is absent. */
  readonly operations: readonly string[] | undefined;
  readonly resource: string | undefined;
  readonly database: string | undefined;
  readonly container: string | undefined;
  readonly id: string | undefined;
  /** Of the requests that match, the share that is struck, by the numbers that follow the seed. */
  readonly probability: number;
  readonly seed: number;
  /** How many requests that match pass first, and how many are struck at the most. */
  readonly skip: number;
  readonly count: number | undefined;
  readonly delayMs: number;
  /** Whether the operation is carried out: `after` makes its answer the one that is lost. */
  readonly when: 'before' | 'after';
  readonly effect: FaultEffect;
}
export type FaultEffect =
  | { readonly kind: 'delay' }
  | { readonly kind: 'drop' }
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly subStatus: number;
      readonly retryAfterMs: number | undefined;
      readonly headers: Readonly<Record<string, string>>;
    }
  | {
      /** Of MongoDB commands. */
      readonly kind: 'error';
      readonly code: number;
      readonly errorLabels: readonly string[] | undefined;
      readonly retryAfterMs: number | undefined;
    };

/** The resource of MongoDB commands: rules strike them where they name it, or the command. */
const MONGO = 'mongo';

export interface Fault {
  readonly id: string;
  readonly rule: FaultRule;
  /** Requests that matched, and those of them that were struck. */
  seen: number;
  hits: number;
}

const RULES_MAX = 100;

export class Faults {
  readonly operations: readonly Operation[];
  readonly #faults = new Map<string, Fault & { readonly chance: () => number }>();
  #nextId = 1;

  constructor(operations: readonly Operation[]) {
    this.operations = operations;
  }

  get isIdle(): boolean {
    return this.#faults.size === 0;
  }

  list(): readonly Fault[] {
    return [...this.#faults.values()];
  }

  find(id: string): Fault | undefined {
    return this.#faults.get(id);
  }

  add(rule: FaultRule): Fault {
    if (this.#faults.size >= RULES_MAX) {
      throw failure('invalidInput', { why: `There are ${RULES_MAX} rules already; delete some.` });
    }
    if (!this.operations.some((operation) => canMatch(rule, operation))) {
      const why = 'No operation can match this rule: its operation, resource and names exclude';
      throw failure('invalidInput', { why: `${why} each other.` });
    }
    const id = String(this.#nextId++);
    const fault = { id, rule, seen: 0, hits: 0, chance: numbersFrom(rule.seed) };
    this.#faults.set(id, fault);
    return fault;
  }

  remove(id: string): boolean {
    return this.#faults.delete(id);
  }

  clear(): number {
    const { size } = this.#faults;
    this.#faults.clear();
    return size;
  }

  /** The first rule that strikes, in the order in which they were made. */
  strike(target: Target): Fault | undefined {
    for (const fault of this.#faults.values()) {
      const { rule } = fault;
      if (!matches(rule, target) || isUsedUp(fault)) continue;
      fault.seen += 1;
      // The number is drawn either way, so that what is struck depends on the seed alone.
      const isChosen = fault.chance() < rule.probability;
      if (fault.seen <= rule.skip || !isChosen) continue;
      fault.hits += 1;
      return fault;
    }
    return undefined;
  }
}

function isUsedUp({ rule, hits }: Fault): boolean {
  return rule.count !== undefined && hits >= rule.count;
}

function canMatch(rule: FaultRule, { name, resource, names, hasId }: Operation): boolean {
  if (!fits(rule, resource)) return false;
  if (rule.operations && !rule.operations.includes(name)) return false;
  if (rule.resource !== undefined && rule.resource !== resource) return false;
  if (rule.database !== undefined && names < 1) return false;
  if (rule.container !== undefined && names < 2) return false;
  return rule.id === undefined || hasId;
}

function matches(rule: FaultRule, { operation, resource, names }: Target): boolean {
  return (
    fits(rule, resource) &&
    (rule.operations === undefined || rule.operations.includes(operation)) &&
    (rule.resource === undefined || rule.resource === resource) &&
    (rule.database === undefined || rule.database === names[0]) &&
    (rule.container === undefined || rule.container === names[1]) &&
    (rule.id === undefined || rule.id === names.at(-1))
  );
}

/** Statuses are for the REST API, codes for MongoDB, of which rules have to speak. */
function fits({ effect, operations, resource: named }: FaultRule, resource: string): boolean {
  if (resource !== MONGO) return effect.kind !== 'error';
  return effect.kind !== 'answer' && (operations !== undefined || named === MONGO);
}

/** Numbers in [0, 1) that are the same for the same seed: mulberry32. */
function numbersFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
