/**
 * Runs what needs servers, browsers, processes, long simulations or packages, stage by stage.
 *
 *   npm run verify                            all stages
 *   npm run verify -- servers page            these stages
 *   npm run verify -- servers redis-doubt     the specs of a stage whose path matches
 */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { ROOT } from './compile.mjs';

/** Commands of each stage; those of `build` run before, once. Commands in one list run side by side. */
const STAGES = {
  servers: { build: [], commands: async () => [specs('servers'), await onFastify()] },
  page: { build: ['build'], commands: async () => [specs('page')] },
  // Four processes whose leases and delays are compared with limits: beside other specs they measure how those starve them.
  processes: { build: ['build'], commands: async () => [specs('processes', ALONE), only('processes', ALONE)] },
  // Both have long files at their ends, which leave a core idle alone.
  proof: { build: [], commands: async () => [[specs('proof'), await moreRuns()]] },
  package: {
    build: ['build'],
    commands: async () => [
      specs('package'),
      // They wait for npm's registry half of the time, and measure nothing.
      [
        { words: ['node', 'tools/pack-check/run.mjs'] },
        { words: ['node', 'verification/package/compatibility/run.mjs', '--representative'] },
        { words: ['npm', 'run', 'test:clients'] },
      ],
    ],
  },
};

/**
 * More than the cores that the tests are meant for: these specs wait for processes most of the time. Those of
 * `processes` and `page` keep both cores busier, and look at times.
 */
const WORKERS = { servers: '4', page: '3', processes: '3', proof: '3', package: '3' };

/** Path of the specs that run alone. */
const ALONE = '/processes/(due/|faults/(faults|deaths)|sample/embedded)';

const named = process.argv.slice(2).filter((word) => word in STAGES);
const patterns = process.argv.slice(2).filter((word) => !(word in STAGES));
const stages = named.length > 0 ? named : Object.keys(STAGES);
if (patterns.length > 0 && named.length !== 1) {
  console.error(`verify: ${patterns.join(' ')} is no stage; there are: ${Object.keys(STAGES).join(', ')}`);
  process.exit(2);
}

const figures = [];
const built = new Set();
const total = { passed: 0, failed: 0, skipped: 0 };
for (const name of stages) figures.push(await runStage(name));
for (const line of figures.flat()) console.log(line);
console.log(`${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}`);
process.exitCode = total.failed > 0 ? 1 : 0;

/** @returns the lines about the stage for the end of the output */
async function runStage(name) {
  const began = performance.now();
  const { build, commands } = STAGES[name];
  const lines = [];
  for (const script of build.filter((each) => !built.has(each))) {
    built.add(script);
    await run({ words: ['npm', 'run', script] });
  }
  const all = await commands();
  for (const step of patterns.length > 0 ? [all.flat()[0]] : all) {
    const together = [step].flat();
    lines.push(...(await Promise.all(together.map((command) => run(command, together.length > 1)))).flat());
  }
  return [`stage ${name}: ${Math.round((performance.now() - began) / 1000)} s`, ...lines.map((line) => `  ${line}`)];
}

/**
 * Runs a command, adds its tests to the total, and returns its lines about tests that were skipped or failed.
 *
 * @param isBeside whether another one runs beside it: then its output comes at its end, in one piece
 */
async function run({ words: [program, ...args], env }, isBeside = false) {
  const command = [program, ...args].join(' ');
  const title = `\n> ${command}`;
  if (!isBeside) console.log(title);
  const child = execa(program, args, { cwd: ROOT, env, stdin: 'ignore', all: true, reject: false, preferLocal: true });
  if (!isBeside) child.all.pipe(process.stdout, { end: false });
  const { all, exitCode } = await child;
  if (isBeside) console.log(`${title}\n${all}`);
  const counts = [...all.matchAll(/^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/gm)].at(-1);
  const [passed, failed, skipped] = counts ? counts.slice(1).map((count) => Number(count ?? 0)) : [0, 0, 0];
  total.passed += passed;
  total.skipped += skipped;
  total.failed += exitCode === 0 ? failed : Math.max(failed, 1);
  const told = all.split('\n').filter((line) => /^(skipped \d+ tests|failed: )/.test(line));
  return exitCode === 0 || told.length > 0 ? told : [`failed: ${command}`];
}

/** @param alone path of specs that run by themselves. If specs are named, the named ones run together */
function specs(stage, alone) {
  const without = alone && patterns.length === 0 ? [`--testPathIgnorePatterns=${alone}`] : [];
  return {
    words: ['jest', '--roots', `verification/${stage}`, '--maxWorkers', WORKERS[stage], ...without, '--', ...patterns],
  };
}

function only(stage, path) {
  return { words: ['jest', '--roots', `verification/${stage}`, '--maxWorkers', '1', '--', path] };
}

/** The suites of the console once more: `npm test` runs them on Express. */
async function onFastify() {
  return {
    words: ['jest', '--runTestsByPath', ...(await specsWith(/\bPLATFORMS\b/, 'test/console'))],
    env: { CONSOLE_PLATFORM: 'Fastify' },
  };
}

/** Properties and small simulations once more: `npm test` tries few cases. */
async function moreRuns() {
  const files = await specsWith(/\bruns\(\d/, 'test');
  return { words: ['jest', '--maxWorkers', '2', '--runTestsByPath', ...files], env: { RUNS: '10' } };
}

/** Specs in a folder whose text matches. */
async function specsWith(pattern, folder) {
  const entries = await readdir(join(ROOT, folder), { recursive: true });
  const files = entries.filter((file) => file.endsWith('.spec.ts')).map((file) => join(folder, file));
  const texts = await Promise.all(files.map((file) => readFile(join(ROOT, file), 'utf8')));
  return files.filter((_, index) => pattern.test(texts[index]));
}
