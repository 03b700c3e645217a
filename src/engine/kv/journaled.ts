// A store with a journal in front. A group of writes is appended to the journal as one record and
// flushed, which is all that whoever wrote it waits for; readers see it through a layer in memory.
// Behind, larger commits bring the layers down into the store.
//
//   writers -> active layer, file 1        readers: active over settling over the store
//              settling layer, file 2 -> commits of the store, then file 2 is free
//
// Each layer has a file of its own, and the files change places. When a layer is down, the store
// has the number of its last record: after a crash, the records behind it are read back from the
// files.
import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Alarm, breathe, later } from '../../time/clock.js';
import {
  decodeState,
  encodeState,
  JOURNAL_FILES,
  type JournalState,
  newState,
  pendingRecords,
} from './journal.js';
import { JournalFile } from './journal-file.js';
import { RecordMaker } from './journal-record.js';
import { journalKey } from './keys.js';
import { Layer } from './layer.js';
import { Overlaid, type View } from './overlay.js';
import { KEY_BYTES_MAX, type Snapshot, type Store, type Write } from './store.js';

/** A layer goes down when it has so many keys, so much in its file, or such an age. */
const SETTLED_KEYS = 12_000;
const SETTLED_BYTES = 8_388_608;
const SETTLED_MS = 1000;
/** Writers wait while the active layer is this large and the one before it is not down yet. */
const KEYS_MAX = 24_000;
const BYTES_MAX = 33_554_432;
/** Less than a millisecond's worth. */
const KEYS_PER_TURN = 1000;

interface Stage {
  readonly layer: Layer;
  readonly file: JournalFile;
}

export class JournaledStore extends Overlaid implements Store {
  readonly #store: Store;
  readonly #folder: string;
  readonly #shown: { view: View };
  readonly #records: RecordMaker;
  readonly #snapshots = new Set<Snapshot>();
  /** What the store says of its journal. */
  #state: JournalState;
  /** The last record that was acknowledged. */
  #number: number;
  /** Where writes go; the files are opened by the first one. */
  #active: Stage | undefined;
  /** The file that no layer needs. */
  #free: JournalFile | undefined;
  /** Layers on their way down, or left over where that failed. */
  #leaving: readonly Layer[] = [];
  #settling: Promise<void> | undefined;
  /** Records are appended, and layers change, one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  #alarm: Alarm | undefined;
  #broken: Error | undefined;

  /** Reads back what a crash has left in the journal. */
  constructor(store: Store, folder: string) {
    const shown = { view: { layers: [], number: 0 } };
    super(store, shown);
    this.#shown = shown;
    this.#store = store;
    this.#folder = folder;
    const stored = store.get(journalKey());
    this.#state = stored ? decodeState(stored) : newState();
    this.#records = new RecordMaker(this.#state.mark);
    this.#number = this.#state.number;
    const left = new Layer();
    for (const { number, writes } of pendingRecords(folder, this.#state)) {
      left.apply(writes, number, false);
      this.#number = number;
    }
    if (left.size > 0) this.#bringDown(left, () => undefined);
    this.#show();
  }

  snapshot(): Snapshot {
    const below = this.#store.snapshot();
    const { view } = this.#shown;
    if (view.layers.length === 0) return below;
    const snapshot: Snapshot = Object.assign(new Overlaid(below, { view }), {
      release: () => {
        this.#snapshots.delete(snapshot);
        below.release();
      },
    });
    this.#snapshots.add(snapshot);
    return snapshot;
  }

  write(writes: readonly Write[], mayHold = false): Promise<void> {
    const written = this.#last.then(() => this.#append(writes, mayHold));
    this.#last = written.catch(() => undefined);
    return written;
  }

  async settle(): Promise<void> {
    await this.#last;
    await this.#settling;
    await this.#replaceSoon();
    await this.#settling;
    if (this.#broken) throw this.#broken;
  }

  size(): number {
    const files = [this.#active?.file, this.#free];
    return files.reduce((sum, file) => sum + (file?.size ?? 0), this.#store.size());
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#settling;
    await this.#replaceSoon();
    await this.#settling;
    this.#alarm?.cancel();
    for (const snapshot of this.#snapshots) snapshot.release();
    try {
      await this.#closeJournal();
    } finally {
      await this.#store.close();
    }
  }

  /** What could not be brought down, or flushed, stays in the journal for the next start. */
  async #closeJournal(): Promise<void> {
    this.#active?.file.close();
    this.#free?.close();
    const isWhole = !this.#broken;
    this.#broken ??= new Error('The store is closed.');
    if (!this.#state.isOpen || !isWhole) return;
    await this.#storeState({ isOpen: false });
    for (const name of JOURNAL_FILES) rmSync(join(this.#folder, name), { force: true });
  }

  async #append(writes: readonly Write[], mayHold: boolean): Promise<void> {
    if (writes.length === 0) return;
    for (const [key] of writes) {
      if (key.length > KEY_BYTES_MAX) throw new Error(`a key of ${key.length} bytes`);
    }
    if (!this.#active) await this.#open();
    if (this.#isOver(KEYS_MAX, BYTES_MAX)) {
      await this.#settling;
      this.#replaceActive();
    }
    if (this.#broken) throw this.#broken;
    const { layer, file } = this.#active as Stage;
    const number = this.#number + 1;
    try {
      const record = await this.#records.make(number, writes);
      // While a layer goes down the disk is busy, and a flush takes longer.
      await file.append(record, mayHold && !this.#settling);
    } catch (error) {
      // Nobody knows what of it is on the disk, so nothing may follow it there.
      this.#broken = error as Error;
      throw error;
    }
    layer.apply(writes, number, this.#snapshots.size > 0);
    this.#number = number;
    this.#show();
    if (this.#isOver(SETTLED_KEYS, SETTLED_BYTES)) this.#replaceActive();
    else this.#alarm ??= later(SETTLED_MS, () => this.#comeOfAge());
  }

  /** First the files are there, then the store says so, then comes the first record. */
  async #open(): Promise<void> {
    await this.#settling;
    if (this.#broken) throw this.#broken;
    const [first, second] = JOURNAL_FILES.map((name) => new JournalFile(join(this.#folder, name)));
    flushFolder(this.#folder);
    await this.#storeState({ isOpen: true });
    this.#active = { layer: new Layer(), file: first as JournalFile };
    this.#free = second;
  }

  #isOver(keys: number, bytes: number): boolean {
    if (!this.#active) return false;
    return this.#active.layer.size >= keys || this.#active.file.used >= bytes;
  }

  #comeOfAge(): void {
    this.#alarm = undefined;
    void this.#replaceSoon();
  }

  #replaceSoon(): Promise<unknown> {
    this.#last = this.#last.then(() => this.#replaceActive());
    return this.#last;
  }

  /** Never while a record is being appended: it is in the file of the layer that will hold it. */
  #replaceActive(): void {
    const { layer, file } = this.#active ?? {};
    if (!layer || !file || layer.size === 0 || !this.#free || this.#settling) return;
    this.#active = { layer: new Layer(), file: this.#free };
    this.#free = undefined;
    this.#alarm?.cancel();
    this.#alarm = undefined;
    this.#bringDown(layer, () => {
      file.rewind();
      this.#free = file;
    });
  }

  #bringDown(layer: Layer, done: () => void): void {
    this.#leaving = [layer];
    const state = { ...this.#state, number: layer.number };
    this.#settling = this.#storeLayer(layer, state)
      .then(
        () => {
          this.#state = state;
          this.#leaving = [];
          this.#show();
          done();
        },
        (error: Error) => {
          this.#broken ??= error;
        },
      )
      .then(() => {
        this.#settling = undefined;
        // Whatever became due meanwhile.
        if (this.#isOver(SETTLED_KEYS, SETTLED_BYTES) || !this.#alarm) void this.#replaceSoon();
      });
  }

  /**
   * In parts, so that nobody waits long for the event loop. The number comes when all of them are
   * stored: until then the whole layer is read back from the journal after a crash, over whatever
   * parts the store has of it.
   */
  async #storeLayer(layer: Layer, state: JournalState): Promise<void> {
    const number: Write = [journalKey(), encodeState(state)];
    let failed: Error | undefined;
    const stored: Promise<void>[] = [];
    for (const part of layer.parts(KEYS_PER_TURN)) {
      stored.push(
        this.#store.write(part).catch((error: Error) => {
          failed ??= error;
        }),
      );
      await breathe();
    }
    await Promise.all(stored);
    if (failed) throw failed;
    await this.#store.write([number]);
  }

  async #storeState(change: Pick<JournalState, 'isOpen'>): Promise<void> {
    this.#state = { ...this.#state, ...change };
    await this.#store.write([[journalKey(), encodeState(this.#state)]]);
  }

  #show(): void {
    const { layer } = this.#active ?? {};
    const layers = layer && layer.size > 0 ? [layer, ...this.#leaving] : this.#leaving;
    this.#shown.view = { layers, number: this.#number };
  }
}

/** Else a power cut might take the files themselves. */
function flushFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const opened = openSync(folder, 'r');
  fsyncSync(opened);
  closeSync(opened);
}
