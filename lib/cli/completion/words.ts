import type { CommandNode, CommandTree, OptionNode } from './command-tree.js';

/** Quotes a word for bash and zsh. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The alternatives of a `case` branch. Without words it returns one that never matches. */
export function anyOf(words: readonly string[]): string {
  return words.length > 0 ? words.join('|') : "''";
}

/** All options, each once. An option takes a value in all commands or in none. */
export function allOptions({ options, commands }: CommandTree): OptionNode[] {
  const byFlag = new Map(
    [...options, ...commands.flatMap((command) => command.options)].map((each) => [each.flag, each]),
  );
  return [...byFlag.values()];
}

export const flagsOf = (options: readonly OptionNode[]) => options.map(({ flag }) => flag);

/** All options of a command: its own, and those of every command. */
export function optionsOf(tree: CommandTree, command: CommandNode): OptionNode[] {
  return allOptions({ ...tree, commands: [command] });
}
