// The stemmer, with words for each of its rules.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stem } from './stemmer.js';

const stems: Readonly<Record<string, string>> = {
  // Plurals.
  caresses: 'caress',
  ponies: 'poni',
  ties: 'ti',
  caress: 'caress',
  cats: 'cat',
  // The past and the present.
  feed: 'feed',
  agreed: 'agre',
  plastered: 'plaster',
  bled: 'bled',
  motoring: 'motor',
  sing: 'sing',
  conflated: 'conflat',
  troubled: 'troubl',
  sized: 'size',
  hopping: 'hop',
  hoping: 'hope',
  falling: 'fall',
  hissing: 'hiss',
  fizzed: 'fizz',
  failing: 'fail',
  filing: 'file',
  swimming: 'swim',
  // A last y.
  happy: 'happi',
  sky: 'sky',
  // Double suffixes, full ones and what is left.
  relational: 'relat',
  conditional: 'condit',
  digitizer: 'digit',
  radically: 'radic',
  differently: 'differ',
  vietnamization: 'vietnam',
  operator: 'oper',
  hopefulness: 'hope',
  sensibility: 'sensibl',
  triplicate: 'triplic',
  electrical: 'electr',
  goodness: 'good',
  revival: 'reviv',
  allowance: 'allow',
  airliner: 'airlin',
  adjustable: 'adjust',
  replacement: 'replac',
  adjustment: 'adjust',
  dependent: 'depend',
  adoption: 'adopt',
  communism: 'commun',
  effective: 'effect',
  // The end.
  probate: 'probat',
  rate: 'rate',
  cease: 'ceas',
  controlling: 'control',
  roll: 'roll',
  // y as a vowel and as a consonant.
  toys: 'toi',
  yes: 'ye',
  syzygy: 'syzygi',
  // Not for us.
  is: 'is',
  a: 'a',
  '2024s': '2024s',
  naïves: 'naïves',
};

test('words are cut down to their stems', () => {
  for (const [word, expected] of Object.entries(stems)) assert.equal(stem(word), expected, word);
});
