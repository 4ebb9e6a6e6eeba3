/**
 * Packs the package, makes a small application for each row of rows.mjs, and compiles, starts and tests it there.
 *
 *   node verification/package/compatibility/run.mjs                     all rows; writes the table of docs/compatibility.md
 *   node verification/package/compatibility/run.mjs --representative    a few rows, on the Node that runs this
 *   node verification/package/compatibility/run.mjs nest10 …            rows whose names contain one of these
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { nodeBinary } from './nodes.mjs';
import { writeProject } from './project.mjs';
import { summary, writeTable } from './report.mjs';
import { ROWS, RUNTIME_ROWS } from './rows.mjs';
import { commandOf, versionOf as versionOfRuntime } from './runtimes.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
// Outside the project, whose node_modules would stand in for what an application lacks.
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'nestjs-gatekeeper', 'compatibility');
const OWN_NODE = Number(process.versions.node.split('.')[0]);

const names = process.argv.slice(2).filter((argument) => argument !== '--representative');
const isShort = process.argv.includes('--representative');
const ALL = [...ROWS, ...RUNTIME_ROWS];
const rows = ALL.filter(({ name, isRepresentative }) =>
  isShort ? isRepresentative : names.length === 0 || names.some((part) => name.includes(part)),
).map((row) => (isShort ? { ...row, node: OWN_NODE } : row));

const tarball = await pack();
const results = [];
for (const row of rows) {
  const result = await tryRow(row);
  console.log(summary(result));
  results.push(result);
}
if (rows.length === ALL.length) await writeTable(join(root, 'docs/compatibility.md'), results);
process.exitCode = results.every(({ failure }) => !failure) ? 0 : 1;

/** A name with a hash of the content: npm keeps what it installed of a tarball whose name it knows. */
async function pack() {
  await rm(join(cache, 'packed'), { recursive: true, force: true });
  await mkdir(join(cache, 'packed'), { recursive: true });
  const { stdout } = await execa({ cwd: root })`npm pack --json --pack-destination ${join(cache, 'packed')}`;
  const file = join(cache, 'packed', JSON.parse(stdout)[0].filename);
  const hash = createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
    .slice(0, 12);
  const named = file.replace(/\.tgz$/, `-${hash}.tgz`);
  await execa`mv ${file} ${named}`;
  return named;
}

/** @returns the row with what was installed, how long each step took and, if one failed, its name and output */
async function tryRow(row) {
  const folder = join(cache, row.name);
  const result = { ...row, steps: {} };
  try {
    await writeProject(folder, row, tarball);
    const node = await nodeBinary(row.node, join(cache, 'nodes'));
    const env = { PATH: [dirname(node), process.env.PATH].join(delimiter), NODE_OPTIONS: '' };
    const run = execa({ cwd: folder, all: true, env, preferLocal: true, timeout: 300_000 });
    const runtime = row.runtime ? await commandOf(row.runtime, join(cache, 'runtimes')) : ['node'];
    for (const [step, command] of stepsOf(row, runtime)) {
      const begin = performance.now();
      result.step = step;
      await run(command[0], command.slice(1));
      result.steps[step] = performance.now() - begin;
    }
    const version = row.runtime ? await versionOfRuntime(row.runtime, runtime) : undefined;
    result.versions = { ...(await versionsIn(folder, row, node)), ...(version && { node: version }) };
  } catch (error) {
    result.failure = { step: result.step, output: error.all ?? String(error) };
  }
  return result;
}

/** @param runtime the command that runs a script. Test runners are programs for Node, so other runtimes have no test. */
function stepsOf({ runner, module, nest }, runtime) {
  const jest = ['node_modules/jest/bin/jest.js', '--config', 'jest.config.json'];
  // Nest 12's own starter for CommonJS has the flag, too: Jest needs it to require ES modules.
  const flags = module === 'ESM' || nest === 12 ? ['--experimental-vm-modules', '--no-warnings'] : [];
  return [
    ['install', ['npm', 'install', '--no-audit', '--no-fund', '--no-package-lock', '--prefer-offline']],
    ['compile', ['tsc', '-p', '.']],
    ['start', [...runtime, 'out/main.js']],
    ...(runner ? [['test', runner === 'Jest' ? ['node', ...flags, ...jest] : ['vitest', 'run']]] : []),
  ];
}

async function versionsIn(folder, { platform, runner }, node) {
  const versionOf = async (name) =>
    JSON.parse(await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version;
  const { stdout } = await execa`${node} --version`;
  return {
    nest: await versionOf('@nestjs/core'),
    schedule: await versionOf('@nestjs/schedule'),
    terminus: await versionOf('@nestjs/terminus'),
    platform: await versionOf(`@nestjs/platform-${platform.toLowerCase()}`),
    runner: runner && (await versionOf(runner.toLowerCase())),
    typescript: await versionOf('typescript'),
    node: stdout.slice(1),
  };
}
