import { Command } from 'commander';
import { MIGRATION_COLUMNS } from '../../console/lists/changes.js';
import type { MigrationPlan, MigrationRequest } from '../../gatekeeper/index.js';
import { exactly } from '../../core/decision/index.js';
import { CommandFailure, EXIT, type ExitCode, UsageFailure } from '../options/exit-code.js';
import { OPERATIONS, type Operator } from '../operator/operator.js';
import { readPattern, reasonOption, wholeNumber } from '../options/option-readers.js';
import { BATCH, type Batch, inBatches, tellEach, tellFailures, undoable } from '../session/batches.js';
import type { Runner, Session } from '../session/session.js';
import { cellsOf, excerpt } from '../text/table.js';
import { someOf } from '../../console/lists/texts.js';

interface MigrateOptions {
  readonly names?: string;
  readonly fromGroup?: string;
  readonly toGroup?: string;
  readonly groupPattern?: string;
  readonly acquirerPattern?: string;
  readonly reason?: string;
  readonly yes?: true;
  readonly withoutCandidates?: true;
  readonly batch: number;
}

const NO_TARGET = 'no new pattern is given: add --to-group, --group-pattern or --acquirer-pattern';
const TWO_GROUPS = '--to-group and --group-pattern both set the group pattern: leave one of them out';

export function migrateCommand(runner: Runner): Command {
  return new Command('migrate')
    .description('move definitions to other nodes by their patterns; only shows its plan unless --yes is given')
    .option('--names <pattern>', 'RE2; must match the whole name (default: all)', readPattern)
    .option('--from-group <group>', 'only definitions that match this group now')
    .option('--to-group <group>', 'the new group pattern matches exactly this group')
    .option('--group-pattern <pattern>', 'the new group pattern (RE2)', readPattern)
    .option('--acquirer-pattern <pattern>', 'the new acquirer pattern (RE2)', readPattern)
    .addOption(reasonOption())
    .option('--batch <n>', 'definitions per request', wholeNumber(1), BATCH)
    .option('--yes', 'make the changes')
    .option('--without-candidates', 'with --yes: make them although no living node could run any of these jobs')
    .action(
      runner.action<MigrateOptions, []>(async (session, options) => {
        const request = requestOf(options);
        return session.operate((operator) =>
          options.yes ? migrate(session, operator, request, options) : plan(session, operator, request),
        );
      }),
    );
}

async function plan(session: Session, operator: Operator, request: MigrationRequest): Promise<ExitCode> {
  const { steps, remaining, unreadable } = await operator.call(OPERATIONS.migrate, {
    body: { ...request, dryRun: true },
  });
  session.output.result({ dryRun: true, steps, remaining, unreadable }, planText);
  tellEach(session, unreadable);
  return EXIT.done;
}

async function migrate(
  session: Session,
  operator: Operator,
  request: MigrationRequest,
  { reason, batch, withoutCandidates }: MigrateOptions,
) {
  if (!withoutCandidates) await expectCandidates(operator, request);
  let bulk: string | undefined;
  const call = async (limit: number) => {
    const plan = await operator.call(OPERATIONS.migrate, { body: { ...request, dryRun: false, reason, limit, bulk } });
    ({ bulk } = plan);
    return batchOf(plan);
  };
  const outcome = await inBatches(session, 'migrated', call, batch);
  const { done, failed, remaining } = outcome;
  session.progress.clear();
  session.output.result({ dryRun: false, migrated: done, failed, remaining, ...undoable(done, bulk) }, () =>
    done.length + failed.length + remaining === 0
      ? 'nothing to migrate: all matching semaphores have these patterns'
      : `migrated ${done.length}`,
  );
  return tellFailures(session, outcome);
}

/**
 * A misspelt group matches nothing either, and would stop all of it at once.
 *
 * @throws CommandFailure if no living node could run any of the definitions
 */
async function expectCandidates(operator: Operator, request: MigrationRequest): Promise<void> {
  const { steps } = await operator.call(OPERATIONS.migrate, { body: { ...request, dryRun: true } });
  if (steps.length === 0 || steps.some(({ candidateCount }) => candidateCount > 0)) return;
  const names = someOf(steps.map(({ name }) => name));
  const message = `no living node could run any of ${steps.length}: ${names}. Nothing was changed: check the target with "gatekeeper nodes", or add --without-candidates`;
  throw new CommandFailure(EXIT.conflict, message);
}

function batchOf({ steps, remaining, unreadable }: MigrationPlan): Batch {
  return {
    done: steps.filter(({ outcome }) => outcome === 'migrated').map(({ name }) => name),
    failed: [
      ...unreadable,
      ...steps.flatMap(({ name, outcome, error }) => (outcome === 'failed' ? [{ name, error: error ?? '' }] : [])),
    ],
    remaining,
  };
}

function requestOf({ names, fromGroup, toGroup, groupPattern, acquirerPattern }: MigrateOptions): MigrationRequest {
  if (toGroup !== undefined && groupPattern !== undefined) throw new UsageFailure(TWO_GROUPS);
  const group = toGroup === undefined ? groupPattern : exactly(toGroup);
  if (group === undefined && acquirerPattern === undefined) throw new UsageFailure(NO_TARGET);
  return {
    ...(names !== undefined && { names }),
    ...(fromGroup !== undefined && { group: fromGroup }),
    to: {
      ...(group !== undefined && { groupPattern: group }),
      ...(acquirerPattern !== undefined && { acquirerPattern }),
    },
  };
}

/** Formats the steps of a migration. */
function planText({ steps, remaining, unreadable }: MigrationPlan): string {
  const count = steps.length + remaining;
  const matching = unreadable.length > 0 ? 'matching semaphores that can be read' : 'matching semaphores';
  if (count === 0) return `nothing to migrate: all ${matching} have these patterns`;
  const shown = excerpt(...cellsOf(MIGRATION_COLUMNS, steps));
  const deserted = steps.filter(({ candidateCount }) => candidateCount === 0).length;
  const warning = deserted > 0 ? `${deserted} of them would have no living node to run on\n` : '';
  return `${shown}\n${warning}${count} to migrate; nothing was changed: add --yes to make the changes`;
}
