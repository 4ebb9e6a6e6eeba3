import { Command } from 'commander';
import { NODE_COLUMNS } from '../../console/lists/nodes.js';
import { entriesOption, readName } from '../options/option-readers.js';
import { OPERATIONS } from '../operator/operator.js';
import type { Runner } from '../session/session.js';
import { auditText } from '../views/journals.view.js';
import type { NodeOverview } from '../../gatekeeper/index.js';
import { cellsOf, table } from '../text/table.js';

export function nodesCommand(runner: Runner): Command {
  return new Command('nodes').description('show the living nodes and the permits that they hold').action(
    runner.action(async (session) => {
      const { now, nodes } = await session.operate((operator) => operator.call(OPERATIONS.nodes));
      session.output.result({ now, nodes }, nodesText);
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
        const sent = { query: { semaphore, limit } };
        const { entries } = await session.operate((operator) => operator.call(OPERATIONS.audit, sent));
        session.output.result({ entries }, (result) => auditText(result.entries));
      }),
    );
}

/** Formats the living nodes. @param now cluster time, ms since the epoch */
function nodesText({ now, nodes }: { now: number; nodes: readonly NodeOverview[] }): string {
  return nodes.length > 0 ? table(...cellsOf(NODE_COLUMNS, nodes, now)) : 'no nodes';
}
