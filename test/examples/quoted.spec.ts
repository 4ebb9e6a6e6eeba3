import { readFile, readdir } from 'node:fs/promises';

const ROOT = new URL('../../', import.meta.url);
const EXAMPLES = 'examples/guarded-resource/';
const QUOTE = /<!-- (\S+) -->\n\n```\w+\n([\s\S]*?)```/g;
const REGION = /\/\/ #region .*\n([\s\S]*?)\/\/ #endregion/;

const read = (path: string) => readFile(new URL(path, ROOT), 'utf8');

/** The part of a file that is quoted: its marked region, or all of it. */
async function quotable(path: string): Promise<string> {
  const source = await read(path);
  return (REGION.exec(source)?.[1] ?? source).trim();
}

describe('docs/guarantees.md', () => {
  it('quotes the examples as they are tested', async () => {
    const section = (await read('docs/guarantees.md')).split('## A guarded resource')[1]!.split(/^## /m)[0]!;
    const quotes = [...section.matchAll(QUOTE)].map(([, path, text]) => ({ path: path!, text: text!.trim() }));
    const sources = await Promise.all(quotes.map(async ({ path }) => ({ path, text: await quotable(path) })));

    expect(quotes).toEqual(sources);
    // No block that stands there without its source.
    expect(quotes).toHaveLength(section.match(/^```\w+/gm)!.length);
  });

  it('quotes each region and each SQL file of the examples', async () => {
    const text = await read('docs/guarantees.md');
    const files = await readdir(new URL(EXAMPLES, ROOT), { recursive: true });
    const paths = files.filter((file) => /\.(ts|sql)$/.test(file)).map((file) => EXAMPLES + file);
    const marked = await Promise.all(paths.map(async (path) => path.endsWith('.sql') || REGION.test(await read(path))));
    const expected = paths.filter((_path, index) => marked[index]);

    expect([...text.matchAll(QUOTE)].map(([, path]) => path).toSorted()).toEqual(expected.toSorted());
  });
});

describe.each([
  ['docs/testing.md', ['examples/testing/', 'verification/package/compatibility/settings/']],
  ['docs/from-shedlock.md', ['examples/from-shedlock/']],
  ['docs/stores.md', ['examples/store/']],
  ['docs/task-examples.md', ['sample-app/src/tasks/']],
])('%s', (page, folders) => {
  it(`quotes each file of ${folders.join(' and ')} as it is tested`, async () => {
    const quotes = [...(await read(page)).matchAll(QUOTE)].map(([, path, text]) => [path!, text!.trim()]);
    const listed = folders.map(async (folder) => (await readdir(new URL(folder, ROOT))).map((file) => folder + file));
    const files = (await Promise.all(listed)).flat();
    const sources = files.map(async (file) => [file, await quotable(file)]);
    expect(Object.fromEntries(quotes)).toEqual(Object.fromEntries(await Promise.all(sources)));
  });
});
