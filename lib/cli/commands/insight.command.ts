import { Command } from 'commander';
import { entriesOption, readName } from '../option-readers.js';
import type { Runner } from '../session.js';
import { auditText } from '../views/journals.view.js';
import { nodesText } from '../views/nodes.view.js';

export function nodesCommand(runner: Runner): Command {
  return new Command('nodes').description('show the living nodes and the permits that they hold').action(
    runner.action(async (session) => {
      session.output.result(await session.operate((operator) => operator.nodes()), nodesText);
    }),
  );
}

export function auditCommand(runner: Runner): Command {
  return new Command('audit')
    .description('show the last changes and their authors, newest first')
    .argument('[name]', 'name of the semaphore (default: all)', readName)
    .addOption(entriesOption())
    .action(
      runner.action<{ limit: number }, [string | undefined]>(async (session, { limit }, semaphore) => {
        const entries = await session.operate((operator) => operator.audit({ semaphore, limit }));
        session.output.result({ entries }, (result) => auditText(result.entries));
      }),
    );
}
