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
const all = { ...ENTRIES, ...COMMAND_LINE };
const ungrouped = await bundle(all, (build) => build.generate({ format: 'esm' }));
const groups = groupsOf(ungrouped);
const [chunks] = await Promise.all([
  write(all, { dir: ES_MODULES, format: 'esm' }),
  // `import()` of a chunk becomes `require`, because Jest can't import from a CommonJS module.
  write(ENTRIES, { dir: COMMONJS, format: 'cjs', exports: 'named', dynamicImportInCjs: false }),
]);
const sources = chunks.flatMap(({ moduleIds }) => moduleIds.map((id) => relative(ROOT, id)));
await writeFile(join(ES_MODULES, 'LICENSES.txt'), await noticesOf(ROOT, sources));

function write(input, options) {
  return bundle(input, (build) =>
    build.write({
      ...options,
      chunkFileNames: 'chunks/[name].js',
      codeSplitting: { groups },
      keepNames: true,
      minify: false,
      minifyInternalExports: false,
      // The sources have the comments. Bundlers of applications need the annotations.
      comments: { legal: true, annotation: true, jsdoc: false },
    }),
  );
}

/** @returns the chunks that `make` makes of a build */
async function bundle(input, make) {
  const build = await rolldown({
    input,
    cwd: ROOT,
    platform: 'node',
    external: isExternal,
    tsconfig: join(ROOT, 'tsconfig.json'),
    transform: { target: 'node20' },
    onLog: failOnWarning,
  });
  const { output } = await make(build);
  await build.close();
  return output;
}

/**
 * What several entries need lies in a few chunks, in place of one for each set of entries: `base`, what the command line
 * needs, too; `gatekeeper`, what it loads to connect directly; `nest`, the rest of what an application loads in any case.
 * What an application loads later has chunks of its own: `allocation`, and `tasks`. The command line shares `task-views`
 * with the latter, and the console `task-groups`, too: they don't load the rest of it. Both share the operations,
 * `catalogue`. Without that group, the bundler would name their chunk after one of its files, `allocation`, too.
 *
 * @param chunks of a build without these groups: they tell which modules an entry really needs
 */
function groupsOf(chunks) {
  const byFile = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const shared = ({ isEntry, moduleIds }) => (isEntry ? [] : moduleIds);
  const loadedBy = (entry, next) => {
    const found = new Set([byFile.get(`${entry}.js`)]);
    for (const chunk of found) for (const file of next(chunk)) if (byFile.has(file)) found.add(byFile.get(file));
    return new Set([...found].flatMap(shared));
  };
  const application = loadedBy('index', ({ imports }) => imports);
  const commandLine = loadedBy('cli', ({ imports }) => imports);
  const direct = loadedBy('cli', ({ imports, dynamicImports }) => [...imports, ...dynamicImports]);
  const loadedLater = (source) => {
    const { fileName } = chunks.find(({ facadeModuleId }) => facadeModuleId === join(ROOT, source));
    return loadedBy(fileName.replace(/\.js$/, ''), ({ imports }) => imports);
  };
  const page = loadedLater('lib/console/index.ts');
  const tasks = loadedLater('lib/tasks/engine.ts');
  const allocation = loadedLater('lib/allocation/local-group.ts');
  return [
    { name: 'zod', test: /\/node_modules\/zod\// },
    { name: 'base', test: (id) => application.has(id) && commandLine.has(id) },
    { name: 'gatekeeper', test: (id) => application.has(id) && direct.has(id) },
    { name: 'nest', test: (id) => application.has(id) },
    // In this order: a group takes what its modules need, unless a former one has it.
    { name: 'task-views', test: (id) => tasks.has(id) && commandLine.has(id) },
    { name: 'task-groups', test: (id) => tasks.has(id) && page.has(id) },
    { name: 'tasks', test: (id) => tasks.has(id) },
    { name: 'allocation', test: (id) => allocation.has(id) },
    { name: 'catalogue', test: (id) => page.has(id) && commandLine.has(id) },
  ];
}

function failOnWarning(level, log) {
  if (level === 'warn') throw new Error(log.message);
}
