/** Checks the built site: every link inside it leads to a page and a heading, and no page loads anything from another host. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * @param folder the built site
 * @returns faults, each with its page
 */
export async function faultsOfSite(folder) {
  const files = await readdir(folder, { recursive: true });
  const pages = new Map();
  for (const file of files.filter((name) => name.endsWith('.html'))) {
    pages.set(`/${file}`, await readFile(join(folder, file), 'utf8'));
  }
  const site = { files: new Set(files.map((name) => `/${name}`)), ids: idsOf(pages) };
  return [...pages].flatMap(([page, html]) => [...deadLinks(page, html, site), ...foreignParts(page, html)]);
}

function idsOf(pages) {
  return new Map(
    [...pages].map(([page, html]) => [page, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
  );
}

function deadLinks(page, html, { files, ids }) {
  const links = [...html.matchAll(/<a\b[^>]* href="([^"]+)"/g)].map(([, link]) => link);
  return links.flatMap((link) => {
    const { origin, pathname, hash } = new URL(link, `http://site${page}`);
    if (origin !== 'http://site') return [];
    const file = fileOf(decodeURI(pathname), files);
    if (file === undefined) return [`${page}: ${link} leads nowhere`];
    const id = decodeURIComponent(hash.slice(1));
    const isThere = id === '' || !ids.has(file) || ids.get(file).has(id);
    return isThere ? [] : [`${page}: ${link}: the page has no such heading`];
  });
}

const fileOf = (path, files) => [path, `${path}.html`, `${path}index.html`].find((name) => files.has(name));

function foreignParts(page, html) {
  const loaded = html.matchAll(
    /<(?:script|img|link|source|iframe)\b[^>]* (?:src|srcset|href)="((?:https?:)?\/\/[^"]+)"/g,
  );
  return [...loaded].map(([, address]) => `${page}: loads ${address}`);
}
