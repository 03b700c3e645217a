// Conditions as SQL over the `x` column. Each says for every document what the evaluator of queries
// says, or is left out, and then the plan is not exact.
import type { Filter, SearchFilter, SimpleFilter, ValueFilter } from '../engine.js';
import { type IndexPath, showPath } from '../indexing.js';
import { rangeOf } from './index-range.js';
import type { Lengths } from './path-indexes.js';
import { allOf, join, raw, type Sql, sql } from './sql.js';
import { storableJson, storableText } from './text.js';
import { valueSql } from './value-sql.js';

export interface Pushed {
  readonly condition: Sql;
  readonly exact: boolean;
}

/** With the paths that are indexed, each with how much of its texts is. */
export function pushFilter(filter: Filter | undefined, indexed: Lengths = NONE): Pushed {
  const conjuncts = conjunctsOf(filter);
  const pushed = conjuncts.filter((each): each is ValueFilter => !isSearch(each));
  const conditions = pushed.map((each) => {
    const lengthMax = indexed.get(showPath(each.path));
    return lengthMax === undefined ? conditionOf(each) : indexedCondition(each, lengthMax);
  });
  return { condition: allOf(conditions), exact: pushed.length === conjuncts.length };
}

const NONE: Lengths = new Map();

export function conjunctsOf(filter: Filter | undefined): readonly SimpleFilter[] {
  if (filter === undefined) return [];
  return filter.op === 'and' ? filter.all.flatMap(conjunctsOf) : [filter];
}

export function isSearch(filter: SimpleFilter): filter is SearchFilter {
  return filter.op === 'word' || filter.op === 'near';
}

/** By an index over the path: as a range of it, and as it is where texts are too long to tell. */
function indexedCondition(filter: ValueFilter, lengthMax: number): Sql {
  const { condition, exact } = rangeOf(filter, lengthMax);
  return exact ? condition : sql`${condition} and ${conditionOf(filter)}`;
}

function conditionOf(filter: ValueFilter): Sql {
  const exact = along(filter.path, raw('d.x'), (value) => predicate(filter, value), 0);
  if (filter.op !== '=') return exact;
  // The index over all paths finds it. Of scalars below objects that is all that is asked; on
  // elements of arrays it finds a little more.
  const contained = storableJson(containing(filter.path, filter.value));
  const found = sql`d.x @> ${contained}::jsonb`;
  return filter.path.includes(null) ? sql`${found} and ${exact}` : found;
}

/** Null in a path is any element of an array. */
function along(path: IndexPath, from: Sql, holds: (value: Sql) => Sql, depth: number): Sql {
  const at = path.indexOf(null);
  if (at < 0) return holds(valueSql(path, from));
  const list = valueSql(path.slice(0, at), from);
  const element = raw(`e${depth}`);
  const rest = along(path.slice(at + 1), sql`${element}.value`, holds, depth + 1);
  return sql`exists (select from jsonb_array_elements(
    case jsonb_typeof(${list}) when 'array' then ${list} else '[]' end) ${element} where ${rest})`;
}

function containing(path: IndexPath, value: unknown): unknown {
  return path.reduceRight<unknown>(
    (inner, step) => (step === null ? [inner] : { [step]: inner }),
    value,
  );
}

function predicate(filter: ValueFilter, value: Sql): Sql {
  switch (filter.op) {
    case '=':
      return equality(filter.value, value);
    case 'in':
      return sql`${value} = any(${filter.values.map(storableJson)}::jsonb[])`;
    case 'defined':
      return sql`${value} is not null`;
    case 'missing':
      return sql`${value} is null`;
    case 'every':
      return allOf(filter.of.map((each) => predicate(each, value)));
    case 'any':
      return sql`(${join(
        filter.of.map((each) => sql`(${predicate(each, value)})`),
        ' or ',
      )})`;
    case 'prefix': {
      const text = sql`${value} #>> '{}'`;
      const prefix = storableText(filter.value);
      return sql`jsonb_typeof(${value}) = 'string' and starts_with(${text}, ${prefix}::text)`;
    }
    default:
      return comparison(filter.op, filter.value, value);
  }
}

/** An empty list or object stands for all of its type, as in every index. */
function equality(wanted: unknown, value: Sql): Sql {
  if (typeof wanted !== 'object' || wanted === null) {
    return sql`${value} = ${storableJson(wanted)}::jsonb`;
  }
  return sql`jsonb_typeof(${value}) = ${raw(Array.isArray(wanted) ? "'array'" : "'object'")}`;
}

/** Only values of one type compare. */
function comparison(op: '<' | '<=' | '>' | '>=', wanted: unknown, value: Sql): Sql {
  const operator = raw(op);
  switch (typeof wanted) {
    case 'number':
    case 'boolean':
      return sql`jsonb_typeof(${value}) = ${raw(`'${typeof wanted}'`)}
        and ${value} ${operator} ${storableJson(wanted)}::jsonb`;
    case 'string':
      return sql`jsonb_typeof(${value}) = 'string'
        and (${value} #>> '{}') collate "C" ${operator} ${storableText(wanted)}::text`;
    default:
      return op === '<=' || op === '>=' ? sql`${value} = 'null'::jsonb` : raw('false');
  }
}
