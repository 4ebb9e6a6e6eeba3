import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';

/**
 * Runtimes besides Node: the npm package that brings each, where its program is there, and its arguments before a
 * script. Their applications are installed and compiled with Node, since npm and tsc are programs for Node.
 */
const RUNTIMES = {
  Bun: { package: 'bun', program: 'node_modules/.bin/bun', flags: [] },
  Deno: { package: 'deno', program: 'node_modules/.bin/deno', flags: ['run', '-A'] },
};

/** The command that runs a script. It is installed once. */
export async function commandOf(runtime, folder) {
  const { package: name, program, flags } = RUNTIMES[runtime];
  const prefix = join(folder, name);
  const path = join(prefix, program);
  if (!existsSync(path)) {
    await mkdir(prefix, { recursive: true });
    await execa`npm install --prefix ${prefix} --no-audit --no-fund ${name}`;
  }
  return [path, ...flags];
}

/** "Bun 1.4.5" */
export async function versionOf(runtime, [program]) {
  const { stdout } = await execa`${program} --version`;
  return `${runtime} ${/\d+(?:\.\d+)+/.exec(stdout)[0]}`;
}
