/**
 * Runs the command in cli.ts from a copy of the sources and of the build: they may be edited and built while it runs,
 * and all the processes that it starts have the same code.
 */
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { register } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

register('../simulation/typescript-loader.mjs', import.meta.url);
/** Other folders are linked: they change rarely, or have the Hazelcast jars that were loaded before. */
const COPIED = new Set(['lib', 'dist', 'test']);
const root = fileURLToPath(new URL('../..', import.meta.url));
// Jest and the linters ignore it there, and packages are found from it.
const copies = join(root, 'node_modules/.cache/gatekeeper-faults');
await mkdir(copies, { recursive: true });
const copy = await mkdtemp(join(copies, 'run-'));
try {
  for (const part of await readdir(root, { withFileTypes: true })) {
    if (part.name === 'node_modules' || part.name.startsWith('.')) continue;
    const [from, to] = [join(root, part.name), join(copy, part.name)];
    if (part.isFile() || COPIED.has(part.name)) await cp(from, to, { recursive: true });
    else await symlink(from, to);
  }
  const { main } = await import(pathToFileURL(join(copy, 'test/faults/cli.ts')).href);
  process.exitCode = await main(process.argv.slice(2), console.log);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await rm(copy, { recursive: true });
}
