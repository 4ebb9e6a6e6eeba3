import { readFileSync } from 'node:fs';
import { ROOT } from './source.js';

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The tag with the name of a declaration, and other words for it if it has some: `{@link Role | the roles}`. */
const LINK = /\{@link ([^\s|}]+)(?:\s*\|\s*|\s+)?([^\s}][^}]*)?\}/g;

/** First words of sentences that keep their capital in a cell. */
const NAMES = /^(Nest|Node|Redis|Hazelcast|Java|Maven|Slack)\b/;

/** @param page on which the table stands */
export function markdownOf({ head, rows }: Table, page: string): string {
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(escaped).join(' | ')} |`);
  return withLinks(lines.join('\n'), page);
}

/** In a cell, a bar would begin the next one, even in code. */
const escaped = (text: string): string => text.replaceAll('|', String.raw`\|`);

export const code = (text: string): string => `\`${text}\``;

/** Sentences as they stand in a cell: without the first capital and the last period. */
export function cell(...sentences: readonly (string | undefined)[]): string {
  const text = sentences
    .flatMap(
      (each) =>
        each
          ?.replaceAll(/\s+/g, ' ')
          .trim()
          .replace(/(?<!\.)\.$/, '') || [],
    )
    .join('. ')
    .replaceAll(LINK, (_, target: string, words?: string) => words ?? code(target));
  return withoutCapital(text);
}

function withoutCapital(text: string): string {
  return /^[A-Z][a-z]*(?![A-Za-z])/.test(text) && !NAMES.test(text) ? text[0]!.toLowerCase() + text.slice(1) : text;
}

/**
 * Code names a page of docs by its path, "docs/tasks.md#unique-tasks", which is right in an editor and in the package. On
 * a page this becomes a link.
 */
function withLinks(text: string, page: string): string {
  return text.replaceAll(/\bdocs\/([\w-]+)\.md(#[\w-]+)?/g, (_, name: string, anchor?: string) => {
    const file = `${name}.md` === page ? '' : `${name}.md`;
    return `[${headingOf(name, anchor?.slice(1))}](${file}${anchor ?? ''})`;
  });
}

/** @param anchor as GitHub makes it of a heading; without one, the page's title counts */
function headingOf(page: string, anchor?: string): string {
  const headings = readFileSync(`${ROOT}docs/${page}.md`, 'utf8').matchAll(/^#+ (?<heading>.+)$/gm);
  for (const { groups } of headings) {
    const heading = groups!['heading']!;
    const own = heading.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, '');
    if (anchor === undefined || own.replaceAll(' ', '-') === anchor) return withoutCapital(heading);
  }
  throw new Error(`docs/${page}.md has no heading #${anchor}`);
}
