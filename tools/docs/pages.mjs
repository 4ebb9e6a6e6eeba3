/** Copies the pages of the project into the site's sources, with links that fit the site. */
import { copyFile, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, normalize } from 'node:path';
import { GROUPS, addressOf, fileOf } from './navigation.mjs';

const PAGES = GROUPS.flatMap(({ pages }) => pages);

/** Writes all pages and images into `folder`. */
export async function copyPages(root, folder) {
  const { homepage } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const project = homepage.replace(/#.*/, '');
  const site = { project, addresses: new Map(PAGES.map((page) => [fileOf(page), addressOf(page)])) };
  for (const page of PAGES) {
    const text = await readFile(join(root, fileOf(page)), 'utf8');
    await writeFile(join(folder, `${addressOf(page)}.md`), withLinksOfTheSite(text, fileOf(page), site));
  }
  await copyImages(root, folder);
}

async function copyImages(root, folder) {
  await mkdir(join(folder, 'public/images'), { recursive: true });
  await copyFile(join(root, 'lib/console/web/icon.svg'), join(folder, 'public/icon.svg'));
  for (const image of await readdir(join(root, 'docs/images'))) {
    await copyFile(join(root, 'docs/images', image), join(folder, 'public/images', image));
  }
}

/**
 * Replaces links to files of the project: pages by their addresses, images by their copies, other files by GitHub's pages.
 * Code stays as it is.
 */
export function withLinksOfTheSite(text, file, site) {
  const parts = text.split(/(^```[\s\S]*?^```$)/m);
  return parts.map((part) => (part.startsWith('```') ? part : withLinks(part, file, site))).join('');
}

function withLinks(text, file, site) {
  return withBothPictures(text).replaceAll(
    /(\]\(|src="|srcset=")([^)\s"#]*)(#[^)\s"]*)?/g,
    (_, before, target, anchor = '') => `${before}${addressIn(site, file, target)}${anchor}`,
  );
}

/** On GitHub the system decides between the light and the dark picture, here the switch of the page. */
function withBothPictures(text) {
  return text.replaceAll(
    /<picture>\s*<source [^>]*srcset="([^"]+)"[^>]*>\s*<img src="([^"]+)" alt="([^"]*)"[^>]*>\s*<\/picture>/g,
    '<img class="only-dark" src="$1" alt="$3" />\n<img class="only-light" src="$2" alt="$3" />',
  );
}

function addressIn({ project, addresses }, file, target) {
  const path = pathOf(project, file, target);
  if (path === undefined) return target;
  if (/\.(png|svg)$/.test(path)) return `/images/${basename(path)}`;
  return addresses.get(path) ?? `${project}/blob/main/${path}`;
}

/** The file of the project that a link leads to; undefined: it leads to a heading or to another site. */
function pathOf(project, file, target) {
  for (const base of [`${project}/blob/main/`, `${project.replace('github.com', 'raw.githubusercontent.com')}/main/`]) {
    if (target.startsWith(base)) return target.slice(base.length);
  }
  return target === '' || /^[a-z]+:/.test(target) ? undefined : normalize(join(dirname(file), target));
}
