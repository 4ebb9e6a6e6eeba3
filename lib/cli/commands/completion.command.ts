import { Argument, Command } from 'commander';
import { bashScript } from '../completion/bash.js';
import { commandTree } from '../completion/command-tree.js';
import type { Runner } from '../session/session.js';

/** @param root returns the whole program, because its commands and options are to be completed */
export function completionCommand(runner: Runner, root: () => Command): Command {
  return new Command('completion')
    .description('print a script with which a shell completes commands and options')
    .addArgument(new Argument('<shell>', 'name of the shell').choices(['bash']))
    .action(
      runner.action<object, [string]>(async (session, _, shell) => {
        session.output.result({ shell, script: bashScript(commandTree(root())) }, ({ script }) => script);
      }),
    );
}
