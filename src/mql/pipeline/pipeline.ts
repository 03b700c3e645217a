// A pipeline, ready to be run: its stages one behind the other, each pulling rows from the one
// before it.
import { toSafeInteger } from '../../value/bson/numbers.js';
import { typeName } from '../../value/bson/types.js';
import { DOCUMENT_BYTES_MAX, ENVELOPE_BYTES } from '../../value/bson/validate.js';
import {
  type Bytes,
  isArray,
  isDocument,
  isNumber,
  typeOf,
  type Value,
} from '../../value/bson/value.js';
import { mongoFailure, mongoLocation } from '../../value/mongo-errors.js';
import type { Language } from '../language.js';
import { Row } from '../row.js';
import { compileSort } from '../sort.js';
import { facetStages } from './facets.js';
import { fillStages } from './filling.js';
import { geoStages } from './geo-near.js';
import { groupStages } from './grouping.js';
import { joinStages } from './joins.js';
import { MEMORY_BYTES_MAX, MEMORY_BYTES_MAX_RAISED, Memory, Pace } from './limits.js';
import { simpleStages } from './simple.js';
import { sorting, sortStages } from './sorting.js';
import { FIRST_ONLY, sourceStages } from './sources.js';
import type { PipelineHost, Rows, Stage, StageContext, Stages } from './stage.js';
import { windowStages } from './windows.js';
import { writeStages } from './writes.js';

const STAGES: Stages = {
  ...simpleStages,
  ...sortStages,
  ...groupStages,
  ...joinStages,
  ...facetStages,
  ...windowStages,
  ...fillStages,
  ...geoStages,
  ...sourceStages,
  ...writeStages,
};

/** All there are, for the documentation and its test. */
export const STAGE_NAMES: readonly string[] = Object.keys(STAGES);

export const STAGES_MAX = 1000;
/** Pipelines in pipelines, such as those of `$lookup` and `$facet`. */
const NESTING_MAX = 20;

export interface Pipeline {
  /** Whether the rows come from the first stage, and not from the collection. */
  readonly hasOwnSource: boolean;
  readonly writes: boolean;
  readonly run: (input: AsyncIterable<readonly Bytes[]>, allowDiskUse?: boolean) => Rows;
}

export function compilePipeline(
  stages: readonly Value[],
  language: Language,
  host: PipelineHost,
): Pipeline {
  const names = stages.map((stage) => stageOf(stage)[0]);
  const stage = compileStages(stages, language, host, undefined, 0);
  const last = names.at(-1);
  return {
    hasOwnSource: names[0] !== undefined && Object.hasOwn(sourceStages, names[0]),
    writes: last === '$out' || last === '$merge',
    run: (input, allowDiskUse = false) => {
      const bytesMax = allowDiskUse ? MEMORY_BYTES_MAX_RAISED : MEMORY_BYTES_MAX;
      return ofSize(stage(rows(input), { pace: new Pace(), memory: new Memory(bytesMax) }));
    },
  };
}

/** Rows between the stages may be larger than documents; those that come out may not. */
async function* ofSize(results: Rows): Rows {
  for await (const batch of results) {
    for (const { bytes } of batch) {
      if (bytes.length <= DOCUMENT_BYTES_MAX + ENVELOPE_BYTES) continue;
      throw mongoFailure(
        'BSONObjectTooLarge',
        `BSONObj size: ${bytes.length} is invalid. Size must be between 0 and ${DOCUMENT_BYTES_MAX + ENVELOPE_BYTES}(16MB)`,
      );
    }
    yield batch;
  }
}

async function* rows(input: AsyncIterable<readonly Bytes[]>): Rows {
  for await (const batch of input) yield batch.map((bytes) => Row.ofBytes(bytes));
}

function compileStages(
  stages: Value,
  language: Language,
  host: PipelineHost,
  inside: string | undefined,
  depth: number,
): Stage {
  if (!isArray(stages)) {
    throw mongoFailure(
      'TypeMismatch',
      `a pipeline must be an array, not ${typeName(typeOf(stages))}`,
    );
  }
  if (stages.length > STAGES_MAX) {
    throw mongoFailure(
      'FailedToParse',
      `Pipeline length must be no longer than ${STAGES_MAX} stages`,
    );
  }
  if (depth > NESTING_MAX) {
    throw mongoFailure('FailedToParse', `pipelines are nested more than ${NESTING_MAX} deep`);
  }
  const context = (name: string): StageContext => ({
    name,
    language,
    host,
    inner: (inner, withLanguage, within) =>
      compileStages(inner, withLanguage, host, within, depth + 1),
  });
  const parsed = stages.map(stageOf);
  const compiled = parsed.map(([name, operand], at) => {
    checkPlace(name, at, stages.length, inside);
    const top = name === '$sort' ? limitBehind(parsed, at) : undefined;
    if (top !== undefined && isDocument(operand) && operand.size > 0) {
      return sorting(compileSort(operand, language), top);
    }
    const make = Object.hasOwn(STAGES, name) ? STAGES[name] : undefined;
    if (make) return make(operand, context(name));
    throw mongoLocation(40324, `Unrecognized pipeline stage name: '${name}'`);
  });
  return (input, run) => compiled.reduce((flow, stage) => stage(flow, run), input);
}

function stageOf(stage: Value): readonly [name: string, operand: Value] {
  if (!isDocument(stage)) {
    throw mongoFailure('TypeMismatch', "Each element of the 'pipeline' array must be an object");
  }
  const [only, more] = [...stage];
  if (!only || more) {
    throw mongoLocation(
      40323,
      'A pipeline stage specification object must contain exactly one field.',
    );
  }
  return only;
}

const LAST_ONLY = new Set(['$out', '$merge']);
const NOT_IN_FACET = new Set(['$out', '$merge', '$facet', '$collStats', '$indexStats', '$geoNear']);

function checkPlace(name: string, at: number, count: number, inside: string | undefined): void {
  if (inside === '$facet' && NOT_IN_FACET.has(name)) {
    throw mongoLocation(40600, `${name} is not allowed to be used within a $facet stage`);
  }
  if (inside !== undefined && LAST_ONLY.has(name)) {
    throw mongoLocation(51047, `${name} is not allowed within a ${inside}'s sub-pipeline`);
  }
  if (LAST_ONLY.has(name) && at < count - 1) {
    throw mongoLocation(40601, `${name} can only be the final stage in the pipeline`);
  }
  if (FIRST_ONLY.has(name) && at > 0) {
    throw mongoLocation(40602, `${name} is only valid as the first stage in a pipeline.`);
  }
}

/** How many rows of a sort are looked at: those that skips and a limit behind it let through. */
function limitBehind(
  stages: readonly (readonly [name: string, operand: Value])[],
  at: number,
): number | undefined {
  let skipped = 0;
  for (const [name, operand] of stages.slice(at + 1)) {
    const count = isNumber(operand) ? toSafeInteger(operand) : undefined;
    if (count === undefined || count < 0) return undefined;
    if (name === '$limit') return skipped + count;
    if (name !== '$skip') return undefined;
    skipped += count;
  }
  return undefined;
}
