/**
 * Lists the files of the library with fewer than 60 lines of code that only one other file imports. Most belong in that
 * file. A report: it finds no errors.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { cruise } from 'dependency-cruiser';

const FEWEST = 60;
const { options } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs');
const { output } = await cruise(['lib'], options);
const alone = output.modules.filter(({ source, dependents }) => source.startsWith('lib/') && dependents.length === 1);
const sized = await Promise.all(
  alone.map(async ({ source, dependents: [importer] }) => ({
    source,
    importer,
    lines: linesOfCode(await readFile(source, 'utf8')),
  })),
);
const small = sized.filter(({ lines }) => lines < FEWEST).toSorted((one, other) => one.lines - other.lines);
for (const { source, importer, lines } of small) console.log(`${String(lines).padStart(3)}  ${source}  <- ${importer}`);
console.log(`${small.length} files of fewer than ${FEWEST} lines of code are imported by one file only`);

/** Without comments and blank lines. */
function linesOfCode(text) {
  const lines = text.replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, '').split('\n');
  return lines.filter((line) => line.trim() !== '' && !line.trim().startsWith('//')).length;
}
