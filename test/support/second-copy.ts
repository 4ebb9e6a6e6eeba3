import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type Plugin, build } from 'esbuild';
import { sharedKey } from '../../lib/core/copies/shared.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Another version of the package. */
export interface OtherVersion {
  readonly version: string;
  readonly format: number;
}

/**
 * Evaluates modules of lib once more, as a bundler would put them into an application: CommonJS with short names of classes.
 * After the tests of the file, the process knows nothing of the copy. So call it outside of tests.
 *
 * @param other default: the same version
 */
export async function secondCopyOf<M>(modules: readonly string[], other?: OtherVersion): Promise<M> {
  const contents = modules.map((module) => `export * from './lib/${module}';`).join('\n');
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: ROOT },
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'cjs',
    packages: 'external',
    write: false,
    plugins: other ? [asVersion(other)] : [],
  });
  const former = new Set(known());
  const module = { exports: {} };
  const evaluate = new Function('module', 'exports', 'require', outputFiles[0]!.text);
  evaluate(module, module.exports, createRequire(import.meta.url));
  const added = known().filter((each) => !former.has(each));
  afterAll(() => forget(added));
  return module.exports as M;
}

/** What copies of the package have told each other in this process: versions, and classes of services. */
function known(): unknown[] {
  return [...copies(), ...[...services()].flatMap((classes) => [...classes])];
}

function forget(added: readonly unknown[]): void {
  for (const each of added) {
    for (const classes of services()) classes.delete(each);
    if (copies().includes(each)) copies().splice(copies().indexOf(each), 1);
  }
}

function copies(): unknown[] {
  return Reflect.get(globalThis, Symbol.for('nestjs-gatekeeper: copies'));
}

function services(): Iterable<Set<unknown>> {
  return (Reflect.get(globalThis, sharedKey('services')) as Map<string, Set<unknown>> | undefined)?.values() ?? [];
}

function asVersion({ version, format }: OtherVersion): Plugin {
  return {
    name: 'other version',
    setup({ onLoad }) {
      onLoad({ filter: /lib\/core\/copies\/(version|shared)\.ts$/ }, async ({ path }) => ({
        loader: 'ts',
        contents: (await readFile(path, 'utf8'))
          .replace(/FORMAT = \d+/, `FORMAT = ${format}`)
          .replace(/VERSION = '.+'/, `VERSION = '${version}'`),
      }));
    },
  };
}
