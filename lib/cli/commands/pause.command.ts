import { Command } from 'commander';
import { faultsOf, nameSchema } from '../../core/decision/index.js';
import type { SemaphoreOverview } from '../../gatekeeper/index.js';
import { type CareOptions, dryRunOption, withCare, yesOption } from '../session/confirm.js';
import { CommandFailure, EXIT, type ExitCode, UsageFailure } from '../options/exit-code.js';
import { type ChangeMeta, OPERATIONS, type Operator } from '../operator/operator.js';
import { readPattern, reasonOption, revisionOption } from '../options/option-readers.js';
import { type BulkOutcome, inBatches, tellEach, tellFailures, undoable } from '../session/batches.js';
import type { Runner, Session } from '../session/session.js';
import { plain } from '../text/plain.js';
import { definitionText } from '../views/definition.view.js';
import { noMatch, select } from './status.command.js';
import { someOf } from '../../console/lists/texts.js';

const PAUSE = { command: 'pause', verb: 'paused', operation: OPERATIONS.pauseAll } as const;
const RESET = { command: 'reset', verb: 'reset', operation: OPERATIONS.resetAll } as const;
const RESUME = { command: 'resume', verb: 'resumed', operation: OPERATIONS.resumeAll } as const;
type Kind = typeof PAUSE | typeof RESET | typeof RESUME;

interface Request {
  /** RE2; must match the whole name. */
  readonly names: string;
  readonly reason: string | undefined;
}

export function pauseCommand(runner: Runner): Command {
  return bulkCommand(new Command('pause'), runner, PAUSE).description(
    'pause semaphores: no new run starts; runs that have started may finish',
  );
}

export function resumeCommand(runner: Runner): Command {
  return bulkCommand(new Command('resume'), runner, RESUME).description('end a pause');
}

export function resetCommand(runner: Runner): Command {
  return bulkCommand(new Command('reset').addOption(revisionOption()), runner, RESET).description(
    'restore the definitions in code; needs --url of a node whose code has them',
  );
}

function bulkCommand(command: Command, runner: Runner, kind: Kind): Command {
  return command
    .argument('<pattern>', 'RE2; must match the whole name; ".*" matches all', readPattern)
    .addOption(reasonOption())
    .addOption(dryRunOption())
    .addOption(yesOption())
    .action(
      runner.action<ChangeMeta & CareOptions, [string]>((session, { reason, expectedRevision, ...care }, pattern) =>
        session.operate(async (operator) => {
          // Only a reset of one name has a revision.
          if (expectedRevision === undefined)
            return carefully(session, operator, kind, { care, request: { names: pattern, reason } });
          expectOneName(pattern, care);
          const sent = { params: { name: pattern }, body: { reason, expectedRevision } };
          session.output.result(await operator.call(OPERATIONS.reset, sent), definitionText);
          return undefined;
        }),
      ),
    );
}

/** @throws UsageFailure if a reset with a revision can't be meant */
function expectOneName(name: string, { dryRun }: CareOptions): void {
  if (dryRun) throw new UsageFailure('--expected-revision resets at once: leave it or --dry-run out');
  const { error } = nameSchema.safeParse(name);
  if (error)
    throw new UsageFailure(`--expected-revision is for the name of one semaphore: ${faultsOf(error).join('; ')}`);
}

/** Looks up the affected names only if they are shown, because the list may have ten thousand entries. */
async function carefully(
  session: Session,
  operator: Operator,
  kind: Kind,
  { care, request }: { readonly care: CareOptions; readonly request: Request },
): Promise<ExitCode | void> {
  const change = () => changeAll(session, operator, kind, request);
  if (!care.dryRun && (care.yes || !session.canAsk)) return change();
  const { names, unreadable } = await affected(operator, kind, request.names);
  tellEach(session, unreadable);
  if (names.length <= 1 && !care.dryRun) return change();
  const sentence = names.length > 0 ? `${kind.command} ${names.length}: ${someOf(names)}` : `${kind.command} none`;
  return withCare(session, care, { plan: { [kind.verb]: names }, sentence, change });
}

/** @throws CommandFailure if no name matches */
async function affected(operator: Operator, { command }: Kind, pattern: string) {
  const matching = await matchingIn(operator, pattern);
  const isDue = ({ definition, pause, code, source, isOverridden }: SemaphoreOverview) => {
    if (command === 'reset') return code !== undefined && (source !== 'code' || isOverridden === true);
    return definition !== undefined && (pause === undefined) === (command === 'pause');
  };
  return {
    names: matching.filter(isDue).map(({ name }) => name),
    unreadable: matching.flatMap(({ name, problem: error }) => (error === undefined ? [] : [{ name, error }])),
  };
}

async function changeAll(session: Session, operator: Operator, { verb, operation }: Kind, request: Request) {
  let bulk: string | undefined;
  const outcome = await inBatches(session, verb, async (limit) => {
    const batch = await operator.call(operation, { body: { ...request, limit, bulk } });
    ({ bulk } = batch);
    return batch;
  });
  const { done, failed } = outcome;
  session.progress.clear();
  session.output.result({ [verb]: done, failed, ...undoable(done, bulk) }, () => doneText(verb, outcome));
  return tellFailures(session, outcome);
}

/**
 * As the change selects: without names that only calls define, unless the pattern is exactly that name.
 *
 * @throws CommandFailure if no name matches, because a misspelt pattern must not look like "nothing to do"
 */
async function matchingIn(operator: Operator, pattern: string): Promise<SemaphoreOverview[]> {
  const { semaphores } = await operator.call(OPERATIONS.semaphores);
  const matching = select(
    semaphores.filter(({ name, definition, isOnDemand, code, problem }) =>
      definition ? !isOnDemand || name === pattern : problem !== undefined || code !== undefined,
    ),
    pattern,
  );
  if (matching.length === 0) throw new CommandFailure(EXIT.notFound, noMatch(pattern));
  return matching;
}

function doneText(verb: string, { done, failed, remaining }: BulkOutcome): string {
  if (failed.length + remaining > 0 && done.length === 0) return `${verb} none`;
  if (done.length === 0) return `nothing to do: all matching semaphores are ${verb} already`;
  return plain(`${verb} ${done.length}: ${done.join(', ')}`);
}
