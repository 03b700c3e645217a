// What a stage is: it makes rows of rows, in batches. And what a pipeline asks of its surroundings.
import type { Bytes, Document, Value } from '../../value/bson/value.js';
import type { Language } from '../language.js';
import type { Row } from '../row.js';
import type { Memory, Pace } from './limits.js';

export type Rows = AsyncIterable<readonly Row[]>;
export type Stage = (input: Rows, run: Run) => Rows;

/** What all stages of one run share. */
export interface Run {
  readonly pace: Pace;
  readonly memory: Memory;
}

export interface Namespace {
  /** Undefined for the database of the command. */
  readonly database: string | undefined;
  readonly collection: string;
}

/** What a pipeline reaches beyond its input. */
export interface PipelineHost {
  /** Documents of a collection that may match; those that do not may be among them. */
  read(namespace: Namespace, filter: Document | undefined): AsyncIterable<readonly Bytes[]>;
  /** `$out`: the collection consists of these documents afterwards. */
  replace(namespace: Namespace, documents: AsyncIterable<readonly Bytes[]>): Promise<void>;
  /** `$merge`: each document meets the one with the same values of some fields. */
  merge(merge: Merge, documents: AsyncIterable<readonly Bytes[]>): Promise<void>;
  /** Stages about the server, such as `$collStats`; undefined for those it does not know. */
  statistics(stage: string, operand: Value): AsyncIterable<readonly Bytes[]> | undefined;
  /** The field of the geospatial index, for `$geoNear`. */
  geoPath(): string | undefined;
}
export interface Merge {
  readonly into: Namespace;
  readonly on: readonly string[];
  /** The document to write, or undefined to leave things as they are; throws to fail. */
  decide(existing: Bytes | undefined, incoming: Bytes): Bytes | undefined;
}

/** What a stage is compiled with. */
export interface StageContext {
  readonly name: string;
  readonly language: Language;
  readonly host: PipelineHost;
  /** For pipelines inside of stages. */
  inner(stages: Value, language: Language, inside: string): Stage;
}
export type MakeStage = (operand: Value, context: StageContext) => Stage;
export type Stages = Readonly<Record<string, MakeStage>>;
