// What a page of a query took, and which indexes it used, as clients ask for it in headers.
import type { IncomingHttpHeaders } from 'node:http';
import type { AnsweredPage } from '../documents/query.js';
import type { IndexUse } from '../engine/engine.js';
import type { CompositeIndex, IndexPath } from '../engine/indexing.js';
import { flag } from './request.js';

export interface AskedMetrics {
  readonly query: boolean;
  /** The older form is in Base64, the newer one percent-encoded and shaped otherwise. */
  readonly indexes: 'older' | 'newer' | undefined;
}
export interface RequestTimes {
  readonly compileMs: number;
  readonly lowerMs: number;
  readonly totalMs: number;
}

export function askedMetrics(headers: IncomingHttpHeaders): AskedMetrics {
  const newer = flag(headers, 'x-ms-cosmos-populateindexmetrics-v2');
  const older = flag(headers, 'x-ms-cosmos-populateindexmetrics');
  const indexes = newer ? 'newer' : older ? 'older' : undefined;
  return { query: flag(headers, 'x-ms-documentdb-populatequerymetrics'), indexes };
}

export function metricsHeaders(
  asked: AskedMetrics,
  page: AnsweredPage,
  times: RequestTimes,
): readonly string[] {
  const headers: string[] = [];
  if (asked.query) headers.push('x-ms-documentdb-query-metrics', queryMetrics(page, times));
  if (asked.indexes) {
    const { indexes } = page.plan;
    const text =
      asked.indexes === 'newer'
        ? encodeURIComponent(JSON.stringify(newerForm(indexes)))
        : Buffer.from(JSON.stringify(olderForm(indexes))).toString('base64');
    headers.push('x-ms-cosmos-index-utilization', text);
  }
  return headers;
}

function queryMetrics({ rows, work, took }: AnsweredPage, times: RequestTimes): string {
  const metrics: Readonly<Record<string, string>> = {
    totalExecutionTimeInMs: decimal(times.totalMs),
    queryCompileTimeInMs: decimal(times.compileMs),
    queryLogicalPlanBuildTimeInMs: decimal(times.lowerMs),
    queryPhysicalPlanBuildTimeInMs: decimal(took.planMs),
    queryOptimizationTimeInMs: decimal(took.optimizeMs),
    VMExecutionTimeInMs: decimal(took.runMs),
    indexLookupTimeInMs: decimal(work.lookupMs),
    instructionCount: String(work.instructions),
    documentLoadTimeInMs: decimal(work.loadMs),
    systemFunctionExecuteTimeInMs: decimal(work.functionMs),
    userFunctionExecuteTimeInMs: decimal(work.userFunctionMs),
    retrievedDocumentCount: String(work.documents),
    retrievedDocumentSize: String(work.documentBytes),
    outputDocumentCount: String(rows.length),
    outputDocumentSize: String(rows.reduce((sum, row) => sum + Buffer.byteLength(row), 0)),
    writeOutputTimeInMs: decimal(work.outputMs),
    indexUtilizationRatio: ratio(work.matched, work.documents),
  };
  return Object.entries(metrics)
    .map(([name, value]) => `${name}=${value}`)
    .join(';');
}

function decimal(ms: number): string {
  return ms.toFixed(2);
}

/** The share of the documents read that passed the filter: at 1 none was read in vain. */
function ratio(matched: number, documents: number): string {
  const share = documents === 0 ? 1 : matched / documents;
  // Clients multiply it to get the count back, so it is only shortened where nothing is lost.
  return Number(share.toFixed(2)) === share ? share.toFixed(2) : String(share);
}

function newerForm({ used, missed }: IndexUse): object {
  return {
    UtilizedIndexes: {
      SingleIndexes: singles(used).map((IndexSpec) => ({ IndexSpec })),
      CompositeIndexes: composites(used).map((IndexSpecs) => ({ IndexSpecs })),
    },
    PotentialIndexes: {
      SingleIndexes: singles(missed).map((IndexSpec) => ({ IndexSpec, ...IMPACT })),
      CompositeIndexes: composites(missed).map((IndexSpecs) => ({ IndexSpecs, ...IMPACT })),
    },
  };
}

function olderForm({ used, missed }: IndexUse): object {
  const single = (IndexSpec: string) => ({
    FilterExpression: '',
    IndexSpec,
    FilterPreciseSet: true,
    IndexPreciseSet: true,
    ...IMPACT,
  });
  const composite = (IndexSpecs: readonly string[]) => ({
    IndexSpecs,
    IndexPreciseSet: true,
    ...IMPACT,
  });
  return {
    UtilizedSingleIndexes: singles(used).map(single),
    PotentialSingleIndexes: singles(missed).map(single),
    UtilizedCompositeIndexes: composites(used).map(composite),
    PotentialCompositeIndexes: composites(missed).map(composite),
  };
}

/** An index is only named where it decides which documents are read. */
const IMPACT = { IndexImpactScore: 'High' };

function singles(indexes: readonly CompositeIndex[]): readonly string[] {
  return indexes.flatMap(([first, ...more]) =>
    first && more.length === 0 ? [`${specOf(first.path)}/?`] : [],
  );
}

function composites(indexes: readonly CompositeIndex[]): readonly (readonly string[])[] {
  return indexes
    .filter((index) => index.length > 1)
    .map((index) =>
      index.map(({ path, descending }) => `${specOf(path)} ${descending ? 'DESC' : 'ASC'}`),
    );
}

/** As a policy would name the path. */
function specOf(path: IndexPath): string {
  return path
    .map((step) => {
      if (step === null) return '/[]';
      return /^[A-Za-z_][A-Za-z0-9_]*$/.test(step) ? `/${step}` : `/${JSON.stringify(step)}`;
    })
    .join('');
}
