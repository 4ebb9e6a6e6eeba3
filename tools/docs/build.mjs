/**
 * `npm run docs`: builds the site into tools/docs/.output. With `-- --open` it then serves the site on a local port, without
 * the internet. `--api` makes only the API reference, as Markdown.
 */
import { existsSync } from 'node:fs';
import { copyFile, cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { faultsOfSite } from './check-output.mjs';
import { copyPages } from './pages.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '../..');
const pages = join(here, '.pages');
const inHere = execa({ cwd: here, preferLocal: true, localDir: here, stdout: 'inherit', stderr: 'inherit' });

await install();
await rm(pages, { recursive: true, force: true });
await mkdir(pages, { recursive: true });
await inHere`typedoc`;
if (!process.argv.includes('--api')) await buildSite();
if (process.argv.includes('--open')) await inHere`vitepress preview .pages`;

/** The tools have a package of their own, so that `npm ci` of the project stays small. */
async function install() {
  const isInstalled = existsSync(join(here, 'node_modules/.package-lock.json'));
  if (!isInstalled) await inHere`npm ci --no-audit --no-fund --loglevel=error`;
}

async function buildSite() {
  await copyPages(root, pages);
  await copyFile(join(here, 'home.md'), join(pages, 'index.md'));
  await cp(join(here, 'site'), pages, { recursive: true });
  await inHere`vitepress build .pages`;
  const faults = await faultsOfSite(join(here, '.output'));
  if (faults.length > 0) throw new Error(`The site has faults:\n${faults.join('\n')}`);
}
