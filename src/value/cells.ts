// Places on the globe as cells of a grid over longitude and latitude, numbered along a Z-shaped
// curve: a square of cells is a few runs of numbers.
//
//   cell: 16 bits of longitude and 16 of latitude, one of each in turn, longitude first

/** In degrees, longitude first. */
export type Place = readonly [longitude: number, latitude: number];
/** Both ends are inside. */
export type CellRun = readonly [first: number, last: number];

const BITS = 16;
const SIDE = 2 ** BITS;
/** More runs fit a circle better, and take more looks. */
const RUNS_MAX = 12;

export function cellOf([longitude, latitude]: Place): number {
  return interleave(columnOf(longitude), rowOf(latitude));
}

/** Runs of cells that hold every place within an angle of another, and some more. */
export function cellsAround(centre: Place, radians: number): readonly CellRun[] {
  const boxes = boxesAround(centre, radians);
  if (boxes.length === 0) return [[0, SIDE * SIDE - 1]];
  let squares: readonly Square[] = [{ column: 0, row: 0, side: SIDE }];
  // Each round halves the side; it stops before there are too many.
  while (squares.every(({ side }) => side > 1)) {
    const finer = squares
      .flatMap(quarters)
      .filter((square) => boxes.some((box) => meet(box, square)));
    if (finer.length > RUNS_MAX) break;
    squares = finer;
  }
  return joined(squares.map(runOf));
}

interface Square {
  readonly column: number;
  readonly row: number;
  readonly side: number;
}
interface Box {
  readonly columns: readonly [number, number];
  readonly rows: readonly [number, number];
}

/** None where the circle reaches around a pole or too far to be worth the while. */
function boxesAround([longitude, latitude]: Place, radians: number): readonly Box[] {
  const degrees = (radians * 180) / Math.PI;
  const [south, north] = [latitude - degrees, latitude + degrees];
  if (!(degrees < 60) || south <= -90 || north >= 90) return [];
  const half = Math.asin(Math.min(1, Math.sin(radians) / Math.cos((latitude * Math.PI) / 180)));
  const [west, east] = [-1, 1].map((side) => longitude + (side * half * 180) / Math.PI) as [
    number,
    number,
  ];
  const rows = [rowOf(south), rowOf(north)] as const;
  const box = (from: number, to: number): Box => ({
    columns: [columnOf(from), columnOf(to)],
    rows,
  });
  if (west < -180) return [box(west + 360, 180), box(-180, east)];
  return east > 180 ? [box(west, 180), box(-180, east - 360)] : [box(west, east)];
}

function meet({ columns, rows }: Box, { column, row, side }: Square): boolean {
  const isBeside = columns[1] < column || columns[0] >= column + side;
  return !isBeside && rows[1] >= row && rows[0] < row + side;
}

function quarters({ column, row, side }: Square): readonly Square[] {
  const half = side / 2;
  return [0, 1, 2, 3].map((number) => ({
    column: column + (number >> 1) * half,
    row: row + (number & 1) * half,
    side: half,
  }));
}

function runOf({ column, row, side }: Square): CellRun {
  const first = interleave(column, row);
  return [first, first + side * side - 1];
}

function joined(runs: readonly CellRun[]): readonly CellRun[] {
  const all: [number, number][] = [];
  for (const [first, last] of [...runs].sort(([a], [b]) => a - b)) {
    const before = all.at(-1);
    if (before && before[1] + 1 === first) before[1] = last;
    else all.push([first, last]);
  }
  return all;
}

/** Rounded outwards by a cell at most, as both places and circles are rounded alike. */
function columnOf(longitude: number): number {
  return within(Math.floor(((longitude + 180) / 360) * SIDE));
}

function rowOf(latitude: number): number {
  return within(Math.floor(((latitude + 90) / 180) * SIDE));
}

function within(cell: number): number {
  return Math.max(0, Math.min(SIDE - 1, cell));
}

function interleave(column: number, row: number): number {
  return spread(column) * 2 + spread(row);
}

/** Puts an empty bit before each of sixteen. */
function spread(bits: number): number {
  let wide = bits;
  wide = (wide | (wide << 8)) & 0x00ff00ff;
  wide = (wide | (wide << 4)) & 0x0f0f0f0f;
  wide = (wide | (wide << 2)) & 0x33333333;
  return (wide | (wide << 1)) & 0x55555555;
}
