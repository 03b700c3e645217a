// Stages that read other collections: `$lookup`, `$graphLookup`, `$unionWith`.
import { keyOfValue } from '../../value/bson/compare.js';
import { toSafeInteger } from '../../value/bson/numbers.js';
import { decodeValue } from '../../value/bson/read.js';
import { MISSING } from '../../value/bson/types.js';
import {
  type Bytes,
  type Document,
  documentOf,
  isArray,
  isDocument,
  isNullish,
  isNumber,
  Regex,
  type Value,
} from '../../value/bson/value.js';
import { mongoFailure, mongoLocation } from '../../value/mongo-errors.js';
import { checkPath, compilerFor } from '../expression/compile.js';
import { checkVariable } from '../expression/iteration.js';
import { type Expression, scopeOf } from '../expression/scope.js';
import { compileFilter } from '../filter/filter.js';
import { type FieldPath, fieldPath, someAtPath } from '../filter/path.js';
import type { Language } from '../language.js';
import { Row, sizeOf, valueAt } from '../row.js';
import { gather, rowsOf } from './flow.js';
import { leadingMatch } from './leading.js';
import { needDocument, replaced } from './simple.js';
import type { Namespace, PipelineHost, Rows, Run, Stage, StageContext, Stages } from './stage.js';

export const joinStages: Stages = {
  $lookup: (operand, context) => lookup(needDocument(operand, '$lookup'), context),
  $graphLookup: (operand, context) => graphLookup(needDocument(operand, '$graphLookup'), context),
  $unionWith: (operand, { host, language, inner }) => {
    const from = isDocument(operand) ? operand.get('coll') : operand;
    const stages = isDocument(operand) ? operand.get('pipeline') : undefined;
    const pipeline = stages === undefined ? undefined : inner(stages, language, '$unionWith');
    if (typeof from !== 'string' && !pipeline) {
      throw mongoFailure(
        'FailedToParse',
        'the $unionWith stage specification must be an object or string',
      );
    }
    return async function* (input, run) {
      yield* input;
      const match = stages === undefined ? undefined : leadingMatch(stages);
      const other = typeof from === 'string' ? read(host, namespaceOf(from), match) : rowsOf([]);
      yield* pipeline ? pipeline(other, run) : other;
    };
  },
};

/** A name, or a database and a name. */
export function namespaceOf(value: Value | undefined): Namespace {
  if (typeof value === 'string') return { database: undefined, collection: value };
  const [database, collection] = isDocument(value) ? [value.get('db'), value.get('coll')] : [];
  if (typeof collection !== 'string' || (database !== undefined && typeof database !== 'string')) {
    throw mongoFailure(
      'FailedToParse',
      "a namespace is a string or an object with 'db' and 'coll'",
    );
  }
  return { database, collection };
}

export async function* read(
  host: PipelineHost,
  namespace: Namespace,
  filter: Document | undefined,
): Rows {
  for await (const batch of host.read(namespace, filter)) {
    yield batch.map((bytes: Bytes) => Row.ofBytes(bytes));
  }
}

interface Lookup {
  readonly from: Namespace | undefined;
  readonly as: readonly string[];
  readonly equality: Equality | undefined;
  readonly variables: readonly (readonly [string, Expression])[];
  readonly stages: Value | undefined;
}
interface Equality {
  readonly local: readonly string[];
  readonly foreign: FieldPath;
}

function lookup(spec: Document, context: StageContext): Stage {
  const { from, as, equality, variables, stages } = lookupSpec(spec, context);
  const { host, language } = context;
  const values = new Map<string, Value | undefined>(language.variables);
  for (const [name] of variables) values.set(name, undefined);
  const pipeline =
    stages === undefined
      ? undefined
      : context.inner(stages, { ...language, variables: values }, '$lookup');
  const join = new Joining(host, from, pipeline, stages);
  return async function* (input, run) {
    for await (const batch of input) {
      const matches = equality
        ? await equalRows(batch, equality, from, host, run, language)
        : undefined;
      const made: Row[] = [];
      for (const [index, row] of batch.entries()) {
        const scope = scopeOf(row);
        for (const [name, expression] of variables) values.set(name, expression(scope));
        const candidates = matches?.[index];
        const found = await join.rows(candidates, variables.length > 0, run);
        made.push(
          Row.ofDocument(
            replaced(
              row.document,
              as,
              found.map((each) => each.document),
            ),
            row.meta,
          ),
        );
        if (run.pace.isDue) await run.pace.rest();
      }
      yield made;
    }
  };
}

const LOOKUP_FIELDS = new Set(['from', 'localField', 'foreignField', 'let', 'pipeline', 'as']);

function lookupSpec(spec: Document, { language }: StageContext): Lookup {
  for (const name of spec.keys()) {
    if (!LOOKUP_FIELDS.has(name)) {
      throw mongoFailure('FailedToParse', `unknown argument to $lookup: ${name}`);
    }
  }
  const as = spec.get('as');
  if (typeof as !== 'string')
    throw mongoFailure('FailedToParse', "must specify 'as' field for a $lookup");
  const [local, foreign] = [spec.get('localField'), spec.get('foreignField')];
  if ((local === undefined) !== (foreign === undefined)) {
    throw mongoFailure(
      'FailedToParse',
      '$lookup requires both or neither of localField and foreignField to be specified',
    );
  }
  const stages = spec.get('pipeline');
  if (local === undefined && stages === undefined) {
    throw mongoFailure(
      'FailedToParse',
      "$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified",
    );
  }
  const from = spec.get('from');
  if (from === undefined && stages === undefined) {
    throw mongoFailure('FailedToParse', "must specify 'from' field for a $lookup");
  }
  const equality =
    typeof local === 'string' && typeof foreign === 'string'
      ? { local: pathOf(local), foreign: fieldPath(pathOf(foreign).join('.')) }
      : undefined;
  const bound = spec.get('let') ?? new Map();
  if (!isDocument(bound))
    throw mongoFailure('FailedToParse', "$lookup argument 'let' must be an object");
  const compiler = compilerFor(language);
  const variables = [...bound].map(([name, value]) => {
    checkVariable(name);
    return [name, compiler.compile(value)] as const;
  });
  return {
    from: from === undefined ? undefined : namespaceOf(from),
    as: pathOf(as),
    equality,
    variables,
    stages,
  };
}

function pathOf(text: string): readonly string[] {
  const names = text.split('.');
  checkPath(names, text);
  return names;
}

/** A foreign collection up to this size is kept for the next rows, and not read again. */
const KEPT_BYTES_MAX = 16 * 1024 * 1024;

/** Runs the inner pipeline for one row after the other. */
class Joining {
  readonly #host: PipelineHost;
  readonly #from: Namespace | undefined;
  readonly #pipeline: Stage | undefined;
  readonly #match: Document | undefined;
  #foreign: readonly Row[] | undefined;
  #isLarge = false;
  #result: readonly Row[] | undefined;

  constructor(
    host: PipelineHost,
    from: Namespace | undefined,
    pipeline: Stage | undefined,
    stages: Value | undefined,
  ) {
    this.#host = host;
    this.#from = from;
    this.#pipeline = pipeline;
    this.#match = stages === undefined ? undefined : leadingMatch(stages);
  }

  /** `candidates` are the foreign rows with equal values; undefined for all there are. */
  async rows(
    candidates: readonly Row[] | undefined,
    dependsOnRow: boolean,
    run: Run,
  ): Promise<readonly Row[]> {
    if (!this.#pipeline) return candidates ?? [];
    const inner: Run = { pace: run.pace, memory: run.memory.nested() };
    if (candidates)
      return await gather(this.#pipeline(rowsOf(candidates), inner), inner, '$lookup');
    if (dependsOnRow) {
      return await gather(this.#pipeline(await this.#all(run), inner), inner, '$lookup');
    }
    this.#result ??= await gather(this.#pipeline(await this.#all(run), run), run, '$lookup');
    return this.#result;
  }

  async #all(run: Run): Promise<Rows> {
    if (!this.#from) return rowsOf([]);
    if (this.#foreign) return rowsOf(this.#foreign);
    const source = read(this.#host, this.#from, this.#match);
    if (this.#isLarge) return source;
    const kept: Row[] = [];
    let bytes = 0;
    for await (const batch of source) {
      for (const row of batch) bytes += row.size;
      kept.push(...batch);
      if (bytes <= KEPT_BYTES_MAX) continue;
      this.#isLarge = true;
      return read(this.#host, this.#from, this.#match);
    }
    run.memory.hold(bytes, '$lookup');
    this.#foreign = kept;
    return rowsOf(kept);
  }
}

/** For each row the foreign ones whose field is equal to one of its values, read together. */
async function equalRows(
  batch: readonly Row[],
  { local, foreign }: Equality,
  from: Namespace | undefined,
  host: PipelineHost,
  run: Run,
  language: Language,
): Promise<readonly (readonly Row[])[]> {
  const fold = language.collation?.fold;
  const wanted = batch.map((row) => localValues(valueAt(row.document, local, 0)));
  const byKey = new Map<string, Row[]>();
  for (const values of wanted) for (const value of values) byKey.set(keyOfValue(value, fold), []);
  const order = new Map<Row, number>();
  if (!from) return batch.map(() => []);
  for await (const rows of read(host, from, filterFor(wanted.flat(), foreign.text))) {
    for (const row of rows) {
      order.set(row, order.size);
      for (const key of foreignKeys(row, foreign, fold)) byKey.get(key)?.push(row);
    }
    if (run.pace.isOver) await run.pace.rest();
  }
  return wanted.map((values) => {
    const found = new Set(values.flatMap((value) => byKey.get(keyOfValue(value, fold)) ?? []));
    return [...found].sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
  });
}

/** An array stands for each of its elements; what is missing is null. */
function localValues(value: Value | undefined): readonly Value[] {
  if (isArray(value)) return value.map((element) => (isNullish(element) ? null : element));
  return [isNullish(value) ? null : value];
}

/** Lists of more values are not worth looking up. */
const FILTER_VALUES_MAX = 1000;

/** A regular expression in a list would match texts, where it has to be equal. */
function filterFor(values: readonly Value[], path: string): Document | undefined {
  const isList =
    values.length <= FILTER_VALUES_MAX && !values.some((value) => value instanceof Regex);
  return isList ? documentOf({ [path]: documentOf({ $in: values }) }) : undefined;
}

function foreignKeys(
  row: Row,
  path: FieldPath,
  fold: ((text: string) => string) | undefined,
): ReadonlySet<string> {
  const keys = new Set<string>();
  someAtPath(row.bytes, 0, path, true, (bytes, type, at) => {
    const value = type === MISSING ? null : decodeValue(bytes, type, at);
    keys.add(keyOfValue(isNullish(value) ? null : value, fold));
    return false;
  });
  return keys;
}

interface GraphLookup {
  readonly from: Namespace;
  readonly as: readonly string[];
  readonly startWith: Expression;
  readonly connectFrom: readonly string[];
  readonly connectTo: FieldPath;
  readonly depthMax: number;
  readonly depthField: string | undefined;
  readonly accepts: (row: Row) => boolean;
}

function graphLookup(spec: Document, context: StageContext): Stage {
  const graph = graphSpec(spec, context.language);
  const fold = context.language.collation?.fold;
  return async function* (input, run) {
    for await (const batch of input) {
      const made: Row[] = [];
      for (const row of batch) {
        const inner: Run = { pace: run.pace, memory: run.memory.nested() };
        const found = await reachable(graph, row, context.host, inner, fold);
        made.push(Row.ofDocument(replaced(row.document, graph.as, found), row.meta));
      }
      yield made;
    }
  };
}

function graphSpec(spec: Document, language: Language): GraphLookup {
  const text = (name: string): string => {
    const value = spec.get(name);
    if (typeof value === 'string') return value;
    throw mongoLocation(40103, `expected string as argument for ${name}, found: ${typeof value}`);
  };
  const start = spec.get('startWith');
  if (start === undefined)
    throw mongoLocation(
      40105,
      "$graphLookup requires 'from', 'as', 'startWith', 'connectFromField', and 'connectToField' to be specified.",
    );
  const depth = spec.get('maxDepth');
  const depthMax =
    depth === undefined
      ? Number.POSITIVE_INFINITY
      : isNumber(depth)
        ? toSafeInteger(depth)
        : undefined;
  if (depthMax === undefined || depthMax < 0) {
    throw mongoLocation(40101, 'maxDepth requires a nonnegative argument');
  }
  const restrict = spec.get('restrictSearchWithMatch') ?? new Map();
  if (!isDocument(restrict))
    throw mongoLocation(40185, "'restrictSearchWithMatch' must be an object");
  const { matches } = compileFilter(restrict, language);
  return {
    from: namespaceOf(spec.get('from')),
    as: pathOf(text('as')),
    startWith: compilerFor(language).compile(start),
    connectFrom: pathOf(text('connectFromField')),
    connectTo: fieldPath(text('connectToField')),
    depthMax,
    depthField: spec.has('depthField') ? text('depthField') : undefined,
    accepts: (row) => matches(row.bytes),
  };
}

/** Level by level; every document is found once, by the shortest way. */
async function reachable(
  graph: GraphLookup,
  start: Row,
  host: PipelineHost,
  run: Run,
  fold: ((text: string) => string) | undefined,
): Promise<Value[]> {
  const found: Value[] = [];
  const seen = new Set<string>();
  const asked = new Set<string>();
  let frontier = localValues(graph.startWith(scopeOf(start)));
  for (let depth = 0; depth <= graph.depthMax && frontier.length > 0; depth++) {
    const fresh = frontier.filter((value) => !asked.has(keyOfValue(value, fold)));
    for (const value of fresh) asked.add(keyOfValue(value, fold));
    if (fresh.length === 0) break;
    const keys = new Set(fresh.map((value) => keyOfValue(value, fold)));
    const next: Value[] = [];
    for await (const rows of read(host, graph.from, filterFor(fresh, graph.connectTo.text))) {
      for (const row of rows) {
        const isNext = [...foreignKeys(row, graph.connectTo, fold)].some((key) => keys.has(key));
        const id = keyOfValue(row.document.get('_id'));
        if (!isNext || seen.has(id) || !graph.accepts(row)) continue;
        seen.add(id);
        const document = graph.depthField
          ? replaced(row.document, graph.depthField.split('.'), BigInt(depth))
          : row.document;
        run.memory.hold(sizeOf(document), '$graphLookup');
        found.push(document);
        for (const value of localValues(valueAt(row.document, graph.connectFrom, 0))) {
          if (value !== null) next.push(value);
        }
      }
      if (run.pace.isOver) await run.pace.rest();
    }
    frontier = next;
  }
  return found;
}
