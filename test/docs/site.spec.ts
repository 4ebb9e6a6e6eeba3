import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
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

  it('has a title for each page that is written, and an address of its own', () => {
    const written = listed.filter((page) => existsSync(ROOT + navigation.fileOf(page)));
    const titles = written.map((page) => navigation.titleOf(readFileSync(ROOT + navigation.fileOf(page), 'utf8')));
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
