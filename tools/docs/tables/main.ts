import { writeFile } from 'node:fs/promises';
import { generatedPages } from './pages.js';
import { ROOT } from './source.js';

/** `npm run docs:tables`: writes the generated tables into the pages of docs. */
export async function main(_args: readonly string[], print: (line: string) => void): Promise<number> {
  const stale = generatedPages().filter(({ text, fresh }) => text !== fresh);
  for (const { page, fresh } of stale) {
    await writeFile(ROOT + page, fresh);
    print(`written: ${page}`);
  }
  return 0;
}
