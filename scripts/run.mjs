// Installs what is missing, builds what is stale, then runs the task: start, test, fuzz, check,
// format, bench or build.
// Plain JavaScript without imports from npm, because on a fresh clone nothing else exists yet.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [task = 'start', ...rest] = process.argv.slice(2);
const TEST_PROCESSES_MAX = 2;
/** How many times longer the tests of random input run than among all tests. */
const FUZZ_SCALE = 20;

const tasks = {
  start: () => startServer(),
  build: () => 0,
  test: () => node(['--test', `--test-concurrency=${TEST_PROCESSES_MAX}`, ...testFiles()]),
  fuzz: () => {
    process.env.FUZZ_SCALE ??= String(FUZZ_SCALE);
    rest.push('fuzz');
    return node(['--test', '--test-concurrency=1', ...testFiles()]);
  },
  check: () =>
    tool('biome', ['check', '--error-on-warnings']) || node([join('dist', 'scripts', 'tidy.js')]),
  format: () => tool('biome', ['check', '--write']),
  bench: () => bench(),
};

if (!(task in tasks)) fail(`unknown task '${task}'; known: ${Object.keys(tasks).join(', ')}`);
installIfMissing(root);
buildIfStale();
const code = await tasks[task]();
if (typeof code === 'number') process.exitCode = code;

/** npm writes node_modules/.package-lock.json last: its age tells if the install is current. */
function installIfMissing(folder) {
  const installed = modifiedAt(join(folder, 'node_modules', '.package-lock.json'));
  if (installed >= modifiedAt(join(folder, 'package-lock.json'))) return;
  say(`installing dependencies in ${folder === root ? 'the project' : folder} ...`);
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const shell = process.platform === 'win32';
  const done = spawnSync(npm, ['ci', '--no-audit', '--no-fund'], {
    cwd: folder,
    shell,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (done.status !== 0) fail('npm ci failed; see the message above');
}

function buildIfStale() {
  const stamp = join(root, 'dist', '.built');
  const newest = Math.max(
    ...['src', 'test', 'scripts'].map((folder) => newestIn(join(root, folder))),
    modifiedAt(join(root, 'tsconfig.json')),
    modifiedAt(join(root, 'package-lock.json')),
  );
  if (modifiedAt(stamp) > newest) return;
  say('building ...');
  const failed = tool('tsc', ['--build', 'tsconfig.json']);
  if (failed) fail('the build failed; see the messages above');
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, '');
}

/**
 * In this very process, so that Ctrl-C reaches the server once and a start costs no second Node.
 */
async function startServer() {
  const command = join(root, 'dist', 'src', 'cli', 'mayfly.js');
  process.setSourceMapsEnabled(true);
  process.argv = [process.execPath, command, 'start', ...rest];
  await import(pathToFileURL(command).href);
}

function bench() {
  installIfMissing(join(root, 'test', 'bench'));
  return node([join('dist', 'test', 'bench', 'bench.js'), ...rest]);
}

/** `npm test -- purger crash` runs only the test files whose path holds one of the words. */
function testFiles() {
  const all = walk(join(root, 'dist')).filter((file) => file.endsWith('.test.js'));
  const wanted = all.filter((file) => existsSync(sourceOf(file)));
  const chosen = rest.length ? wanted.filter((f) => rest.some((word) => f.includes(word))) : wanted;
  if (chosen.length === 0) fail(`no test file matches ${rest.join(' ') || 'anything'}`);
  return chosen.sort();
}

/** A test whose source was deleted leaves its compiled file behind; it must not run. */
function sourceOf(compiled) {
  return compiled.replace(join(root, 'dist'), root).replace(/\.js$/, '.ts');
}

function tool(name, args) {
  const bin = join(
    root,
    'node_modules',
    '.bin',
    process.platform === 'win32' ? `${name}.cmd` : name,
  );
  const shell = process.platform === 'win32';
  return spawnSync(bin, args, { cwd: root, stdio: 'inherit', shell }).status ?? 1;
}

function node(args) {
  const flags = ['--enable-source-maps'];
  return (
    spawnSync(process.execPath, [...flags, ...args], { cwd: root, stdio: 'inherit' }).status ?? 1
  );
}

function walk(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === 'node_modules') return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? walk(path) : [path];
  });
}

function newestIn(folder) {
  return existsSync(folder) ? Math.max(0, ...walk(folder).map(modifiedAt)) : 0;
}

function modifiedAt(path) {
  return existsSync(path) ? statSync(path).mtimeMs : 0;
}

function say(text) {
  process.stderr.write(`mayfly: ${text}\n`);
}

function fail(text) {
  say(text);
  process.exit(1);
}
