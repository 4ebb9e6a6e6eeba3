import type { CommandNode, CommandTree, OptionNode } from './command-tree.js';
import { allOptions, flagsOf } from './words.js';

/** The script for `gatekeeper completion fish | source`. */
export function fishScript(tree: CommandTree): string {
  const { name, options, commands } = tree;
  return [
    `# fish completion of ${name}: ${name} completion fish | source`,
    at(tree),
    `complete -c ${name} -f`,
    ...options.map((option) => line(name, [], option)),
    ...commands.flatMap((command) => linesOf(name, command, flagsOf(options))),
  ].join('\n');
}

/**
 * A function that finds the command on the line. Fish's own __fish_seen_subcommand_from also takes values and arguments
 * for commands.
 */
function at({ name, ...tree }: CommandTree): string {
  const valued = flagsOf(allOptions({ name, ...tree }).filter(({ takesValue }) => takesValue));
  return `function __${name}_at --description 'Whether the line has this command; without an argument: whether it has none'
  set -l words (commandline -opc)
  set -e words[1]
  set -l command ''
  set -l isValue no
  for word in $words
    if test $isValue = yes
      set isValue no
    else if contains -- $word ${valued.join(' ')}
      set isValue yes
    else if contains -- $word ${tree.commands.map((command) => command.name).join(' ')}
      set command $word
      break
    end
  end
  test "$command" = "$argv"
end`;
}

function linesOf(name: string, command: CommandNode, ofAll: readonly string[]): string[] {
  const when = `-n '__${name}_at ${command.name}'`;
  const own = command.options.filter(({ flag }) => !ofAll.includes(flag));
  return [
    `complete -c ${name} -n __${name}_at -a ${command.name} -d ${quoted(command.description)}`,
    ...own.map((option) => line(name, [when], option)),
    ...command.choices.map((choice) => `complete -c ${name} ${when} -a ${choice}`),
    ...(command.takesFile ? [`complete -c ${name} ${when} -F`] : []),
  ];
}

function line(name: string, when: readonly string[], { flag, description, takesValue, takesFile }: OptionNode): string {
  const value = takesFile ? ['-rF'] : takesValue ? ['-x'] : [];
  const words = ['complete', '-c', name, ...when, '-l', flag.replace(/^-+/, ''), ...value, '-d', quoted(description)];
  return words.join(' ');
}

/** Quotes a text for fish, which has two escapes between single quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}'`;
}
