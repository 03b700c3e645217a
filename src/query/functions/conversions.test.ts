// Conversions between values and their text.
import { NESTING_MAX } from '../../value/json.js';
import { conversionFunctions } from './conversions.js';
import { testRows } from './rows.suite.js';

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

testRows(conversionFunctions, [
  ['TOSTRING', ['a"b'], 'a"b'],
  ['TOSTRING', [1.5], '1.5'],
  ['TOSTRING', [-0], '0'],
  ['TOSTRING', [1e21], '1e+21'],
  ['TOSTRING', [Number.NaN], 'NaN'],
  ['TOSTRING', [Number.NEGATIVE_INFINITY], '-Infinity'],
  ['TOSTRING', [true], 'true'],
  ['TOSTRING', [null], 'null'],
  ['TOSTRING', [['a', 1, null]], '["a",1,null]'],
  ['TOSTRING', [{ b: 1, a: {} }], '{"b":1,"a":{}}'],
  ['STRINGTOARRAY', [' [1, "a", {"b":[null]}] '], [1, 'a', { b: [null] }]],
  ['STRINGTOARRAY', ["['a']"], undefined],
  ['STRINGTOARRAY', ['[1,]'], undefined],
  ['STRINGTOARRAY', ['{}'], undefined],
  ['STRINGTOARRAY', [''], undefined],
  ['STRINGTOARRAY', [nested(NESTING_MAX)], JSON.parse(nested(NESTING_MAX))],
  ['STRINGTOARRAY', [nested(NESTING_MAX + 1)], undefined],
  ['STRINGTOBOOLEAN', ['\ttrue\n'], true],
  ['STRINGTOBOOLEAN', ['false'], false],
  ['STRINGTOBOOLEAN', ['True'], undefined],
  ['STRINGTOBOOLEAN', ['"true"'], undefined],
  ['STRINGTONULL', [' null '], null],
  ['STRINGTONULL', ['NULL'], undefined],
  ['STRINGTONUMBER', [' -1.5e2 '], -150],
  ['STRINGTONUMBER', ['0xF'], undefined],
  ['STRINGTONUMBER', ['1 2'], undefined],
  ['STRINGTONUMBER', ['1e400'], undefined],
  ['STRINGTONUMBER', ['NaN'], undefined],
  ['STRINGTONUMBER', [''], undefined],
  ['STRINGTOOBJECT', ['{"a": {"b": 1}}'], { a: { b: 1 } }],
  ['STRINGTOOBJECT', ['[]'], undefined],
  ['STRINGTOOBJECT', ['null'], undefined],
  ['STRINGTOOBJECT', ['{a: 1}'], undefined],
]);
