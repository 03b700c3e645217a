// The variables that a command defines with `let`: expressions without a document.
import { type Document, isArray, isDocument, type Value } from '../../value/bson/value.js';
import { mongoLocation } from '../../value/mongo-errors.js';
import type { Language } from '../language.js';
import { Row } from '../row.js';
import { compileExpression } from './compile.js';
import { checkVariable } from './iteration.js';
import { scopeOf } from './scope.js';

/** Each may use those before it. */
export function compileLet(given: Document, language: Language): Map<string, Value | undefined> {
  const variables = new Map<string, Value | undefined>(language.variables);
  for (const [name, value] of given) {
    checkVariable(name);
    checkNoField(value);
    const expression = compileExpression(value, { ...language, variables });
    variables.set(name, expression(scopeOf(Row.ofDocument(new Map()))));
  }
  return variables;
}

const NO_DOCUMENT = 4_890_500;

function checkNoField(value: Value): void {
  if (typeof value === 'string' && /^\$[^$]/.test(value)) {
    throw mongoLocation(
      NO_DOCUMENT,
      'Command let Expression tried to access a field, but this is not allowed because Command let Expressions run before the query examines any documents.',
    );
  }
  if (isArray(value)) for (const element of value) checkNoField(element);
  if (!isDocument(value) || value.has('$literal')) return;
  for (const inner of value.values()) checkNoField(inner);
}
