import { readFileSync, readdirSync } from 'node:fs';
import { CONTRIBUTORS_PAGES, ROOT } from './snippets.js';

const foldersOf = (folder: string): string[] =>
  readdirSync(ROOT + folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

const text = readFileSync(`${ROOT}test/README.md`, 'utf8');

/** Folders that a row of one of the page's tables is about. */
const described = [...text.matchAll(/^\| `test\/([\w-]+)`/gm)].map(([, folder]) => folder!);

/** Folders that are only floors: each of their folders is a part. */
const FLOORS = new Set(['core', 'operate']);
const partsOf = (area: string): string[] =>
  foldersOf(area).flatMap((folder) =>
    FLOORS.has(folder) ? foldersOf(`${area}/${folder}`).map((part) => `${folder}/${part}`) : [folder],
  );

describe('the folders of test', () => {
  it('mirror the folders of lib, or stand in test/README.md', () => {
    const known = new Set([...partsOf('lib'), ...described]);
    expect(partsOf('test').filter((folder) => !known.has(folder))).toEqual([]);
  });

  it('are there, when test/README.md describes them', () => {
    expect(described).not.toEqual([]);
    const folders = foldersOf('test');
    expect(described.filter((folder) => !folders.includes(folder))).toEqual([]);
  });

  it('hold tests of each folder of lib but lib/core/context, which only wires parts together', () => {
    const untested = partsOf('lib').filter((folder) => !partsOf('test').includes(folder));
    expect(untested).toEqual(['core/context']);
  });
});

describe('the commands in the pages for contributors', () => {
  const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { scripts: Record<string, string> };

  it.each(CONTRIBUTORS_PAGES)('of %s are scripts of package.json', (page) => {
    const named = [...readFileSync(ROOT + page, 'utf8').matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name]) => name!);
    expect(named).not.toEqual([]);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});
