import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderMermaidSVG } from 'beautiful-mermaid';
import { defineConfig } from 'vitepress';
import { GROUPS, addressOf, titleOf } from '../../navigation.mjs';

const pages = fileURLToPath(new URL('..', import.meta.url));
const apiSidebar = JSON.parse(readFileSync(join(pages, 'api/typedoc-sidebar.json'), 'utf8'));
const project = 'https://github.com/nestjs-gatekeeper/nestjs-gatekeeper';

/** As GitHub makes them, so that a link works in both places. */
const slugify = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

function itemOf(page) {
  const file = join(pages, `${addressOf(page)}.md`);
  if (!existsSync(file)) return [];
  const text = page === 'README' ? 'Guide' : titleOf(readFileSync(file, 'utf8'));
  return [{ text, link: addressOf(page) }];
}

const guide = GROUPS.map(({ title, pages: members }) => ({ text: title, items: members.flatMap(itemOf) })).filter(
  ({ items }) => items.length > 0,
);

const DIAGRAM = {
  bg: 'transparent',
  fg: 'var(--vp-c-text-1)',
  line: 'var(--vp-c-text-3)',
  accent: 'var(--vp-c-brand-1)',
  muted: 'var(--vp-c-text-2)',
  surface: 'var(--vp-c-bg-soft)',
  border: 'var(--vp-c-border)',
  font: 'system-ui',
  transparent: true,
};

/** Draws diagrams while the site is built: no script on the page, and no font from another host. */
function drawDiagrams(markdown) {
  const fence = markdown.renderer.rules.fence;
  markdown.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info, content } = tokens[index];
    if (info.trim() !== 'mermaid') return fence(tokens, index, ...rest);
    const svg = renderMermaidSVG(content, DIAGRAM).replaceAll(/@import url\([^)]*\);/g, '');
    // By v-html, because Vue drops a style element that stands in a page.
    return `<div class="diagram" v-html="${attributeOf(JSON.stringify(svg))}"></div>\n`;
  };
}

const attributeOf = (text) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

/** A page explains what an entry of the API reference only names. Runs in the browser: it may use nothing from here. */
const pagesFirst = (id) => (id.startsWith('/api/') ? 0.2 : 1);

export default defineConfig({
  title: 'nestjs-gatekeeper',
  description: 'Runs a NestJS cron method on one node of the cluster',
  lang: 'en',
  cleanUrls: true,
  outDir: '../.output',
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/icon.svg' }]],
  lastUpdated: false,
  markdown: { anchor: { slugify }, config: drawDiagrams, languageAlias: { console: 'sh' } },
  themeConfig: {
    logo: '/icon.svg',
    search: { provider: 'local', options: { miniSearch: { searchOptions: { boostDocument: pagesFirst } } } },
    outline: [2, 3],
    nav: [
      { text: 'Guide', link: '/guide', activeMatch: '^/(?!api/)' },
      { text: 'API', link: '/api/', activeMatch: '^/api/' },
    ],
    sidebar: { '/': guide, '/api/': apiSidebar },
    socialLinks: [{ icon: 'github', link: project }],
    footer: { message: 'MIT licence' },
  },
});
