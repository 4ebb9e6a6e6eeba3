/**
 * Builds dist-cjs, the same package as CommonJS: for Jest in CommonJS applications, whose runtime can't `require` ES
 * modules. It is no folder of dist, so that both builds lie equally deep below the package's root.
 */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

const root = fileURLToPath(new URL('../..', import.meta.url));
const target = join(root, 'dist-cjs');

await rm(target, { recursive: true, force: true });
await execa({ cwd: root, preferLocal: true, stdio: 'inherit' })`tsc -p lib/tsconfig.cjs.json`;
await writeFile(join(target, 'package.json'), `${JSON.stringify({ type: 'commonjs' })}\n`);
