// One file of the journal: records are appended and made durable; when the store below has them
// all, the file is written from its beginning again.
//
// Handing a flush to another thread and back costs as much as a quick flush itself. So where nobody
// would wait for anything else, and all flushes of late were quick, it is done on the spot.
//
// A file that has its size already costs least to flush, so it grows by large steps of zeros and
// is never made shorter, unless it grew out of proportion.
import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  write,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { stopwatch } from '../../time/clock.js';

const GROWTH_BYTES = 1_048_576;
const KEPT_BYTES = 33_554_432;
/** A disk is trusted to flush on the spot after so many quick flushes in a row. */
const QUICK_MS = 1;
const TRUSTED_AFTER = 200;
/** More than this is written by another thread: it takes longer than handing it over. */
const WRITTEN_AT_ONCE = 262_144;
const MODE = 0o664;
const ZEROS = Buffer.alloc(GROWTH_BYTES);

const writeLater = promisify(write);
const flush = promisify(fdatasync);

export class JournalFile {
  readonly #file: number;
  #size: number;
  #used = 0;
  #quickFlushes = 0;

  /** Makes the file where there is none. */
  constructor(path: string) {
    this.#file = openSync(path, constants.O_RDWR | constants.O_CREAT, MODE);
    this.#size = fstatSync(this.#file).size;
    fsyncSync(this.#file);
  }

  get size(): number {
    return this.#size;
  }

  /** How much of it is in use. */
  get used(): number {
    return this.#used;
  }

  /** Resolves when the record would survive a power cut, and not before. */
  async append(record: Buffer, mayHold: boolean): Promise<void> {
    const end = this.#used + record.length;
    await this.#write(record, this.#used);
    if (end > this.#size) {
      await this.#write(ZEROS, end);
      this.#size = end + ZEROS.length;
    }
    const took = stopwatch();
    if (mayHold && this.#quickFlushes >= TRUSTED_AFTER) fdatasyncSync(this.#file);
    else await flush(this.#file);
    this.#quickFlushes = took() < QUICK_MS ? this.#quickFlushes + 1 : 0;
    this.#used = end;
  }

  /** To be called when nothing in it is needed any more. */
  rewind(): void {
    this.#used = 0;
    if (this.#size <= KEPT_BYTES) return;
    ftruncateSync(this.#file, KEPT_BYTES);
    this.#size = KEPT_BYTES;
  }

  close(): void {
    closeSync(this.#file);
  }

  async #write(bytes: Buffer, at: number): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const left = bytes.length - done;
      if (left <= WRITTEN_AT_ONCE) done += writeSync(this.#file, bytes, done, left, at + done);
      else done += (await writeLater(this.#file, bytes, done, left, at + done)).bytesWritten;
    }
  }
}
