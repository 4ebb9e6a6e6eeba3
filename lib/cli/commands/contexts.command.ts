import { Command } from 'commander';
import type { Columns } from '../../console/lists/column.js';
import type { Contexts, NamedContext } from '../options/contexts.js';
import type { Runner } from '../session/session.js';
import { cellsOf, table } from '../text/table.js';
import { urlText } from '../../core/decision/index.js';

export function contextsCommand(runner: Runner): Command {
  return new Command('contexts')
    .description('list the clusters that --context can name, without a connection to them')
    .action(
      runner.action(async (session) => {
        const contexts = session.contexts();
        session.output.result(jsonOf(contexts), () => contextsText(contexts));
      }),
    );
}

function jsonOf({ path, current, byName }: Contexts) {
  const contexts = [...byName].map(([name, context]) => ({
    name,
    isCurrent: name === current,
    ...context,
    // It may contain a password.
    ...(context.store !== undefined && { store: urlText(context.store) }),
  }));
  return { file: path, contexts };
}

function contextsText({ path, current, byName }: Contexts): string {
  if (byName.size === 0) return `no contexts in ${path}`;
  const columns: Columns<readonly [name: string, context: NamedContext]> = {
    current: { title: '', value: ([name]) => (name === current ? '*' : '') },
    name: { title: 'Name', value: ([name]) => name },
    target: { title: 'Target', value: ([, context]) => targetText(context) },
  };
  return table(...cellsOf(columns, [...byName]));
}

function targetText({ url, store }: NamedContext): string | undefined {
  const address = url ?? store;
  return address && urlText(address);
}
