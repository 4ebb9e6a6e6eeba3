/**
 * Builds the console's page into dist/console-page.cjs, a module with the texts of its files: the page, and by their names its
 * script, its service worker, one style sheet and one icon. The names carry a hash of what they hold (so that they may be
 * cached for ever). A module, so that the bundler of an application takes them along.
 * Nothing is fetched from another host, and nothing stands inline: the page runs under a strict content security policy.
 *
 * The page makes calls by their ids. It gets a table of their methods and paths, and not the catalogue: that has a schema for each
 * call, so zod and most of the library would become part of the page.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { noticesOf } from './notices.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = join(root, 'lib/console/web');
const target = join(root, 'dist');
const TYPES = { '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml' };

const { metafile, outputFiles } = await bundle();
const assets = outputFiles.map(({ path, text }) => ({ name: basename(path), text }));
const page = { type: 'text/html; charset=utf-8', text: await pageFor(assets.map(({ name }) => name)) };
const files = assets.map(({ name, text }) => [name, { type: TYPES[extname(name)], text }]);
await mkdir(target, { recursive: true });
await writeFile(
  join(target, 'console-page.cjs'),
  `module.exports = ${JSON.stringify({ page, assets: Object.fromEntries(files) }, null, 1)};\n`,
);
await writeFile(join(target, 'console-page.LICENSES.txt'), await noticesOf(root, Object.keys(metafile.inputs)));
for (const { name, text } of assets) console.log(`${name}: ${Math.ceil(text.length / 1024)} kB`);

async function bundle() {
  return build({
    define: { CALLS: JSON.stringify(await callTable()) },
    entryPoints: {
      console: join(sources, 'main.tsx'),
      style: join(sources, 'styles/console.css'),
      icon: join(sources, 'icon.svg'),
    },
    outdir: target,
    write: false,
    entryNames: '[name]-[hash]',
    absWorkingDir: root,
    tsconfig: join(sources, 'tsconfig.json'),
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['es2022'],
    loader: { '.svg': 'copy' },
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
}

/** Method and path of each call by its id. The paths are those below the API's address. */
async function callTable() {
  // Bundled, so that only the files are compiled from which the catalogue comes.
  const outfile = join(root, '.build/console-calls.mjs');
  await build({
    entryPoints: [join(root, 'lib/console/api/routes.ts')],
    outfile,
    absWorkingDir: root,
    tsconfig: join(root, 'tsconfig.json'),
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: ['node20'],
    logLevel: 'warning',
  });
  const catalogue = await import(pathToFileURL(outfile).href);
  const routes = Object.entries({ ...catalogue.ROUTES, ...catalogue.SIGN_IN_ROUTES });
  return Object.fromEntries(routes.map(([id, { method, path }]) => [id, [method, path.replace(/^api\//, '')]]));
}

/** The page, with `{{console.js}}` and the like replaced by the names that carry a hash. */
async function pageFor(names) {
  const template = await readFile(join(sources, 'index.html'), 'utf8');
  return template.replaceAll(/\{\{(\w+)\.(\w+)\}\}/g, (_, name, extension) => {
    const found = names.find((each) => each.startsWith(`${name}-`) && each.endsWith(`.${extension}`));
    if (!found) throw new Error(`nothing was built for ${name}.${extension}, which index.html names`);
    return found;
  });
}
