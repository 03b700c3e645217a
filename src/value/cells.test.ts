// Cells of places: every place within an angle of another is in one of the runs around it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellOf, cellsAround, type Place } from './cells.js';
import { type Random, seededRandom, seedFromEnvironment } from './random.suite.js';

const CIRCLES = 2000;
const PLACES = 20;

const isIn = (cell: number, runs: ReturnType<typeof cellsAround>) =>
  runs.some(([first, last]) => first <= cell && cell <= last);

test('no place of a circle is missed', (t) => {
  const seed = seedFromEnvironment();
  t.diagnostic(`SEED=${seed}`);
  const random = seededRandom(seed);
  for (let circle = 0; circle < CIRCLES; circle++) {
    const centre = randomPlace(random);
    const radians = 10 ** (-7 * random()) * 1.2;
    const runs = cellsAround(centre, radians);
    assert.ok(runs.length <= 13, `${runs.length} runs`);
    for (let place = 0; place < PLACES; place++) {
      const there = offset(centre, radians * random() * (1 - 1e-9), 2 * Math.PI * random());
      const label = `SEED=${seed} ${there} around ${centre} by ${radians}`;
      assert.ok(isIn(cellOf(there), runs), label);
    }
  }
});

test('most of the globe is left out', () => {
  const share = (centre: Place, radians: number) =>
    cellsAround(centre, radians).reduce((sum, [first, last]) => sum + last - first + 1, 0) /
    2 ** 32;
  assert.ok(share([13.4, 52.5], 0.001) < 1e-4);
  assert.ok(share([-122, 47], 0.01) < 1e-3);
  assert.ok(share([179.99, 0], 0.001) < 1e-4, 'over the dateline');
  assert.equal(share([0, 89.99], 0.01), 1, 'around a pole');
  assert.equal(share([0, 0], 2), 1);
});

test('runs are apart and in order', () => {
  const runs = cellsAround([10, 50], 0.02);
  runs.forEach(([first, last], at) => {
    assert.ok(first <= last && first > (runs[at - 1]?.[1] ?? -1));
  });
});

function randomPlace(random: Random): Place {
  return [360 * random() - 180, 180 * random() - 90];
}

/** Where one gets from a place along a great circle. */
function offset([longitude, latitude]: Place, angle: number, bearing: number): Place {
  const [lambda, phi] = [(longitude * Math.PI) / 180, (latitude * Math.PI) / 180];
  const sine =
    Math.sin(phi) * Math.cos(angle) + Math.cos(phi) * Math.sin(angle) * Math.cos(bearing);
  const north = Math.asin(Math.max(-1, Math.min(1, sine)));
  const east = Math.atan2(
    Math.sin(bearing) * Math.sin(angle) * Math.cos(phi),
    Math.cos(angle) - Math.sin(phi) * sine,
  );
  const degrees = ((lambda + east) * 180) / Math.PI;
  return [degrees - 360 * Math.round(degrees / 360), (north * 180) / Math.PI];
}
