// Runs work in a transaction of its own, together with the scripts that belong to it; and once more
// from the beginning where another writer was faster.
import { Transaction } from '../documents/transaction.js';
import type { Lsn, Serial } from '../engine/engine.js';
import type { Program } from '../script/messages.js';
import type { RanProgram } from '../script/scripts.js';
import { scriptCharge } from '../throughput/charges.js';
import { MayflyError } from '../value/errors.js';
import type { CosmosRequest } from './request.js';
import { ScriptHost } from './script-host.js';
import { linksOf, type ScriptPlace, serialNames } from './script-links.js';

/** How often a request begins anew before its client is told to. */
const ATTEMPTS_MAX = 5;

/** What is different from one program to another. */
export type ProgramInput = Pick<Program, 'kind' | 'name' | 'body'> &
  Partial<Pick<Program, 'args' | 'requestBody' | 'responseBody' | 'operation' | 'requestValues'>>;

export interface ScriptSession {
  /** The request as it is inside the transaction. */
  readonly request: CosmosRequest;
  run(input: ProgramInput): Promise<RanProgram>;
}
export interface Committed<T> {
  readonly result: T;
  readonly lsn: Lsn;
  readonly serials: ReadonlyMap<Serial, Serial>;
  /** Of the scripts and of what they have asked for. */
  readonly charge: number;
}

export async function inTransaction<T>(
  request: CosmosRequest,
  place: ScriptPlace,
  work: (session: ScriptSession) => Promise<T>,
): Promise<Committed<T>> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt(request, place, work);
    } catch (error) {
      const isOvertaken = error instanceof MayflyError && error.code === 'scriptConflict';
      if (!isOvertaken || attempts >= ATTEMPTS_MAX || request.abandoned()) throw error;
    }
  }
}

async function attempt<T>(
  request: CosmosRequest,
  place: ScriptPlace,
  work: (session: ScriptSession) => Promise<T>,
): Promise<Committed<T>> {
  const { documents, scripts, at } = request;
  const { container, partition } = place;
  const names = serialNames(container);
  const transaction = new Transaction(documents, container, partition, at, names);
  const host = new ScriptHost(request, place, transaction);
  let computedMs = 0;
  const result = await work({
    request: { ...request, documents: transaction.documents },
    run: async (input) => {
      const program = { args: '[]', requestValues: {}, ...input, ...linksOf(place), now: at };
      const ran = await scripts.run(program, (operation) => host.carryOut(operation));
      computedMs += ran.computedMs;
      return ran;
    },
  });
  const { lsn, serials } = await transaction.commit();
  return { result, lsn, serials, charge: scriptCharge(host.charge, computedMs) };
}
