import { readFileSync, readdirSync } from 'node:fs';
import { markdownOf } from './markdown.js';
import { ROOT } from './source.js';
import { TABLES } from './tables.js';

const BLOCK = /^<!-- generated: (?<name>.+) -->\n[\s\S]*?^<!-- end -->$/gm;

/** A page of docs with generated tables. */
interface GeneratedPage {
  readonly page: string;
  /** Names of its generated tables. */
  readonly tables: readonly string[];
  readonly text: string;
  /** The text with its tables as the code has them now. */
  readonly fresh: string;
}

export function generatedPages(): GeneratedPage[] {
  const names = readdirSync(`${ROOT}docs`).filter((name) => name.endsWith('.md'));
  return names.flatMap((name) => {
    const text = readFileSync(`${ROOT}docs/${name}`, 'utf8');
    const tables = [...text.matchAll(BLOCK)].map(({ groups }) => groups!['name']!);
    if (tables.length === 0) return [];
    return [{ page: `docs/${name}`, tables, text, fresh: text.replaceAll(BLOCK, (_, table) => block(table, name)) }];
  });
}

function block(name: string, page: string): string {
  const table = TABLES[name];
  if (!table) throw new Error(`docs/${page}: tools/docs/tables/tables.ts has no table "${name}"`);
  return `<!-- generated: ${name} -->\n\n${markdownOf(table(), page)}\n\n<!-- end -->`;
}
