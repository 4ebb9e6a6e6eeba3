import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';

const OWN_NODE = Number(process.versions.node.split('.')[0]);

/** The program of a major of Node: the one that runs this, or else npm's package `node`, installed once. */
export async function nodeBinary(major, folder) {
  if (major === OWN_NODE) return process.execPath;
  const prefix = join(folder, String(major));
  const program = join(prefix, 'node_modules/node/bin/node');
  if (!existsSync(program)) {
    await mkdir(prefix, { recursive: true });
    await execa`npm install --prefix ${prefix} --no-audit --no-fund node@${major}`;
  }
  return program;
}
