// The user-defined functions of a container, for its queries.
import type { StoredContainer } from '../catalog/resources.js';
import type { FunctionResult, UserFunctions } from '../query/user-functions.js';
import type { FunctionSource } from '../script/messages.js';
import { ownFrames } from '../script/prelude.js';
import { thrownError } from '../script/scripts.js';
import type { Hints } from '../sql/hints.js';
import { hintsOf } from './query-hints.js';
import type { CosmosRequest } from './request.js';

/** What the text of a query may name, and how the functions among it are called. */
export function languageOf(
  { catalog, scripts }: CosmosRequest,
  container: StoredContainer,
): { readonly hints: Hints; readonly userFunctions: UserFunctions | undefined } {
  const functions = catalog.belongings.of('function', container.serial);
  const names = new Set(functions.map(({ id }) => id));
  const hints = { ...hintsOf(container.definition), functions: names };
  if (functions.length === 0) return { hints, userFunctions: undefined };
  const userFunctions: UserFunctions = {
    call: async (called, calls) => {
      const sources = called.map((name): FunctionSource => {
        const found = functions.find(({ id }) => id === name);
        return { name, body: found?.body.body ?? '' };
      });
      return JSON.parse(await scripts.callFunctions(sources, calls)) as FunctionResult[];
    },
    error: (text, stack) => thrownError(text, ownFrames(stack), undefined),
  };
  return { hints, userFunctions };
}
