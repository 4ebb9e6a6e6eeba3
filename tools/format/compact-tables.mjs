/**
 * A plugin of prettier that writes tables of Markdown without padding. Prettier itself pads each cell to the width of its
 * column: that makes lines of 500 characters, and one longer cell changes every row in a diff.
 */
import { doc } from 'prettier';
import * as markdown from 'prettier/plugins/markdown';

const { hardline, join } = doc.builders;
const RULES = { left: ':--', center: ':-:', right: '--:' };
const { mdast } = markdown.printers;

const rowOf = (cells) => `| ${cells.join(' | ')} |`;

function printTable(path, options, print) {
  const oneLine = { ...options, printWidth: Number.POSITIVE_INFINITY, endOfLine: 'lf' };
  const textOf = () => doc.printer.printDocToString(print(), oneLine).formatted;
  const [head, ...body] = path.map(() => rowOf(path.map(textOf, 'children')), 'children');
  const rule = path.node.align.map((align) => RULES[align] ?? '---');
  return join(hardline, [head, rowOf(rule), ...body]);
}

// Prettier takes the printer of the plugin that has the parser.
export const { parsers } = markdown;

export const printers = {
  mdast: {
    ...mdast,
    print: (path, options, print, ...rest) =>
      path.node.type === 'table' ? printTable(path, options, print) : mdast.print(path, options, print, ...rest),
  },
};
