import { Argument, Command } from 'commander';
import { bashScript } from '../completion/bash.js';
import { type CommandTree, commandTree } from '../completion/command-tree.js';
import { fishScript } from '../completion/fish.js';
import { zshScript } from '../completion/zsh.js';
import type { Runner } from '../session/session.js';

const SCRIPTS: Readonly<Record<string, (tree: CommandTree) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** @param root returns the whole program, because its commands and options are to be completed */
export function completionCommand(runner: Runner, root: () => Command): Command {
  return new Command('completion')
    .description('print a script with which a shell completes commands and options')
    .addArgument(new Argument('<shell>', 'name of the shell').choices(Object.keys(SCRIPTS)))
    .action(
      runner.action<object, [string]>(async (session, _, shell) => {
        session.output.result({ shell, script: SCRIPTS[shell]!(commandTree(root())) }, ({ script }) => script);
      }),
    );
}
