import { cell, code, markdownOf } from '../../tools/docs/tables/markdown.js';
import { generatedPages } from '../../tools/docs/tables/pages.js';
import { TABLES } from '../../tools/docs/tables/tables.js';

const pages = generatedPages();

describe('the generated tables of docs', () => {
  it.each(pages)('of $page are as the code has them: else run npm run docs:tables', ({ text, fresh }) => {
    expect(text).toBe(fresh);
  });

  it('stand on one page each', () => {
    expect(pages.flatMap(({ tables }) => tables).toSorted()).toEqual(Object.keys(TABLES).toSorted());
  });
});

describe('a cell of a generated table', () => {
  it.each([
    ['a sentence, without its first capital and last period', cell('Runs a job.'), 'runs a job'],
    ['several sentences', cell('Runs a job.', undefined, 'Takes a name.'), 'runs a job. Takes a name'],
    ['a name that keeps its capital', cell('Redis keeps it.'), 'Redis keeps it'],
    ['a bar in code', code('on|off'), code(String.raw`on\|off`)],
    ['a bar in code of a sentence', cell(`Takes ${code('on|off')}.`), `takes ${code(String.raw`on\|off`)}`],
    ['a bar in plain text', 'true|false', String.raw`true\|false`],
    ['a link', cell('See {@link Role}.'), 'see `Role`'],
    ['a link with words of its own', cell('See {@link Role | the roles}.'), 'see the roles'],
    ['a link whose words follow a space', cell('See {@link Role the roles}.'), 'see the roles'],
    ['a page of docs', cell('See docs/tasks.md#submit.'), 'see [submit](tasks.md#submit)'],
  ])('has %s', (_, text, expected) => {
    const lines = markdownOf({ head: [''], rows: [[text]] }, 'errors.md').split('\n');
    expect(lines.at(-1)).toBe(`| ${expected} |`);
  });
});
