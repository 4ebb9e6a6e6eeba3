import { execa } from 'execa';

const TIMES = 5;

/** Prints what an import of the package adds to a process that has loaded Nest. */
const IMPORT = `
  await import('reflect-metadata');
  await import('@nestjs/common');
  await import('@nestjs/core');
  const before = process.cpuUsage();
  await import('nestjs-gatekeeper');
  const { user, system } = process.cpuUsage(before);
  console.log(JSON.stringify({ cpu: (user + system) / 1000, resident: process.memoryUsage().rss / 1e6 }));`;

/** Prints the processor time of a whole process, Node's own start included. */
const COMMAND = `
  const { spawnSync } = await import('node:child_process');
  const { readFileSync } = await import('node:fs');
  spawnSync(process.execPath, process.argv.slice(1));
  const [user, system] = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ').slice(13, 15);
  console.log(JSON.stringify({ cpu: (Number(user) + Number(system)) * 10 }));`;

/**
 * Costs of the package's start, each the median of several processes. They are printed, not asserted: a busy machine
 * takes more of them.
 *
 * @param folder where the package is installed
 * @returns ms of the processor for the import after Nest, MB that are resident then, ms of the processor for a command
 */
export async function startCosts(folder) {
  const imports = await several(() => run(folder, IMPORT));
  const commands = await several(() => run(folder, COMMAND, 'node_modules/nestjs-gatekeeper/dist/cli.js', '--version'));
  return {
    import: median(imports.map(({ cpu }) => cpu)),
    resident: median(imports.map(({ resident }) => resident)),
    command: median(commands.map(({ cpu }) => cpu)),
  };
}

async function run(cwd, program, ...args) {
  const { stdout } = await execa(process.execPath, ['--input-type=module', '--eval', program, ...args], {
    cwd,
    env: { NODE_OPTIONS: '' },
  });
  return JSON.parse(stdout);
}

async function several(measure) {
  const figures = [];
  for (let time = 0; time < TIMES; time++) figures.push(await measure());
  return figures;
}

function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}
