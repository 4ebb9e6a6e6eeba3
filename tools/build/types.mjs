/**
 * Rolls the declarations up: one file per entry, with chunks for what entries share, so that TypeScript knows one class where
 * there is one. They lie in `dist-cjs`, because CommonJS must not name types of ES modules. Those of `dist` hand them on, so
 * that both kinds of module have the same types.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import ts from 'typescript';
import { COMMONJS, ENTRIES, ES_MODULES, ROOT } from './entries.mjs';
import { withoutSchemas } from './without-schemas.mjs';

const LIB = join(ROOT, 'lib');
const declarations = await mkdtemp(join(tmpdir(), 'declarations-'));
try {
  emit(declarations);
  await rollUp(declarations);
  await handOn();
} finally {
  await rm(declarations, { recursive: true, force: true });
}

/** Writes a declaration file for each source. `npm run typecheck` checks the sources. */
function emit(outDir) {
  const { options, fileNames } = ts.getParsedCommandLineOfConfigFile(
    join(LIB, 'tsconfig.build.json'),
    { outDir },
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: fail },
  );
  const program = ts.createProgram(fileNames, options);
  const { diagnostics } = program.emit(undefined, undefined, undefined, true, {
    afterDeclarations: [withoutSchemas(program.getTypeChecker())],
  });
  if (diagnostics.length > 0) fail(...diagnostics);
}

async function rollUp(folder) {
  const input = Object.entries(ENTRIES).map(([name, source]) => [
    name,
    join(folder, relative(LIB, source).replace(/\.ts$/, '.d.ts')),
  ]);
  const bundle = await rollup({
    input: Object.fromEntries(input),
    external: (id) => /^[a-z@]/.test(id) || id.endsWith('.cjs'),
    plugins: [dts()],
    onLog: noteWarning,
  });
  await bundle.write({
    dir: COMMONJS,
    format: 'es',
    entryFileNames: '[name].d.ts',
    chunkFileNames: ({ name }) => `chunks/${name.replace(/\.d$/, '')}.d.ts`,
    minifyInternalExports: false,
  });
  await bundle.close();
}

function noteWarning(level, { message }) {
  // Types that only parameters for tests of this project have.
  if (message.includes('private shared type exports')) return;
  if (level === 'warn') throw new Error(message);
}

async function handOn() {
  await mkdir(ES_MODULES, { recursive: true });
  for (const name of Object.keys(ENTRIES)) {
    await writeFile(join(ES_MODULES, `${name}.d.ts`), `export * from '../dist-cjs/${name}.js';\n`);
  }
}

function fail(...diagnostics) {
  const host = { getCanonicalFileName: (name) => name, getCurrentDirectory: () => ROOT, getNewLine: () => '\n' };
  throw new Error(ts.formatDiagnostics(diagnostics, host));
}
