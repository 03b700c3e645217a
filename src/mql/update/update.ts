// An update, ready to be applied to raw documents: operators, a replacement, or a pipeline.
import { secondsOf } from '../../time/instant.js';
import { compareBson } from '../../value/bson/compare.js';
import { decodeDocument } from '../../value/bson/read.js';
import { showField } from '../../value/bson/show.js';
import { BsonType, typeName } from '../../value/bson/types.js';
import { DOCUMENT_BYTES_MAX, validateDocument } from '../../value/bson/validate.js';
import {
  type Bytes,
  type Document,
  isArray,
  isDocument,
  Timestamp,
  typeOf,
  type Value,
} from '../../value/bson/value.js';
import { encodeDocument } from '../../value/bson/write.js';
import { mongoFailure, mongoLocation } from '../../value/mongo-errors.js';
import type { CompiledFilter } from '../filter/filter.js';
import type { Language } from '../language.js';
import { checkArrayFilters, compileArrayFilters } from './array-filters.js';
import { compileOperators } from './operators.js';
import { compileUpdatePipeline } from './pipeline.js';
import { copyOf, documentOfFilter, idOfFilter } from './upsert.js';
import type { Surroundings } from './walk.js';

export interface UpdateStatement {
  readonly update: Value;
  readonly filter: CompiledFilter;
  readonly arrayFilters: readonly Value[];
  readonly multi: boolean;
  readonly language: Language;
}

export interface CompiledUpdate {
  readonly kind: 'operators' | 'replacement' | 'pipeline';
  /** The document afterwards; the very same bytes where nothing changes. */
  readonly apply: (document: Bytes) => Bytes;
  /** The document that an upsert inserts. A missing `_id` is made by `newId`, and comes first. */
  readonly insert: (newId: () => Value) => Bytes;
}

export function compileUpdate(statement: UpdateStatement): CompiledUpdate {
  const { update, arrayFilters } = statement;
  if (isArray(update)) {
    if (arrayFilters.length > 0) {
      throw mongoFailure(
        'FailedToParse',
        'arrayFilters may not be specified for pipeline-syle updates',
      );
    }
    return pipelineUpdate(statement, update);
  }
  if (!isDocument(update)) {
    throw mongoFailure(
      'FailedToParse',
      `Update argument must be either an object or an array, not ${typeName(typeOf(update))}`,
    );
  }
  const first = update.keys().next().value;
  return first?.startsWith('$')
    ? operatorUpdate(statement, update)
    : replacement(statement, update);
}

function operatorUpdate(statement: UpdateStatement, update: Document): CompiledUpdate {
  const { filter, language } = statement;
  const filters = compileArrayFilters(statement.arrayFilters, language);
  const steps = compileOperators(update, language);
  checkArrayFilters(
    filters,
    steps.map(({ path }) => path),
    update,
  );
  const positional = steps.some(({ path }) => path.parts.some(({ kind }) => kind === 'matched'));
  const passes = (id: string, element: Value) => filters.get(id)?.(element) === true;
  const run = (document: Document, surroundings: Surroundings, inserting: boolean) => {
    for (const step of steps) {
      if (inserting || !step.onlyOnInsert) step.run(document, surroundings);
    }
  };
  return {
    kind: 'operators',
    apply: (bytes) => {
      const document = decodeDocument(bytes);
      const matched = positional ? filter.position(bytes) : undefined;
      run(document, { matched, passes }, false);
      return finish(bytes, document, unalterable);
    },
    insert: (newId) => {
      const document = documentOfFilter(filter.tree);
      const id = document.get('_id');
      run(document, { matched: undefined, passes }, true);
      if (id !== undefined && compareBson(id, document.get('_id')) !== 0) throw unalterable();
      return finishInsert(document, newId);
    },
  };
}

function replacement(statement: UpdateStatement, update: Document): CompiledUpdate {
  if (statement.multi) {
    throw mongoFailure(
      'FailedToParse',
      'multi update is not supported for replacement-style update',
    );
  }
  if (statement.arrayFilters.length > 0) {
    throw mongoFailure(
      'FailedToParse',
      'arrayFilters may not be specified for replacement-style updates',
    );
  }
  checkReplacement(update);
  const stamped = withStamps(update, statement.language);
  const own = update.get('_id');
  return {
    kind: 'replacement',
    apply: (bytes) => {
      const id = decodeDocument(bytes).get('_id');
      if (own !== undefined && compareBson(own, id) !== 0) throw altered(own);
      return finish(bytes, withId(id, stamped), () => altered(own));
    },
    insert: (newId) => {
      const wanted = idOfFilter(statement.filter.tree);
      if (own !== undefined && wanted !== undefined && compareBson(own, wanted) !== 0) {
        throw altered(own);
      }
      return finishInsert(withId(own ?? wanted, stamped), newId);
    },
  };
}

/** A field that looks like an operator can only be a mistake here. */
function checkReplacement(update: Document): void {
  for (const name of update.keys()) {
    if (!name.startsWith('$')) continue;
    throw mongoFailure(
      'DollarPrefixedFieldName',
      `The dollar ($) prefixed field '${name}' in '${name}' is not allowed in the context of an update's replacement document. Consider using an aggregation pipeline with $replaceWith.`,
    );
  }
}

/** A timestamp that was left empty stands for the time when the document is stored. */
function withStamps(update: Document, { now }: Language): Document {
  const isEmpty = (value: Value) =>
    value instanceof Timestamp && value.seconds === 0 && value.increment === 0;
  const stamp = new Timestamp(secondsOf(now), 1);
  return new Map([...update].map(([name, value]) => [name, isEmpty(value) ? stamp : value]));
}

function withId(id: Value | undefined, document: Document): Document {
  const whole: Document = new Map();
  if (id !== undefined) whole.set('_id', id);
  for (const [name, value] of document) if (name !== '_id') whole.set(name, copyOf(value));
  return whole;
}

function finish(before: Bytes, document: Document, wrongId: () => Error): Bytes {
  const after = encodeDocument(document);
  if (Buffer.compare(before, after) === 0) return before;
  const id = document.get('_id');
  if (compareBson(decodeDocument(before).get('_id'), id) !== 0) throw wrongId();
  checkSize(after);
  return after;
}

function finishInsert(document: Document, newId: () => Value): Bytes {
  const id = document.get('_id') ?? newId();
  checkId(id);
  const bytes = encodeDocument(withId(id, document));
  checkSize(bytes);
  return bytes;
}

/** An update may also nest a document deeper than documents may be. */
function checkSize(bytes: Bytes): void {
  if (bytes.length <= DOCUMENT_BYTES_MAX) {
    validateDocument(bytes);
    return;
  }
  throw mongoLocation(
    17419,
    `Resulting document after update is larger than ${DOCUMENT_BYTES_MAX}`,
  );
}

/** An `_id` is no array, regular expression or undefined, and has no fields like operators. */
export function checkId(id: Value): void {
  const type = typeOf(id);
  if (type === BsonType.array || type === BsonType.regex || type === BsonType.undefined) {
    throw mongoFailure('InvalidIdField', `The '_id' value cannot be of type ${typeName(type)}`);
  }
  if (!isDocument(id)) return;
  for (const name of id.keys()) {
    if (!name.startsWith('$')) continue;
    throw mongoFailure(
      'DollarPrefixedFieldName',
      `_id fields may not contain '$'-prefixed fields: ${name} is not valid for storage.`,
    );
  }
}

function unalterable() {
  return mongoFailure(
    'ImmutableField',
    "Performing an update on the path '_id' would modify the immutable field '_id'",
  );
}

function altered(id: Value | undefined) {
  return mongoFailure(
    'ImmutableField',
    `After applying the update, the (immutable) field '_id' was found to have been altered to ${showField('_id', id)}`,
  );
}

function pipelineUpdate(statement: UpdateStatement, stages: readonly Value[]): CompiledUpdate {
  const run = compileUpdatePipeline(stages, statement.language);
  const keepingId = (before: Document): Document => {
    const after = run(before);
    return after.has('_id') ? after : withId(before.get('_id'), after);
  };
  return {
    kind: 'pipeline',
    apply: (bytes) => finish(bytes, keepingId(decodeDocument(bytes)), unalterable),
    insert: (newId) => {
      const start = documentOfFilter(statement.filter.tree);
      const document = keepingId(start);
      const wanted = start.get('_id');
      if (wanted !== undefined && compareBson(wanted, document.get('_id')) !== 0) {
        throw unalterable();
      }
      return finishInsert(document, newId);
    },
  };
}
