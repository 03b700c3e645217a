// Functions that pick an argument.
import { conditionalFunctions } from './conditional.js';
import { testRows } from './rows.suite.js';

testRows(conditionalFunctions, [
  ['IIF', [true, 1, 2], 1],
  ['IIF', [false, 1, 2], 2],
  ['IIF', [1, 1, 2], 2],
  ['IIF', ['true', 1, 2], 2],
  ['IIF', [undefined, 1, 2], 2],
  ['IIF', [true, undefined, 2], undefined],
  ['CHOOSE', [1, 'a'], 'a'],
  ['CHOOSE', [2, 'a', 'b', 'c'], 'b'],
  ['CHOOSE', [3, 'a', undefined, 'c'], 'c'],
  ['CHOOSE', [2, 'a', undefined, 'c'], undefined],
  ['CHOOSE', [0, 'a', 'b'], undefined],
  ['CHOOSE', [3, 'a', 'b'], undefined],
  ['CHOOSE', [-1, 'a', 'b'], undefined],
  ['CHOOSE', [1.5, 'a', 'b'], undefined],
]);
