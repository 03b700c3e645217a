// Where the time went: the functions of a CPU profile with the most time of their own, and the
// files they are in.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { projectFolder } from './packages.js';
import { number, type Report } from './report.js';

const ROWS = 30;
/** Not the program's work: waiting. */
const IDLE = '(idle)';

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
    };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

export function reportProfile(folder: string, name: string, report: Report): void {
  const file = join(resolve(folder), `${name}.cpuprofile`);
  if (!existsSync(file)) return;
  const profile = JSON.parse(readFileSync(file, 'utf8')) as CpuProfile;
  const { functions, files, busyUs } = selfTimes(profile);
  const rows = (times: ReadonlyMap<string, number>) =>
    [...times]
      .sort(([, a], [, b]) => b - a)
      .slice(0, ROWS)
      .map(([what, us]) => [what, number(us / 1000), `${((us / busyUs) * 100).toFixed(1)} %`]);
  const columns = ['own time', 'ms', 'share'];
  report.table({ title: `Profile of '${name}' by function`, columns, rows: rows(functions) });
  report.table({ title: `Profile of '${name}' by file`, columns, rows: rows(files) });
}

function selfTimes({ nodes, samples, timeDeltas }: CpuProfile) {
  const frames = new Map(nodes.map((node) => [node.id, node.callFrame]));
  const functions = new Map<string, number>();
  const files = new Map<string, number>();
  let busyUs = 0;
  samples.forEach((id, index) => {
    const frame = frames.get(id);
    // A sample stands for the time until the next one.
    const us = timeDeltas[index + 1] ?? 0;
    if (!frame || frame.functionName === IDLE) return;
    busyUs += us;
    const file = placeOf(frame.url);
    const line = frame.url === '' ? '' : `:${frame.lineNumber + 1}`;
    const what = `${frame.functionName || '(anonymous)'} ${file}${line}`;
    functions.set(what, (functions.get(what) ?? 0) + us);
    const where = frame.url === '' ? frame.functionName : file;
    files.set(where, (files.get(where) ?? 0) + us);
  });
  return { functions, files, busyUs };
}

function placeOf(url: string): string {
  return url.replace(/^file:\/\//, '').replace(`${projectFolder}/`, '');
}
