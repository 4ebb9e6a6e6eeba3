/**
 * Bundles the library: `dist` as ES modules, `dist-cjs` as CommonJS, for Jest in CommonJS applications, whose runtime can't
 * `require` ES modules. Within one kind, the entries share chunks, so that no class exists twice. Names of classes are
 * kept, and nothing is minified, so that errors and stack traces stay readable.
 *
 * zod is part of the bundles: it is 100 files, most of them translations, which took a quarter of the time to import the
 * package.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { rolldown } from 'rolldown';
import { noticesOf } from '../console/notices.mjs';
import { COMMAND_LINE, COMMONJS, ENTRIES, ES_MODULES, ROOT, isExternal } from './entries.mjs';

await mkdir(COMMONJS, { recursive: true });
await writeFile(join(COMMONJS, 'package.json'), `${JSON.stringify({ type: 'commonjs' })}\n`);
const [inputs] = await Promise.all([
  bundle({ ...ENTRIES, ...COMMAND_LINE }, { dir: ES_MODULES, format: 'esm' }),
  // `import()` of a chunk becomes `require`, because Jest can't import from a CommonJS module.
  bundle(ENTRIES, { dir: COMMONJS, format: 'cjs', exports: 'named', dynamicImportInCjs: false }),
]);
await writeFile(join(ES_MODULES, 'LICENSES.txt'), await noticesOf(ROOT, inputs));

/** @returns the files that became part of the bundles */
async function bundle(input, options) {
  const build = await rolldown({
    input,
    cwd: ROOT,
    platform: 'node',
    external: isExternal,
    tsconfig: join(ROOT, 'tsconfig.json'),
    transform: { target: 'node20' },
    onLog: failOnWarning,
  });
  const { output: parts } = await build.generate(options);
  const { output } = await build.write({
    ...options,
    chunkFileNames: 'chunks/[name].js',
    codeSplitting: { groups: groupsOf(parts) },
    keepNames: true,
    minify: false,
    minifyInternalExports: false,
    // The sources have the comments. Bundlers of applications need the annotations.
    comments: { legal: true, annotation: true, jsdoc: false },
  });
  await build.close();
  return output.flatMap(({ moduleIds }) => moduleIds.map((id) => relative(ROOT, id)));
}

/**
 * What several entries need lies in a few chunks, in place of one for each set of entries: `base`, what the command line
 * needs, too; `core`, what an application loads in any case. What they load later has chunks of its own.
 *
 * @param chunks of a build without these groups: they tell which modules an entry really needs
 */
function groupsOf(chunks) {
  const byFile = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const loadedWith = (entry) => {
    const files = new Set([`${entry}.js`]);
    for (const file of files) for (const each of byFile.get(file)?.imports ?? []) files.add(each);
    return new Set(
      [...files].filter((file) => !byFile.get(file)?.isEntry).flatMap((file) => byFile.get(file)?.moduleIds ?? []),
    );
  };
  const core = loadedWith('index');
  const base = loadedWith('cli');
  return [
    { name: 'zod', test: /\/node_modules\/zod\// },
    { name: 'base', test: (id) => core.has(id) && base.has(id) },
    { name: 'core', test: (id) => core.has(id) },
  ];
}

function failOnWarning(level, log) {
  if (level === 'warn') throw new Error(log.message);
}
