import type { CommandNode, CommandTree, OptionNode } from './command-tree.js';

/** A word of a shell that takes nothing in it for its own, for bash and zsh. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Alternatives of a `case` branch; one that matches nothing where there are none. */
export function anyOf(words: readonly string[]): string {
  return words.length > 0 ? words.join('|') : "''";
}

/** All options there are, each once: what stands behind one is its value, whatever command it belongs to. */
export function allOptions({ options, commands }: CommandTree): OptionNode[] {
  const byFlag = new Map(
    [...options, ...commands.flatMap((command) => command.options)].map((each) => [each.flag, each]),
  );
  return [...byFlag.values()];
}

export const flagsOf = (options: readonly OptionNode[]) => options.map(({ flag }) => flag);

/** All options that a command takes: its own and those of all commands. */
export function optionsOf(tree: CommandTree, command: CommandNode): OptionNode[] {
  return allOptions({ ...tree, commands: [command] });
}
