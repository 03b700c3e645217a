// `$out` and `$merge`: the rows go into a collection, and the pipeline has no results.
import { decodeDocument } from '../../value/bson/read.js';
import {
  type Bytes,
  type Document,
  documentOf,
  isArray,
  isDocument,
  type Value,
} from '../../value/bson/value.js';
import { encodeDocument } from '../../value/bson/write.js';
import { mongoFailure, mongoLocation } from '../../value/mongo-errors.js';
import { compilerFor } from '../expression/compile.js';
import { type Expression, scopeOf } from '../expression/scope.js';
import type { Language } from '../language.js';
import { Row } from '../row.js';
import { compileUpdatePipeline } from '../update/pipeline.js';
import { namespaceOf } from './joins.js';
import type { Merge, Rows, Stage, StageContext, Stages } from './stage.js';

export const writeStages: Stages = {
  $out: (operand, { host }) => {
    const target = namespaceOf(operand);
    return (input) => nothingAfter(() => host.replace(target, bytesOf(input)));
  },
  $merge: (operand, context) => merging(operand, context),
};

/** The work is done when somebody asks for the rows, of which there are none. */
async function* nothingAfter(work: () => Promise<void>): Rows {
  await work();
  yield [];
}

async function* bytesOf(input: Rows): AsyncGenerator<readonly Bytes[]> {
  for await (const rows of input) yield rows.map((row) => row.bytes);
}

const MERGE_FIELDS = new Set(['into', 'on', 'let', 'whenMatched', 'whenNotMatched']);

function merging(operand: Value, { host, language }: StageContext): Stage {
  const spec: Document = isDocument(operand) ? operand : documentOf({ into: operand });
  for (const name of spec.keys()) {
    if (!MERGE_FIELDS.has(name)) {
      throw mongoLocation(40415, `BSON field '$merge.${name}' is an unknown field.`);
    }
  }
  const on = spec.get('on') ?? '_id';
  const fields = isArray(on) ? on : [on];
  if (fields.length === 0 || !fields.every((field) => typeof field === 'string')) {
    throw mongoLocation(51186, "$merge 'on' field must be a string or an array of strings");
  }
  const merge: Merge = {
    into: namespaceOf(spec.get('into')),
    on: fields as readonly string[],
    decide: decision(spec, language),
  };
  return (input) => nothingAfter(() => host.merge(merge, bytesOf(input)));
}

function decision(spec: Document, language: Language): Merge['decide'] {
  const matched = whenMatched(spec, language);
  const notMatched = spec.get('whenNotMatched') ?? 'insert';
  if (!['insert', 'discard', 'fail'].includes(notMatched as string)) {
    throw mongoFailure(
      'BadValue',
      "Enumeration value for field '$merge.whenNotMatched' is not a valid value.",
    );
  }
  return (existing, incoming) => {
    if (existing) return matched(existing, incoming);
    if (notMatched === 'insert') return incoming;
    if (notMatched === 'discard') return undefined;
    throw mongoFailure(
      'MergeStageNoMatchingDocument',
      '$merge could not find a matching document in the target collection for at least one document in the source collection',
    );
  };
}

type Matched = (existing: Bytes, incoming: Bytes) => Bytes | undefined;

function whenMatched(spec: Document, language: Language): Matched {
  const mode = spec.get('whenMatched') ?? 'merge';
  if (isArray(mode)) return byPipeline(mode, spec.get('let'), language);
  switch (mode) {
    case 'replace':
      return (existing, incoming) =>
        encodeDocument(withId(decodeDocument(incoming), decodeDocument(existing)));
    case 'keepExisting':
      return () => undefined;
    case 'merge':
      return (existing, incoming) => {
        const merged = decodeDocument(existing);
        for (const [name, value] of decodeDocument(incoming)) {
          if (name !== '_id') merged.set(name, value);
        }
        return encodeDocument(merged);
      };
    case 'fail':
      return () => {
        throw mongoFailure(
          'DuplicateKey',
          '$merge found a document that is already there, and whenMatched is "fail"',
        );
      };
    default:
      throw mongoFailure(
        'BadValue',
        "Enumeration value for field '$merge.whenMatched' is not a valid value.",
      );
  }
}

function withId(incoming: Document, existing: Document): Document {
  const document: Document = new Map([['_id', existing.get('_id') as Value]]);
  for (const [name, value] of incoming) if (name !== '_id') document.set(name, value);
  return document;
}

/** The pipeline works on what is there, and knows what comes as `$$new`. */
function byPipeline(
  stages: readonly Value[],
  given: Value | undefined,
  language: Language,
): Matched {
  const bound: Document = isDocument(given) ? given : documentOf({ new: '$$ROOT' });
  const compiler = compilerFor(language);
  const variables = new Map<string, Value | undefined>(language.variables);
  const expressions: [string, Expression][] = [];
  for (const [name, value] of bound) {
    expressions.push([name, compiler.compile(value)]);
    variables.set(name, undefined);
  }
  const run = compileUpdatePipeline(stages, { ...language, variables });
  return (existing, incoming) => {
    const scope = scopeOf(Row.ofBytes(incoming));
    for (const [name, expression] of expressions) variables.set(name, expression(scope));
    const before = decodeDocument(existing);
    return encodeDocument(withId(run(before), before));
  };
}
