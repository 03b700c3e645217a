// Style as a test: the arrows between rooms, where time may be read, and the sizes of files,
// functions and lines.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Which rooms a room may import from: only those to its left. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  value: [],
  time: ['value'],
  engine: ['value', 'time'],
  catalog: ['value', 'time', 'engine'],
  query: ['value', 'time', 'engine'],
  sql: ['value', 'time', 'query'],
  mql: ['value', 'time', 'query'],
  throughput: ['value', 'time', 'engine', 'catalog'],
  documents: ['value', 'time', 'engine', 'catalog', 'query', 'throughput'],
  script: ['value', 'time'],
  http: ['value', 'time'],
  cosmos: [
    ...['value', 'time', 'engine', 'catalog', 'query', 'sql', 'documents', 'throughput', 'http'],
    'script',
  ],
  admin: ['value', 'time', 'engine', 'catalog', 'documents', 'throughput', 'http'],
  mongo: [
    ...['value', 'time', 'engine', 'catalog', 'query', 'mql', 'documents', 'throughput', 'http'],
  ],
  cli: ['time', ''],
};
/** Files directly in src put the rooms together, and may see all of them. */
const ROOT = '';
/** Inside the engine room, implementations do not know each other. */
const ENGINES = ['kv', 'postgres'];

const FILE_LINES_MAX = 500;
const FUNCTION_LINES_MAX = 70;
const COLUMNS_MAX = 100;
const TIME_WORDS =
  /(?<![.\w])(Date\.now\(|new Date\(\)|Math\.random\(|setTimeout\(|setInterval\(|setImmediate\(|performance\.now\()/;

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

interface Finding {
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

function main(): void {
  const files = ['src', 'test', 'scripts'].flatMap((folder) => sourcesIn(join(root, folder)));
  const findings = files.flatMap((path) => {
    const file = relative(root, path).split(sep).join('/');
    return checkFile(file, readFileSync(path, 'utf8'));
  });
  for (const { file, line, what } of findings) process.stderr.write(`${file}:${line} ${what}\n`);
  process.stdout.write(`tidy: ${files.length} files, ${findings.length} findings\n`);
  if (findings.length > 0) process.exitCode = 1;
}

function sourcesIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === 'node_modules') return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sourcesIn(path);
    return /\.(ts|mjs)$/.test(entry.name) ? [path] : [];
  });
}

function checkFile(file: string, text: string): readonly Finding[] {
  const lines = text.split('\n');
  const isTest = /\.(test|suite)\.ts$/.test(file) || file.startsWith('test/');
  const finding = (line: number, what: string): Finding => ({ file, line, what });
  const findings: Finding[] = [];
  if (!/^[a-z0-9]+(-[a-z0-9]+)*(\.(test|suite))?\.(ts|mjs)$/.test(basename(file))) {
    findings.push(finding(1, 'file names are kebab-case'));
  }
  if (!/^(#!.*\n)?\/\/ /.test(text))
    findings.push(finding(1, 'a file opens by saying what it is for'));
  if (lines.length > FILE_LINES_MAX) {
    findings.push(finding(lines.length, `more than ${FILE_LINES_MAX} lines`));
  }
  lines.forEach((line, index) => {
    if (line.length > COLUMNS_MAX && !mayBeLong(line)) {
      findings.push(finding(index + 1, `${line.length} columns, more than ${COLUMNS_MAX}`));
    }
    const room = roomOf(file);
    const mayTellTime = isTest || room === undefined || room === 'time' || file === 'src/main.ts';
    if (!mayTellTime && TIME_WORDS.test(line)) {
      findings.push(finding(index + 1, 'time and chance are only for src/time and src/main.ts'));
    }
    const arrow = wrongArrow(file, line);
    if (arrow) findings.push(finding(index + 1, arrow));
  });
  if (!isTest) findings.push(...longFunctions(lines).map(([line, what]) => finding(line, what)));
  return findings;
}

/** A text that would have to be cut, or a row of a table: longer lines are easier to read then. */
function mayBeLong(line: string): boolean {
  const code = line.trim();
  if (code.startsWith('//') || code.startsWith('*') || code.startsWith('/*')) return false;
  return /['"`/]/.test(code);
}

function roomOf(file: string): string | undefined {
  const [top, room, ...rest] = file.split('/');
  if (top !== 'src') return undefined;
  return rest.length > 0 ? room : ROOT;
}

function wrongArrow(file: string, line: string): string | undefined {
  const target = /\bfrom '(\.{1,2}\/[^']+)'/.exec(line)?.[1];
  const from = roomOf(file);
  if (target === undefined || from === undefined || from === ROOT) return undefined;
  const imported = posix.join(posix.dirname(file), target);
  const to = roomOf(imported);
  if (to === undefined) return `src imports ${imported} from outside`;
  if (to !== from) {
    const allowed = ARROWS[from];
    if (!allowed) return `the room '${from}' is not on the plan in scripts/tidy.ts`;
    return allowed.includes(to) ? undefined : `'${from}' may not import '${to || 'the root'}'`;
  }
  const [own, other] = [file, imported].map((path) => path.split('/')[2] ?? '');
  const strangers = from === 'engine' && own !== other && ENGINES.includes(other ?? '');
  return strangers ? `'${own}' may not import the engine '${other}'` : undefined;
}

/**
 * Functions and methods as the formatter lays them out: the closing brace stands under the first
 * word.
 */
function longFunctions(lines: readonly string[]): readonly (readonly [number, string])[] {
  const found: (readonly [number, string])[] = [];
  lines.forEach((line, start) => {
    const match =
      /^(\s*)(?:export )?(?:async )?function\b/.exec(line) ??
      /^( {2})(?:static |async |get |\*|#)*[\w#]+\(.*\{$/.exec(line);
    if (!match) return;
    const end = lines.indexOf(`${match[1]}}`, start);
    if (end - start + 1 > FUNCTION_LINES_MAX) {
      found.push([
        start + 1,
        `a function of ${end - start + 1} lines, more than ${FUNCTION_LINES_MAX}`,
      ]);
    }
  });
  return found;
}

main();
