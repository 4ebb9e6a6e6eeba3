import type { Argument, Command, Option } from 'commander';
import { createProgram } from '../../../lib/cli/program.js';
import { Runner, type Shell } from '../../../lib/cli/session/session.js';
import { type Table, cell, code } from './markdown.js';

const program = createProgram(new Runner({} as Shell), {
  out: () => undefined,
  err: () => undefined,
  isErrTerminal: false,
});
const help = program.createHelp();

/** A row for each command, with the flags of its own options. */
export function commandsTable(): Table {
  const rows = commands().map((command) => [
    code([command.name(), ...command.registeredArguments.map(argumentText)].join(' ')),
    textOf(command.description()),
    optionsOf(command)
      .map(({ flags }) => code(flags))
      .join(', '),
  ]);
  return { head: ['command', '', 'options'], rows };
}

export function globalOptionsTable(): Table {
  return { head: ['option', ''], rows: optionsOf(program).map(optionRow) };
}

export function submissionTable(): Table {
  const prefix = /^for submit: /;
  const options = optionsOf(commands().find((command) => command.name() === 'tasks')!);
  const rows = options.filter(({ description }) => prefix.test(description)).map(optionRow);
  return { head: ['option', 'the task'], rows: rows.map(([flags, text]) => [flags!, text!.replace(prefix, '')]) };
}

function commands(): Command[] {
  return help.visibleCommands(program).filter((command) => command.name() !== 'help');
}

/** Without `--help` and `--version`. */
function optionsOf(command: Command): Option[] {
  return help.visibleOptions(command).filter(({ long }) => long !== '--help' && long !== '--version');
}

function optionRow(option: Option): string[] {
  return [code(option.flags), textOf(help.optionDescription(option))];
}

/** A description with its addresses and options as code. */
function textOf(description: string): string {
  return cell(description.replaceAll(/\b[a-z]+:\/\/\S*[^\s,;]|(?<=^|\s)--[a-z-]+/g, code));
}

function argumentText(argument: Argument): string {
  const { argChoices, required, variadic } = argument;
  const text = argChoices?.join('|') ?? `${argument.name()}${variadic ? '...' : ''}`;
  if (required) return argChoices ? text : `<${text}>`;
  return `[${text}]`;
}
