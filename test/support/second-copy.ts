import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Evaluates modules of lib once more, as a bundler would put them into an application: CommonJS with short names of classes. */
export function secondCopyOf<M>(...modules: readonly string[]): M {
  const contents = modules.map((module) => `export * from './lib/${module}';`).join('\n');
  const { outputFiles } = buildSync({
    stdin: { contents, resolveDir: ROOT },
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'cjs',
    packages: 'external',
    write: false,
  });
  const module = { exports: {} };
  const evaluate = new Function('module', 'exports', 'require', outputFiles[0]!.text);
  evaluate(module, module.exports, createRequire(import.meta.url));
  return module.exports as M;
}
