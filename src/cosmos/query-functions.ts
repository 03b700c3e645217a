// The user-defined functions of a container, for its queries.
import type { StoredContainer } from '../catalog/resources.js';
import type { FunctionResult, UserFunctions } from '../query/user-functions.js';
import type { FunctionSource } from '../script/messages.js';
import { ownFrames } from '../script/prelude.js';
import { thrownError } from '../script/scripts.js';
import type { Hints } from '../sql/hints.js';
import { hintsOf } from './query-hints.js';
import type { CosmosRequest } from './request.js';

interface Language {
  readonly hints: Hints;
  readonly userFunctions: UserFunctions | undefined;
}

/** What the text of a query may name, and how the functions among it are called. */
export function languageOf(
  { catalog, scripts }: CosmosRequest,
  container: StoredContainer,
): Language {
  const functions = catalog.belongings.of('function', container.serial);
  const plain = hintsOf(container.definition);
  if (functions.length === 0) return withoutFunctions(plain);
  const hints = { ...plain, functions: new Set(functions.map(({ id }) => id)) };
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

const known = new WeakMap<Hints, Language>();

/** Most containers have none, so this is worked out once. */
function withoutFunctions(plain: Hints): Language {
  const language = known.get(plain) ?? {
    hints: { ...plain, functions: new Set<string>() },
    userFunctions: undefined,
  };
  known.set(plain, language);
  return language;
}
