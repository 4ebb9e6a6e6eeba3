import type { Command, Option } from 'commander';

export interface OptionNode {
  /** "--url" */
  readonly flag: string;
  readonly takesValue: boolean;
  /** Whether its value is the path of a file. */
  readonly takesFile: boolean;
}

export interface CommandNode {
  readonly name: string;
  readonly options: readonly OptionNode[];
  /** Possible values of its argument; empty if any value is possible. */
  readonly choices: readonly string[];
  /** Whether its argument is the path of a file. */
  readonly takesFile: boolean;
}

/**
 * Commands and options that can be completed, read from commander.
 *
 * The completion script is generated from this tree, and completes without starting Node. Libraries for completion
 * (checked: tabtab 3.0.2, omelette 0.4.17, @bomb.sh/tab 0.0.22) start the program at each press of Tab.
 */
export interface CommandTree {
  readonly name: string;
  /** Options of all commands. */
  readonly options: readonly OptionNode[];
  readonly commands: readonly CommandNode[];
}

export function commandTree(program: Command): CommandTree {
  const commands = program.createHelp().visibleCommands(program).map(commandNode);
  const names = commands.map(({ name }) => name);
  return {
    name: program.name(),
    options: optionNodes(program),
    commands: commands.map((command) => (command.name === 'help' ? { ...command, choices: names } : command)),
  };
}

function commandNode(command: Command): CommandNode {
  const { registeredArguments } = command;
  return {
    name: command.name(),
    options: optionNodes(command),
    choices: registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    takesFile: registeredArguments.some((argument) => argument.name() === 'file'),
  };
}

function optionNodes(command: Command): OptionNode[] {
  return command.createHelp().visibleOptions(command).map(optionNode);
}

function optionNode(option: Option): OptionNode {
  const { long, short, flags, required, optional } = option;
  const takesValue = required || optional;
  return { flag: long ?? short ?? flags, takesValue, takesFile: flags.includes('<file>') };
}
