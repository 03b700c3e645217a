// The steps of a history, and how one is chosen by chance. A step names etags and pages by what
// they are to the server ("current", "the second paging"), so that two servers can take the same.
import {
  type Random,
  randomInteger,
  randomJson,
  seededRandom,
} from '../../src/value/random.suite.js';
import type { Body, ContainerModel, Kind, Partition, Place } from './model.suite.js';
import type { Question } from './query.suite.js';

export type Condition = 'current' | 'stale' | 'any' | undefined;

export interface WriteStep extends Place {
  readonly do: 'write';
  readonly box: number;
  readonly kind: Kind;
  readonly body: Body;
  readonly ifMatch: Condition;
}
export interface DeleteStep extends Place {
  readonly do: 'delete';
  readonly box: number;
  readonly ifMatch: Condition;
}
export interface ReadStep extends Place {
  readonly do: 'read';
  readonly box: number;
  readonly ifNoneMatch: Condition;
}
export interface BurstStep extends Place {
  readonly do: 'burst';
  readonly box: number;
  /** All of them on the same item, sent at once. */
  readonly parts: readonly (WriteStep | DeleteStep | ReadStep)[];
  /** A purge at the same time. */
  readonly purge: boolean;
  /** What the item is set to afterwards, so that every server goes on from the same state. */
  readonly after: Body;
}
export interface PageStep {
  readonly do: 'page';
  readonly paging: number;
  readonly first: boolean;
  readonly box: number;
  readonly partition: Partition | 'all';
  readonly itemsMax: number;
}
export interface QueryStep {
  readonly do: 'query';
  readonly box: number;
  readonly partition: Partition | 'all';
  readonly question: Question;
  readonly value: unknown;
}
export type Step =
  | WriteStep
  | DeleteStep
  | ReadStep
  | BurstStep
  | PageStep
  | { readonly do: 'list'; readonly box: number; readonly partition: Partition | 'all' }
  | QueryStep
  | { readonly do: 'defaultTtl'; readonly box: number; readonly value: unknown }
  | { readonly do: 'clock'; readonly toMs: number }
  | { readonly do: 'purge' }
  | { readonly do: 'background'; readonly on: boolean }
  | { readonly do: 'catchUp' }
  | { readonly do: 'restart' }
  | { readonly do: 'recreate'; readonly box: number; readonly defaultTtl: number | undefined }
  | { readonly do: 'status'; readonly box: number }
  | ({ readonly do: 'explain'; readonly box: number } & Place)
  | { readonly do: 'preview'; readonly box: number; readonly value: number | null };

/** What the choice of a step may depend on. */
export interface Sight {
  readonly nowMs: number;
  readonly boxes: readonly ContainerModel[];
  /** Lists that were begun and have not come to their end. */
  readonly openPagings: readonly number[];
}

interface Target extends Place {
  readonly box: number;
}

export const BOXES = 2;
const IDS = ['i', 'ii', 'iii', 'iv', 'v'] as const;
const PARTITIONS = ['a', 'b', null, undefined, 1, 2.5, '1'] as const;
const TTLS_WRONG = [null, 0, -2, 1.5, '60', 2_147_483_648, true, {}] as const;
const UNIQUE = [null, 1, '1', 'x', 'y', 'z'] as const;
const DAY_MS = 86_400_000;
/** How many steps the background purge stays on, and when in between it is waited for. */
const BACKGROUND_STEPS = 60;
const CATCH_UP_AFTER = 40;
const OPEN_PAGINGS_MAX = 3;

export interface Chances {
  readonly restarts: boolean;
  /** Number of times that the background purge is let loose, which costs real time. */
  readonly backgrounds: number;
  readonly steps: number;
}

export class Chooser {
  readonly #random: Random;
  readonly #chances: Chances;
  #taken = 0;
  #counter = 0;
  #pagings = 0;
  #backgroundSince: number | undefined;
  #backgroundsLeft: number;

  constructor(seed: number, chances: Chances) {
    this.#random = seededRandom(seed);
    this.#chances = chances;
    this.#backgroundsLeft = chances.backgrounds;
  }

  next(sight: Sight): Step {
    this.#taken += 1;
    return this.#backgroundStep() ?? this.#anyStep(sight);
  }

  /** The background purge runs by itself, so meanwhile nothing may happen that revives items. */
  #backgroundStep(): Step | undefined {
    if (this.#backgroundSince !== undefined) {
      const since = this.#taken - this.#backgroundSince;
      if (since === CATCH_UP_AFTER) return { do: 'catchUp' };
      if (since < BACKGROUND_STEPS) return undefined;
      this.#backgroundSince = undefined;
      return { do: 'background', on: false };
    }
    const often = this.#chances.backgrounds / this.#chances.steps;
    if (this.#backgroundsLeft === 0 || this.#random() > 1.5 * often) return undefined;
    this.#backgroundsLeft -= 1;
    this.#backgroundSince = this.#taken;
    return { do: 'background', on: true };
  }

  #anyStep(sight: Sight): Step {
    const { box, ...place } = this.#dying(sight) ?? this.#place(sight);
    const calm = this.#backgroundSince === undefined;
    const roll = this.#random() * 100;
    if (roll < 36) return this.#write(box, place);
    if (roll < 41) return this.#delete(box, place);
    if (roll < 50) return this.#read(box, place);
    if (roll < 54) return this.#query(box);
    if (roll < 58) return { do: 'list', box, partition: this.#scope() };
    if (roll < 68) return this.#page(box, sight.openPagings);
    if (roll < 79) return { do: 'clock', toMs: this.#instant(sight, calm) };
    if (roll < 83) return this.#burst(box, place, calm);
    if (roll < 83.5) return { do: 'recreate', box, defaultTtl: this.#defaultTtl() };
    if (roll < 84) return this.#chances.restarts ? { do: 'restart' } : this.#read(box, place);
    if (!calm) return this.#read(box, place);
    if (roll < 90) return { do: 'defaultTtl', box, value: this.#anyDefaultTtl() };
    if (roll < 92) return { do: 'purge' };
    if (roll < 95) return { do: 'status', box };
    if (roll < 98) return { do: 'explain', box, ...place };
    return { do: 'preview', box, value: this.#defaultTtl() ?? null };
  }

  /** An item that dies at this very moment, where mistakes are most likely. */
  #dying({ boxes, nowMs }: Sight): Target | undefined {
    if (this.#random() < 0.3) return undefined;
    const items = boxes.flatMap((model, box) =>
      model
        .kept()
        .filter((item) => Math.abs((model.dueMs(item) ?? 0) - nowMs) <= 1)
        .map(({ partition, id }) => ({ box, partition, id })),
    );
    return this.#pick(items);
  }

  /** Mostly an item that is there, dead or alive. */
  #place({ boxes }: Sight): Target {
    const box = randomInteger(this.#random, BOXES);
    const item = this.#random() < 0.65 ? this.#pick(boxes[box]?.kept() ?? []) : undefined;
    if (item) return { box, partition: item.partition, id: item.id };
    return { box, partition: this.#pick(PARTITIONS), id: this.#pick(IDS) };
  }

  #scope(): Partition | 'all' {
    return this.#random() < 0.6 ? 'all' : this.#pick(PARTITIONS);
  }

  #write(box: number, place: Place): WriteStep {
    const kind = this.#pick(['create', 'upsert', 'replace', 'patch'] as const);
    const ifMatch = kind === 'create' ? undefined : this.#condition();
    return { do: 'write', box, ...place, kind, body: this.#body(place), ifMatch };
  }

  #delete(box: number, place: Place): DeleteStep {
    return { do: 'delete', box, ...place, ifMatch: this.#condition() };
  }

  #read(box: number, place: Place): ReadStep {
    const ifNoneMatch = this.#random() < 0.8 ? undefined : this.#pick(['current', 'stale']);
    return { do: 'read', box, ...place, ifNoneMatch };
  }

  #query(box: number): QueryStep {
    const question = this.#pick(['count', 'find', 'order']);
    return { do: 'query', box, partition: this.#scope(), question, value: this.#pick(UNIQUE) };
  }

  #condition(): Condition {
    return this.#random() < 0.6 ? undefined : this.#pick(['current', 'current', 'stale', 'any']);
  }

  /** The counter tells any two writes apart. */
  #body({ partition, id }: Place): Body {
    const random = this.#random;
    const ttl = this.#ttl();
    return {
      id,
      n: this.#counter++,
      ...(partition === undefined ? {} : { pk: partition }),
      ...(ttl === undefined ? {} : { ttl }),
      ...(random() < 0.3 ? {} : { u: this.#pick(UNIQUE) }),
      ...(random() < 0.5 ? {} : { v: { w: this.#pick(['p', 'q', 7]) } }),
      ...(random() < 0.5 ? {} : { x: this.#counter }),
      ...(random() < 0.8 ? {} : { any: randomJson(random, 2) }),
    };
  }

  /** With values of unique keys that nobody else uses, so that only the item itself matters. */
  #lonelyBody(place: Place): Body {
    const own = `only-${this.#counter}`;
    return { ...this.#body(place), u: own, v: { w: own }, x: own };
  }

  #ttl(): unknown {
    const roll = this.#random();
    if (roll < 0.45) return undefined;
    if (roll < 0.53) return -1;
    if (roll < 0.78) return 1 + randomInteger(this.#random, 12);
    if (roll < 0.86) return 60 + randomInteger(this.#random, 600);
    if (roll < 0.9) return 2_147_483_647;
    return this.#pick(TTLS_WRONG);
  }

  #defaultTtl(): number | undefined {
    const some = 1 + randomInteger(this.#random, 20);
    return this.#pick([undefined, undefined, -1, some, some, some, 300, 2_147_483_647]);
  }

  #anyDefaultTtl(): unknown {
    if (this.#random() < 0.12) return this.#pick([0, -2, 1.5, '60', 2_147_483_648, {}]);
    return this.#random() < 0.1 ? null : this.#defaultTtl();
  }

  /** Mostly forward, often to the very millisecond around an expiry. */
  #instant({ nowMs, boxes }: Sight, mayGoBack: boolean): number {
    const random = this.#random;
    const roll = random();
    const back = mayGoBack && random() < 0.12;
    if (roll < 0.5) {
      const dues = boxes
        .flatMap((box) => box.kept().map((item) => box.dueMs(item)))
        .filter((due) => due !== undefined && (back ? due <= nowMs : due > nowMs)) as number[];
      const near = dues.sort((a, b) => a - b).slice(back ? -3 : 0, back ? undefined : 3);
      const due = near[randomInteger(random, near.length)];
      const at = (due ?? nowMs) + this.#pick([-1, 0, 1]);
      if (due !== undefined && due - nowMs < 30 * DAY_MS && (back || at >= nowMs)) return at;
    }
    if (back) return nowMs - randomInteger(random, 5000);
    if (roll > 0.99) return nowMs + randomInteger(random, DAY_MS);
    return nowMs + randomInteger(random, roll > 0.9 ? 4000 : 500);
  }

  #page(box: number, open: readonly number[]): PageStep {
    const known = open.slice(-OPEN_PAGINGS_MAX);
    const continued = this.#random() < 0.25 ? undefined : this.#pick(known);
    if (continued === undefined) this.#pagings += 1;
    return {
      do: 'page',
      paging: continued ?? this.#pagings,
      first: continued === undefined,
      box,
      partition: this.#scope(),
      itemsMax: 1 + randomInteger(this.#random, 4),
    };
  }

  #burst(box: number, place: Place, calm: boolean): BurstStep {
    const parts = Array.from({ length: 2 + randomInteger(this.#random, 4) }, () => {
      const roll = this.#random();
      if (roll < 0.65) return { ...this.#write(box, place), body: this.#lonelyBody(place) };
      return roll < 0.8 ? this.#delete(box, place) : this.#read(box, place);
    });
    const purge = calm && this.#random() < 0.3;
    const after = { ...this.#lonelyBody(place), ttl: 1 + randomInteger(this.#random, 60) };
    return { do: 'burst', box, ...place, parts, purge, after };
  }

  #pick<const T>(choices: readonly T[]): T {
    return choices[randomInteger(this.#random, choices.length)] as T;
  }
}
