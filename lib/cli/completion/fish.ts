import type { CommandTree, OptionNode } from './command-tree.js';

/** For `gatekeeper completion fish | source`. */
export function fishScript(tree: CommandTree): string {
  const { name, options, commands } = tree;
  const anyCommand = commands.map((command) => command.name).join(' ');
  return [
    `# fish completion of ${name}: ${name} completion fish | source`,
    `complete -c ${name} -f`,
    ...options.map((option) => line(name, [], option)),
    ...commands.flatMap((command) => [
      `complete -c ${name} -n ${quoted(`not __fish_seen_subcommand_from ${anyCommand}`)} -a ${command.name} -d ${quoted(command.description)}`,
      ...command.options.map((option) => line(name, ['-n', seen(command.name)], option)),
      ...command.choices.map((choice) => `complete -c ${name} -n ${seen(command.name)} -a ${choice}`),
      ...(command.takesFile ? [`complete -c ${name} -n ${seen(command.name)} -F`] : []),
    ]),
  ].join('\n');
}

function line(name: string, when: readonly string[], { flag, description, takesValue, takesFile }: OptionNode): string {
  const value = takesFile ? ['-rF'] : takesValue ? ['-x'] : [];
  const words = ['complete', '-c', name, ...when, '-l', flag.replace(/^-+/, ''), ...value, '-d', quoted(description)];
  return words.join(' ');
}

const seen = (command: string) => quoted(`__fish_seen_subcommand_from ${command}`);

/** Fish knows two escapes between single quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}'`;
}
