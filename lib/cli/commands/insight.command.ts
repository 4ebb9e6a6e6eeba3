import { Command } from 'commander';
import { limitOption } from '../option-readers.js';
import type { Runner } from '../session.js';
import { auditText, historyText } from '../views/journals.view.js';
import { nodesText } from '../views/nodes.view.js';

export function nodesCommand(runner: Runner): Command {
  return new Command('nodes').description('show the nodes that live, and what they hold').action(
    runner.action(async (session) => {
      session.output.result(await session.operate((operator) => operator.nodes()), nodesText);
    }),
  );
}

export function historyCommand(runner: Runner): Command {
  return new Command('history')
    .description('show the last runs, and what was skipped, the newest first')
    .argument('[name]', 'of the semaphore; all of them unless given')
    .addOption(limitOption())
    .action(
      runner.action<{ limit: number }, [string | undefined]>(async (session, { limit }, semaphore) => {
        const entries = await session.operate((operator) => operator.history({ semaphore, limit }));
        session.output.result({ entries }, (result) => historyText(result.entries));
      }),
    );
}

export function auditCommand(runner: Runner): Command {
  return new Command('audit')
    .description('show who changed what, the newest first')
    .argument('[name]', 'of the semaphore; all of them unless given')
    .addOption(limitOption())
    .action(
      runner.action<{ limit: number }, [string | undefined]>(async (session, { limit }, semaphore) => {
        const entries = await session.operate((operator) => operator.audit({ semaphore, limit }));
        session.output.result({ entries }, (result) => auditText(result.entries));
      }),
    );
}
