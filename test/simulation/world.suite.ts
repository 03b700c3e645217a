// One server, the model of what it should hold, and the steps: each is taken over HTTP, and its
// answer compared with the model's.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, partitionHeader } from './client.suite.js';
import {
  ContainerModel,
  isTtlValue,
  type Kept,
  type Partition,
  type Place,
  type Write,
} from './model.suite.js';
import { type Operator, seeExplanation, seePreview, seeStatus } from './operator.suite.js';
import { seeQuery } from './query.suite.js';
import { serialOrder } from './serial-order.suite.js';
import { Server } from './server.suite.js';
import {
  BOXES,
  type BurstStep,
  type Condition,
  type DeleteStep,
  type PageStep,
  type ReadStep,
  type Sight,
  type Step,
  type WriteStep,
} from './steps.suite.js';
import {
  DATABASE,
  type Document,
  definitionOf,
  documentsOf,
  explainPath,
  operationsFor,
  pathOf,
  scopeHeader,
  viewOf,
  viewOfDocument,
} from './wire.suite.js';

/** What a step showed, and what the model says it should, in the same form. */
export interface Seen {
  readonly got: unknown;
  readonly wanted: unknown;
}

interface Box {
  model: ContainerModel;
  /** Which of the containers that had this name. */
  life: number;
  /** Resource ids by the place in the order of creation. */
  rids: Map<number, string>;
}
interface Paging {
  readonly box: number;
  readonly life: number;
  readonly partition: Partition | 'all';
  readonly shown: Set<string>;
  lastSerial: number;
  continuation: string;
}

const NOTHING: Seen = { got: undefined, wanted: undefined };
const UNIQUE_KEYS = [['/u'], ['/v/w', '/x']];
const NO_ETAG = '"00000000-0000-0000-0000-000000000000"';
const CATCH_UP_MS = 10_000;
const LOOK_AGAIN_MS = 40;

export class World implements Sight {
  readonly #server: Server;
  readonly #purges: boolean;
  readonly #boxes: Box[] = [];
  readonly #pagings = new Map<number, Paging>();
  readonly #etags = new Set<string>();
  readonly #staleEtags = new Map<string, string>();

  /** A world that does not purge shows what readers must see whatever the purge does (T12). */
  constructor(place: string, purges: boolean) {
    this.#server = new Server(place);
    this.#purges = purges;
  }

  get nowMs(): number {
    return this.#server.nowMs;
  }

  get boxes(): readonly ContainerModel[] {
    return this.#boxes.map((box) => box.model);
  }

  get openPagings(): readonly number[] {
    return [...this.#pagings.keys()];
  }

  async open(nowMs: number): Promise<void> {
    await this.#server.open(nowMs);
    await this.#server.client.cosmos('POST', 'dbs', { body: { id: DATABASE } });
    for (let box = 0; box < BOXES; box++) {
      this.#boxes.push({ model: new ContainerModel(undefined, []), life: 0, rids: new Map() });
      await this.#create(box, undefined);
    }
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  async take(step: Step): Promise<Seen> {
    const seen = await this.#take(step);
    assert.deepEqual(seen.got, seen.wanted);
    return seen;
  }

  /** Purges whatever is due, also in a world that otherwise does not. */
  async purge(): Promise<Seen> {
    const { status, body } = await this.#server.client.control('POST', 'purge');
    const gone = this.boxes.flatMap((model) => model.purge(this.nowMs));
    return { got: { status, body }, wanted: { status: 200, body: { purged: gone.length } } };
  }

  #take(step: Step): Promise<Seen> | Seen {
    switch (step.do) {
      case 'write':
        return this.#write(step);
      case 'delete':
        return this.#delete(step);
      case 'read':
        return this.#read(step);
      case 'list':
        return this.#list(step.box, step.partition);
      case 'query':
        return seeQuery(this.#operator(step.box), step.partition, step.question, step.value);
      case 'page':
        return this.#page(step);
      case 'burst':
        return this.#burst(step);
      case 'defaultTtl':
        return this.#setDefaultTtl(step.box, step.value);
      case 'clock':
        return this.#setClock(step.toMs);
      case 'purge':
        return this.#purges ? this.purge() : NOTHING;
      case 'background':
        return this.#purges ? this.#setBackground(step.on) : NOTHING;
      case 'catchUp':
        return this.#purges ? this.#catchUp() : NOTHING;
      case 'restart':
        return this.#server.restart().then(() => NOTHING);
      case 'recreate':
        return this.#recreate(step.box, step.defaultTtl);
      case 'status':
        return seeStatus(this.#operator(step.box));
      case 'explain':
        return seeExplanation(this.#operator(step.box), step);
      case 'preview':
        return seePreview(this.#operator(step.box), step.value);
      default:
        throw new Error(`unknown step ${JSON.stringify(step satisfies never)}`);
    }
  }

  // items

  async #write(step: WriteStep): Promise<Seen> {
    const write = { ...step, ifMatch: this.#etagOf(step.box, step, step.ifMatch) };
    const status = this.#box(step.box).model.judgeWrite(write, this.nowMs);
    const answer = await this.#send(step, write.ifMatch);
    if (status >= 300 || answer.status !== status) {
      return { got: { status: answer.status }, wanted: { status } };
    }
    const item = this.#accept(step.box, write, answer);
    return {
      got: { status: answer.status, item: this.#checked(step.box, answer.body, item) },
      wanted: { status, item: viewOf(item) },
    };
  }

  async #delete(step: DeleteStep): Promise<Seen> {
    const { model } = this.#box(step.box);
    const ifMatch = this.#etagOf(step.box, step, step.ifMatch);
    const wanted = model.judgeRemoval({ ...step, ifMatch }, this.nowMs);
    const { status } = await this.#send(step, ifMatch);
    if (wanted === 204) {
      this.#outdate(step.box, step);
      model.forget(step);
    }
    return { got: { status }, wanted: { status: wanted } };
  }

  async #read(step: ReadStep): Promise<Seen> {
    const item = this.#box(step.box).model.find(step, this.nowMs);
    const ifNoneMatch = this.#etagOf(step.box, step, step.ifNoneMatch);
    const answer = await this.#send(step, ifNoneMatch);
    const { status } = answer;
    if (!item) return { got: { status }, wanted: { status: 404 } };
    assert.equal(answer.headers.etag, item.etag);
    if (ifNoneMatch === item.etag) return { got: { status }, wanted: { status: 304 } };
    return {
      got: { status, item: this.#checked(step.box, answer.body, item) },
      wanted: { status: 200, item: viewOf(item) },
    };
  }

  async #burst(step: BurstStep): Promise<Seen> {
    const box = this.#box(step.box);
    const withPurge = step.purge && this.#purges;
    const sent = step.parts.map((part) => {
      const condition = part.do === 'read' ? part.ifNoneMatch : part.ifMatch;
      return { part, etag: this.#etagOf(step.box, step, condition) };
    });
    const [answers] = await Promise.all([
      Promise.all(sent.map(({ part, etag }) => this.#send(part, etag))),
      withPurge ? this.#server.client.control('POST', 'purge') : undefined,
    ]);
    const last = await this.#send({ ...step, do: 'read', ifNoneMatch: undefined }, undefined);
    const parts = sent.map((each, index) => {
      const { status = 0, headers = {} } = answers[index] ?? {};
      return { ...each, status, given: headers.etag };
    });
    const found = serialOrder(box.model, parts, step, this.nowMs, last.headers.etag);
    assert(found, `no order explains ${JSON.stringify({ parts, last: last.headers.etag })}`);
    for (const { part, given } of parts) if (part.do === 'write' && given) this.#learn(given);
    this.#outdate(step.box, step);
    box.model = found;
    if (withPurge) for (const model of this.boxes) model.purge(this.nowMs);
    // Which order it was is up to the server, so the item is made anew for all worlds to agree.
    await this.take({ ...step, do: 'delete', ifMatch: undefined });
    const { after: body } = step;
    return this.#write({ ...step, do: 'write', kind: 'create', body, ifMatch: undefined });
  }

  // feeds

  async #list(box: number, partition: Partition | 'all'): Promise<Seen> {
    const headers = { ...scopeHeader(partition), 'x-ms-max-item-count': '1000' };
    const answer = await this.#server.client.cosmos('GET', `${pathOf(box)}/docs`, { headers });
    return this.#checkedFeed(box, answer, this.#liveIn(box, partition));
  }

  /** T13: each page shows its own moment, and goes on behind the last item that was shown. */
  async #page(step: PageStep): Promise<Seen> {
    if (step.first) {
      const { box, partition } = step;
      const start = { shown: new Set<string>(), lastSerial: 0, continuation: '' };
      this.#pagings.set(step.paging, { box, partition, life: this.#box(box).life, ...start });
    }
    const paging = this.#pagings.get(step.paging);
    if (!paging) return NOTHING;
    this.#pagings.delete(step.paging);
    const answer = await this.#server.client.cosmos('GET', `${pathOf(paging.box)}/docs`, {
      headers: {
        ...scopeHeader(paging.partition),
        'x-ms-max-item-count': String(step.itemsMax),
        'x-ms-continuation': paging.continuation,
      },
    });
    if (this.#box(paging.box).life !== paging.life) {
      return { got: { status: answer.status }, wanted: { status: 400 } };
    }
    return this.#checkedPage(step, paging, answer);
  }

  #checkedPage(step: PageStep, paging: Paging, answer: Answer): Seen {
    const live = this.#liveIn(paging.box, paging.partition);
    const left = live.filter((item) => item.serial > paging.lastSerial);
    const wanted = left.slice(0, step.itemsMax);
    for (const { _rid } of documentsOf(answer)) {
      assert(!paging.shown.has(_rid), 'T13: an item was shown twice');
      paging.shown.add(_rid);
    }
    const continuation = answer.headers['x-ms-continuation'];
    if (typeof continuation === 'string') {
      paging.continuation = continuation;
      paging.lastSerial = wanted.at(-1)?.serial ?? paging.lastSerial;
      this.#pagings.set(step.paging, paging);
    } else {
      assert.equal(left.length, wanted.length, 'T13: the list ended before its items did');
    }
    return this.#checkedFeed(paging.box, answer, wanted);
  }

  #checkedFeed(box: number, answer: Answer, items: readonly Kept[]): Seen {
    const documents = documentsOf(answer);
    const views = documents.map((document, index) => this.#checked(box, document, items[index]));
    return {
      got: { status: answer.status, items: views },
      wanted: { status: 200, items: items.map(viewOf) },
    };
  }

  #liveIn(box: number, partition: Partition | 'all'): readonly Kept[] {
    const live = this.#box(box).model.live(this.nowMs);
    return live.filter((item) => partition === 'all' || item.partition === partition);
  }

  // containers

  async #create(index: number, defaultTtl: number | undefined): Promise<Answer> {
    const box = this.#box(index);
    const uniqueKeys = index === 1 ? UNIQUE_KEYS : [];
    const policy = { uniqueKeys: uniqueKeys.map((paths) => ({ paths })) };
    const body = { ...definitionOf(index, defaultTtl), uniqueKeyPolicy: policy };
    const answer = await this.#server.client.cosmos('POST', `dbs/${DATABASE}/colls`, { body });
    assert.equal(answer.status, 201);
    box.model = new ContainerModel(defaultTtl, uniqueKeys);
    box.life += 1;
    box.rids = new Map();
    return answer;
  }

  async #recreate(box: number, defaultTtl: number | undefined): Promise<Seen> {
    const { client } = this.#server;
    const gone = await client.cosmos('DELETE', pathOf(box));
    const feed = await client.cosmos('GET', `${pathOf(box)}/docs`);
    const made = await this.#create(box, defaultTtl);
    return {
      got: [gone.status, feed.status, defaultTtlOf(made)],
      wanted: [204, 404, defaultTtl],
    };
  }

  async #setDefaultTtl(box: number, value: unknown): Promise<Seen> {
    const { model } = this.#box(box);
    const { client } = this.#server;
    const answer = await client.cosmos('PUT', pathOf(box), { body: definitionOf(box, value) });
    const isOff = value === undefined || value === null;
    const isValid = isOff || isTtlValue(value);
    if (isValid) model.defaultTtl = isOff ? undefined : value;
    const now = await client.cosmos('GET', pathOf(box));
    return {
      got: [answer.status, defaultTtlOf(now)],
      wanted: [isValid ? 200 : 400, model.defaultTtl],
    };
  }

  // time and purge

  async #setClock(toMs: number): Promise<Seen> {
    const set = new Date(toMs).toISOString();
    const { status, body } = await this.#server.client.control('POST', 'clock', { set });
    return { got: [status, body], wanted: [200, { mode: 'virtual', now: set, frozen: true }] };
  }

  async #setBackground(on: boolean): Promise<Seen> {
    if (on) {
      await this.#server.resumePurge();
      return NOTHING;
    }
    await this.#server.pausePurge();
    for (const [box, model] of this.boxes.entries()) await this.#learnWhatIsGone(box, model);
    return NOTHING;
  }

  /** How far the background purge came is up to it, but not in what order it went. */
  async #learnWhatIsGone(box: number, model: ContainerModel): Promise<void> {
    const gone: Kept[] = [];
    for (const item of model.expired(this.nowMs)) {
      const { status } = await this.#server.client.control('GET', explainPath(box, item));
      if (status === 404) gone.push(item);
    }
    for (const item of gone) model.forget(item);
    const firstLeft = model.nextDueMs() ?? Number.POSITIVE_INFINITY;
    const inOrder = gone.every((item) => Number(model.dueMs(item)) <= firstLeft);
    assert(inOrder, 'T15: an item was purged before one that had expired earlier');
  }

  /** T15, T17: left alone, the background purge finds all there is. */
  async #catchUp(): Promise<Seen> {
    const deadline = performance.now() + CATCH_UP_MS;
    for (const [box, model] of this.boxes.entries()) {
      while ((await this.#expiredIn(box)) > 0) {
        assert(performance.now() < deadline, 'T15: the background purge does not catch up');
        await pause(LOOK_AGAIN_MS);
      }
      model.purge(this.nowMs);
    }
    return NOTHING;
  }

  async #expiredIn(box: number): Promise<number> {
    const { body } = await this.#server.client.control('GET', `${pathOf(box)}/ttl`);
    return (body as { readonly expired: number }).expired;
  }

  // helpers

  #send(step: WriteStep | DeleteStep | ReadStep, etag: string | undefined): Promise<Answer> {
    const { client } = this.#server;
    const feed = `${pathOf(step.box)}/docs`;
    const partition = partitionHeader(step.partition);
    if (step.do === 'read') {
      const condition = etag === undefined ? {} : { 'if-none-match': etag };
      return client.cosmos('GET', `${feed}/${step.id}`, {
        headers: { ...partition, ...condition },
      });
    }
    const headers = { ...partition, ...(etag === undefined ? {} : { 'if-match': etag }) };
    if (step.do === 'delete') return client.cosmos('DELETE', `${feed}/${step.id}`, { headers });
    const { body, kind } = step;
    if (kind === 'replace') return client.cosmos('PUT', `${feed}/${step.id}`, { headers, body });
    if (kind === 'patch') {
      const patch = { headers, body: operationsFor(body) };
      return client.cosmos('PATCH', `${feed}/${step.id}`, patch);
    }
    const isUpsert = { 'x-ms-documentdb-is-upsert': String(kind === 'upsert') };
    return client.cosmos('POST', feed, { headers: { ...headers, ...isUpsert }, body });
  }

  /** A successful write, taken over into the model. */
  #accept(index: number, write: Write, answer: Answer): Kept {
    const { model, rids } = this.#box(index);
    const { _etag, _rid } = answer.body as Document;
    assert.equal(answer.headers.etag, _etag);
    this.#learn(_etag);
    this.#outdate(index, write);
    const item = model.applyWrite(write, _etag, this.nowMs);
    if (answer.status === 201) {
      assert(![...rids.values()].includes(_rid), 'a new item has the resource id of another');
      rids.set(item.serial, _rid);
    }
    return item;
  }

  /** What all worlds must agree on; the rest is compared with what this one said before. */
  #checked(box: number, document: unknown, item: Kept | undefined): object {
    const { _etag, _rid } = document as Document;
    if (item) {
      assert.equal(_etag, item.etag);
      assert.equal(_rid, this.#box(box).rids.get(item.serial), 'an item changed its resource id');
    }
    return viewOfDocument(document);
  }

  #learn(etag: string): void {
    assert(!this.#etags.has(etag), 'two writes have the same etag');
    this.#etags.add(etag);
  }

  /** Remembers the etag that an item has now as one that it will not have any more. */
  #outdate(box: number, place: Place): void {
    const etag = this.#box(box).model.inspect(place)?.etag;
    if (etag) this.#staleEtags.set(nameOf(box, place), etag);
  }

  /** "Current" is also the etag of an item that is dead: it answers 404, and never 412 (T10). */
  #etagOf(box: number, place: Place, condition: Condition): string | undefined {
    if (condition === undefined) return undefined;
    if (condition === 'any') return '*';
    const current = this.#box(box).model.inspect(place)?.etag;
    const etag = condition === 'current' ? current : this.#staleEtags.get(nameOf(box, place));
    return etag ?? NO_ETAG;
  }

  #operator(box: number): Operator {
    return { client: this.#server.client, box, model: this.#box(box).model, nowMs: this.nowMs };
  }

  #box(index: number): Box {
    const box = this.#boxes[index];
    assert(box);
    return box;
  }
}

function defaultTtlOf(container: Answer): unknown {
  return (container.body as { readonly defaultTtl?: unknown }).defaultTtl;
}

function nameOf(box: number, { partition, id }: Place): string {
  return `${box} ${typeof partition} ${partition} ${id}`;
}
