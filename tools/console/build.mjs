/**
 * Builds the console's page into dist/console/web: its script and its service worker, one style sheet and one icon, whose
 * names carry a hash of what they hold (so that they may be cached for ever), the page that names them, and a manifest for
 * whoever serves them.
 * Nothing is fetched from another host, and nothing stands inline: the page runs under a strict content security policy.
 */
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { noticesOf } from './notices.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = join(root, 'lib/console/web');
const target = join(root, 'dist/console/web');
const TYPES = { '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml' };

await rm(target, { recursive: true, force: true });
const { metafile } = await bundle();
const outputs = Object.keys(metafile.outputs).map((path) => basename(path));
await writeFile(join(target, 'index.html'), await page(outputs));
await writeFile(join(target, 'manifest.json'), JSON.stringify(manifest(outputs), null, 2));
await writeFile(join(target, 'LICENSES.txt'), await noticesOf(root, Object.keys(metafile.inputs)));
for (const name of outputs)
  console.log(`${name}: ${Math.ceil((await stat(join(target, 'assets', name))).size / 1024)} kB`);

function bundle() {
  return build({
    entryPoints: {
      console: join(sources, 'main.tsx'),
      style: join(sources, 'styles/console.css'),
      broker: join(sources, 'tabs/broker.ts'),
      icon: join(sources, 'icon.svg'),
    },
    outdir: join(target, 'assets'),
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

/** The page, with `{{console.js}}` and the like replaced by the names that carry a hash. */
async function page(names) {
  const template = await readFile(join(sources, 'index.html'), 'utf8');
  return template.replaceAll(/\{\{(\w+)\.(\w+)\}\}/g, (_, name, extension) => {
    const found = names.find((each) => each.startsWith(`${name}-`) && each.endsWith(`.${extension}`));
    if (!found) throw new Error(`nothing was built for ${name}.${extension}, which index.html names`);
    return found;
  });
}

function manifest(names) {
  return {
    page: 'index.html',
    assets: Object.fromEntries(names.map((name) => [name, { file: `assets/${name}`, type: TYPES[extname(name)] }])),
  };
}
