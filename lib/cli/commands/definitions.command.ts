import { Command } from 'commander';
import type { DefinitionEdit } from '../../gatekeeper/index.js';
import { UsageFailure } from '../options/exit-code.js';
import { type ChangeMeta, OPERATIONS } from '../operator/operator.js';
import {
  readName,
  readPattern,
  readSpan,
  reasonOption,
  revisionOption,
  wholeNumber,
} from '../options/option-readers.js';
import type { Runner } from '../session/session.js';
import { definitionText } from '../views/definition.view.js';

interface Fields {
  readonly permits?: number;
  readonly duration?: number;
  readonly group?: string;
  readonly acquirer?: string;
}

const NOTHING_TO_EDIT = 'no change is given: add --permits, --duration, --group or --acquirer';

export function defineCommand(runner: Runner): Command {
  return withFields(new Command('define'))
    .description('define a semaphore that no code declares')
    .argument('<name>', 'name of the semaphore', readName)
    .requiredOption('--duration <duration>', 'how long a permit lasts: 30s, 10m', readSpan)
    .addOption(reasonOption())
    .action(
      runner.action<Fields & { duration: number; reason?: string }, [string]>(async (session, options, name) => {
        const { duration, reason } = options;
        const body = { name, ...fieldsOf(options), duration, reason };
        const state = await session.operate((operator) => operator.call(OPERATIONS.define, { body }));
        session.output.result(state, definitionText);
      }),
    );
}

export function editCommand(runner: Runner): Command {
  return withFields(new Command('edit'))
    .description('change the definition in force; held permits stay')
    .argument('<name>', 'name of the semaphore', readName)
    .option('--duration <duration>', 'how long a permit lasts: 30s, 10m', readSpan)
    .addOption(revisionOption())
    .addOption(reasonOption())
    .action(
      runner.action<Fields & ChangeMeta, [string]>(async (session, options, name) => {
        const { expectedRevision, reason } = options;
        const changes = fieldsOf(options);
        if (Object.keys(changes).length === 0) throw new UsageFailure(NOTHING_TO_EDIT);
        const body = { ...changes, expectedRevision, reason };
        const state = await session.operate((operator) => operator.call(OPERATIONS.edit, { params: { name }, body }));
        session.output.result(state, definitionText);
      }),
    );
}

function withFields(command: Command): Command {
  return command
    .option('--permits <n>', 'how many permits may be held at once; 0: none is granted', wholeNumber(0))
    .option('--group <pattern>', "RE2; must match a node's whole group", readPattern)
    .option('--acquirer <pattern>', "RE2; must match a node's whole name", readPattern);
}

function fieldsOf({ permits, duration, group, acquirer }: Fields): DefinitionEdit {
  return {
    ...(permits !== undefined && { permits }),
    ...(duration !== undefined && { duration }),
    ...(group !== undefined && { groupPattern: group }),
    ...(acquirer !== undefined && { acquirerPattern: acquirer }),
  };
}
