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
