import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './snippets.js';

interface Navigation {
  readonly GROUPS: readonly { readonly title: string; readonly pages: readonly string[] }[];
  addressOf(page: string): string;
  fileOf(page: string): string;
  titleOf(text: string): string | undefined;
}

interface Site {
  readonly project: string;
  readonly addresses: ReadonlyMap<string, string>;
}

type Rewrite = (text: string, file: string, site: Site) => string;

const docs = readdirSync(`${ROOT}docs`)
  .filter((name) => name.endsWith('.md'))
  .map((name) => name.replace('.md', ''));

let navigation: Navigation;
let withLinksOfTheSite: Rewrite;
let listed: string[];

beforeAll(async () => {
  navigation = (await import(`${ROOT}tools/docs/navigation.mjs`)) as Navigation;
  ({ withLinksOfTheSite } = (await import(`${ROOT}tools/docs/pages.mjs`)) as { withLinksOfTheSite: Rewrite });
  listed = navigation.GROUPS.flatMap(({ pages }) => pages);
});

describe("The navigation of the documentation's site", () => {
  it('has every page of docs once: add a new page to tools/docs/navigation.mjs', () => {
    expect(docs.filter((page) => !listed.includes(page))).toEqual([]);
    expect(listed.filter((page, index) => listed.indexOf(page) !== index)).toEqual([]);
  });

  it('has the pages of the project that a user reads', () => {
    expect(listed).toEqual(expect.arrayContaining(['README', 'CHANGELOG', 'CONTRIBUTING']));
  });

  it('has a title for each page, and an address of its own', () => {
    expect(listed.filter((page) => !existsSync(ROOT + navigation.fileOf(page)))).toEqual([]);
    const titles = listed.map((page) => navigation.titleOf(readFileSync(ROOT + navigation.fileOf(page), 'utf8')));
    expect(titles).not.toContain(undefined);
    const addresses = listed.map((page) => navigation.addressOf(page));
    expect(new Set(addresses).size).toBe(listed.length);
  });
});

describe('A link of a page, on the site', () => {
  const project = 'https://github.com/owner/name';
  const site = { project, addresses: new Map([['docs/tasks.md', '/tasks']]) };

  it.each([
    ['[a](tasks.md#schedules)', '[a](/tasks#schedules)'],
    [`[a](${project}/blob/main/docs/tasks.md)`, '[a](/tasks)'],
    ['[a](../examples/http)', `[a](${project}/blob/main/examples/http)`],
    ['<img src="images/one.png" />', '<img src="/images/one.png" />'],
    [
      '<picture>\n<source media="x" srcset="images/d.png" />\n<img src="images/l.png" alt="It" />\n</picture>',
      '<img class="only-dark" src="/images/d.png" alt="It" />\n<img class="only-light" src="/images/l.png" alt="It" />',
    ],
    ['[a](#here)', '[a](#here)'],
    ['[a](https://example.org/x)', '[a](https://example.org/x)'],
    ['```md\n[a](tasks.md)\n```', '```md\n[a](tasks.md)\n```'],
  ])('%s leads to its place there', (written, expected) => {
    expect(withLinksOfTheSite(written, 'docs/stores.md', site)).toBe(expected);
  });
});

describe('The API reference', () => {
  it('has every entry point of the package, and fails for a missing docstring or a dead link', () => {
    const settings = JSON.parse(readFileSync(`${ROOT}tools/docs/typedoc.json`, 'utf8'));
    const { paths } = JSON.parse(readFileSync(`${ROOT}tsconfig.json`, 'utf8')).compilerOptions;
    const { exports } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
    const entries = Object.values<string[]>(paths).map(([file]) => file!.replace('./', '../../'));
    expect([...settings.entryPoints].toSorted()).toEqual(entries.toSorted());
    expect(Object.keys(exports).length - 1).toBe(entries.length);
    expect(settings.treatWarningsAsErrors).toBe(true);
    expect(settings.validation).toMatchObject({ notDocumented: true, invalidLink: true });
  });
});

describe('The check of the built site', () => {
  it('finds links that lead nowhere, and parts from other hosts', async () => {
    const { faultsOfSite } = (await import(`${ROOT}tools/docs/check-output.mjs`)) as {
      faultsOfSite(folder: string): Promise<string[]>;
    };
    const folder = await mkdtemp(join(tmpdir(), 'site-'));
    const links = ['/two#there', '/two#gone', '/three', 'https://example.org'].map((to) => `<a href="${to}">x</a>`);
    await writeFile(join(folder, 'index.html'), `${links.join('')}<img src="https://example.org/x.png">`);
    await writeFile(join(folder, 'two.html'), '<h2 id="there">There</h2><a href="./">x</a>');
    await expect(faultsOfSite(folder)).resolves.toEqual([
      '/index.html: /two#gone: the page has no such heading',
      '/index.html: /three leads nowhere',
      '/index.html: loads https://example.org/x.png',
    ]);
    await rm(folder, { recursive: true });
  });
});
