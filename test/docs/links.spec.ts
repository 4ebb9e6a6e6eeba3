import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CONTRIBUTORS_PAGES, ROOT, pages } from './snippets.js';

const { homepage, repository, files } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
const PROJECT = String(homepage).replace(/#.*/, '');
const FILES = [`${PROJECT}/blob/main/`, `${PROJECT.replace('github.com', 'raw.githubusercontent.com')}/main/`];

interface Link {
  readonly target: string;
  readonly anchor?: string | undefined;
}

function linksOf(page: string): Link[] {
  const text = readFileSync(ROOT + page, 'utf8').replace(/^```[\s\S]*?^```$/gm, '');
  const found = text.matchAll(/\]\((?<link>[^)\s]+)\)|src(?:set)?="(?<source>[^"]+)"/g);
  return [...found].map(({ groups }) => {
    const [target = '', anchor] = (groups!['link'] ?? groups!['source']!).split('#');
    return { target, anchor };
  });
}

/** The file of this project that a link leads to; undefined: it leads elsewhere. */
function fileOf(page: string, target: string): string | undefined {
  const base = FILES.find((each) => target.startsWith(each));
  if (base) return target.slice(base.length);
  if (target === '') return page;
  return /^[a-z]+:/.test(target) ? undefined : join(dirname(page), target);
}

/** Whether a file of docs is in the package, by `files` of package.json. */
function isPacked(file: string): boolean {
  const patterns = files as string[];
  const isNamed = patterns.some((pattern) =>
    pattern === 'docs/*.md' ? /^docs\/[^/]+\.md$/.test(file) : pattern === file,
  );
  return isNamed && !patterns.includes(`!${file}`);
}

/** As GitHub makes them of headings. */
function anchorsOf(page: string): string[] {
  return [...readFileSync(ROOT + page, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('the links of README and docs', () => {
  it('of the README are absolute, because npm shows it, too', () => {
    const relative = linksOf('README.md').filter(({ target }) => target !== '' && !target.startsWith('https:'));
    expect(relative).toEqual([]);
    expect(repository.url).toBe(`git+${PROJECT}.git`);
  });

  it.each(pages().filter(isPacked))('of %s, which is packed, lead to packed files or are absolute', (page) => {
    const elsewhere = linksOf(page).filter(
      ({ target }) => !/^[a-z]+:/.test(target) && !isPacked(fileOf(page, target)!),
    );
    expect(elsewhere).toEqual([]);
  });

  it.each([...pages(), ...CONTRIBUTORS_PAGES])('of %s lead to files and headings that exist', (page) => {
    const dead = linksOf(page).filter(({ target, anchor }) => {
      const file = fileOf(page, target);
      if (file === undefined) return false;
      return !existsSync(ROOT + file) || (anchor !== undefined && !anchorsOf(file).includes(anchor));
    });
    expect(dead).toEqual([]);
  });
});

it('No report of tests is packed', () => {
  const reports = readdirSync(`${ROOT}docs`).filter((name) =>
    /^(comparison|compatibility|fault-report)\.md$/.test(name),
  );
  expect(reports).toHaveLength(3);
  expect(reports.filter((name) => isPacked(`docs/${name}`))).toEqual([]);
});
