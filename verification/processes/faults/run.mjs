/**
 * Runs the command in cli.ts from a copy of the sources: they may be edited while it runs,
 * and all the processes that it starts have the same code.
 */
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

/** Other folders are linked: they change rarely, or have the Hazelcast jars that were loaded before. */
const COPIED = new Set(['lib', 'test', 'verification', 'tools']);
const root = fileURLToPath(new URL('../../..', import.meta.url));
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
  const program = [
    join(copy, 'tools/test/run.mjs'),
    join(copy, 'verification/processes/faults/cli.ts'),
    ...process.argv.slice(2),
  ];
  const { exitCode } = await execa(process.execPath, program, { cwd: copy, stdio: 'inherit', reject: false });
  process.exitCode = exitCode;
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await rm(copy, { recursive: true });
}
