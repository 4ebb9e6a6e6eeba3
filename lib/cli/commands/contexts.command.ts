import { Command } from 'commander';
import type { Contexts, NamedContext } from '../options/contexts.js';
import type { Runner } from '../session/session.js';
import { table } from '../text/table.js';
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
  const rows = [...byName].map(([name, context]) => [name === current ? '*' : '', name, targetText(context)]);
  return table(['', 'name', 'target'], rows);
}

function targetText({ url, store }: NamedContext): string {
  const address = url ?? store;
  return address === undefined ? '-' : urlText(address);
}
