import { Argument, Command } from 'commander';
import type { LeftAlone, MaintenanceWindow } from '../../gatekeeper/index.js';
import { type Batch, inBatches, tellFailures, undoable } from '../session/batches.js';
import { type CareOptions, dryRunOption, withCare, yesOption } from '../session/confirm.js';
import { CommandFailure, EXIT, type ExitCode, UsageFailure } from '../options/exit-code.js';
import { OPERATIONS, type Operator } from '../operator/operator.js';
import { readName, readPattern, reasonOption } from '../options/option-readers.js';
import type { Runner, Session } from '../session/session.js';
import { plain } from '../text/plain.js';
import { windowText, windowsText, outcomeText } from '../views/maintenance.view.js';
import { noMatch, select } from './status.command.js';
import { someOf } from '../../console/lists/texts.js';

type Options = CareOptions & { readonly reason?: string };

const ACTIONS = ['start', 'end', 'list'] as const;
type Action = (typeof ACTIONS)[number];

export function maintenanceCommand(runner: Runner): Command {
  return new Command('maintenance')
    .description('pause many semaphores under a name, and later resume exactly what this paused')
    .addArgument(new Argument('<action>', 'what to do').choices(ACTIONS))
    .argument('[name]', 'name of the window; for list: only this window', readName)
    .argument('[pattern...]', 'for start: RE2; each must match the whole name of a semaphore', collectPattern)
    .addOption(reasonOption())
    .addOption(dryRunOption())
    .addOption(yesOption())
    .action(
      runner.action<Options, [Action, string | undefined, string[] | undefined]>(
        (session, options, action, name, patterns = []) => {
          expectArguments(action, name, patterns);
          return session.operate((operator) => {
            if (action === 'list') return list(session, operator, name);
            const window = name!;
            return action === 'end'
              ? end(session, operator, window, options)
              : start(session, operator, { window, patterns }, options);
          });
        },
      ),
    );
}

/** @throws UsageFailure */
function expectArguments(action: Action, name: string | undefined, patterns: readonly string[]): void {
  if (action === 'start' && patterns.length === 0) {
    throw new UsageFailure("give a name and a pattern: maintenance start <name> <pattern...>; '.*' matches all");
  }
  if (action === 'end' && name === undefined) throw new UsageFailure('name the window: maintenance end <name>');
  if (action !== 'start' && patterns.length > 0) {
    throw new UsageFailure(`maintenance ${action} takes no pattern: the window knows its own`);
  }
}

async function list(session: Session, operator: Operator, name: string | undefined): Promise<void> {
  if (name !== undefined) return session.output.result(await windowNamed(operator, name), windowText);
  const { windows } = await operator.call(OPERATIONS.maintenance);
  session.output.result({ windows }, windowsText);
}

function windowNamed(operator: Operator, window: string): Promise<MaintenanceWindow> {
  return operator.call(OPERATIONS.maintenanceWindow, { params: { window } });
}

async function start(
  session: Session,
  operator: Operator,
  { window, patterns }: Pick<Start, 'window' | 'patterns'>,
  { reason, ...care }: Options,
) {
  const change = () => startWindow(session, operator, { window, patterns, reason });
  if (!care.dryRun && (care.yes || !session.canAsk)) return change();
  const names = await running(operator, patterns);
  const sentence = plain(`start maintenance ${window} and pause ${names.length}: ${someOf(names)}`);
  return withCare(session, care, { plan: { window, paused: names }, sentence, change });
}

async function end(session: Session, operator: Operator, window: string, { reason, ...care }: Options) {
  const change = () => endWindow(session, operator, window, reason);
  if (!care.dryRun && (care.yes || !session.canAsk)) return change();
  const { semaphores, left } = await windowNamed(operator, window);
  const sentence = plain(`end maintenance ${window} and resume ${semaphores.length}: ${someOf(semaphores)}`);
  return withCare(session, care, { plan: { window, resumed: semaphores, left }, sentence, change });
}

interface Start {
  readonly window: string;
  readonly patterns: readonly string[];
  readonly reason: string | undefined;
}

const INCOMPLETE = { sentence: 'the start is not complete', permits: undefined, isQuiet: false };

async function startWindow(session: Session, operator: Operator, { window, patterns, reason }: Start) {
  const shared = new Set<string>();
  const outcome = await throughout(session, 'paused', async (limit) => {
    const start = await operator.call(OPERATIONS.startMaintenance, {
      body: { window, names: patterns, reason, limit },
    });
    for (const name of start.shared) shared.add(name);
    return { ...start, done: start.paused };
  });
  const { done, left, failed, remaining, bulk } = outcome;
  // After an outage the first error matters, not that the window can't be read, too.
  const isOver = failed.length + remaining === 0;
  const { sentence, permits, isQuiet } = isOver ? await windowNamed(operator, window) : INCOMPLETE;
  session.output.result(
    {
      window,
      paused: done,
      shared: [...shared],
      left,
      failed,
      remaining,
      permits,
      isQuiet,
      sentence,
      ...undoable(done, bulk),
    },
    () => `${outcomeText('paused', outcome, [...shared])}\n${sentence}`,
  );
  return tellFailures(session, outcome);
}

async function endWindow(
  session: Session,
  operator: Operator,
  window: string,
  reason: string | undefined,
): Promise<ExitCode> {
  const outcome = await throughout(session, 'resumed', async (limit) => {
    const end = await operator.call(OPERATIONS.endMaintenance, { params: { window }, body: { reason, limit } });
    return { ...end, done: end.resumed };
  });
  const { done, left, failed, remaining, bulk } = outcome;
  session.output.result({ window, resumed: done, left, failed, remaining, ...undoable(done, bulk) }, () =>
    outcomeText('resumed', outcome),
  );
  return tellFailures(session, outcome);
}

type WindowBatch = Batch & { readonly left: readonly LeftAlone[]; readonly bulk: string };

/** Makes the change in batches, and collects what was left alone. */
async function throughout(session: Session, verb: string, call: (limit: number) => Promise<WindowBatch>) {
  const left = new Map<string, LeftAlone>();
  let bulk: string | undefined;
  const outcome = await inBatches(session, verb, async (limit) => {
    const batch = await call(limit);
    for (const each of batch.left) left.set(each.name, each);
    ({ bulk } = batch);
    return batch;
  });
  session.progress.clear();
  return { ...outcome, left: [...left.values()], bulk };
}

/** The names that a start would pause. @throws CommandFailure if nothing matches */
async function running(operator: Operator, patterns: readonly string[]): Promise<string[]> {
  const { semaphores } = await operator.call(OPERATIONS.semaphores);
  const defined = semaphores.filter(({ definition, isOnDemand }) => definition !== undefined && !isOnDemand);
  const matching = new Map(patterns.flatMap((pattern) => select(defined, pattern).map((each) => [each.name, each])));
  if (matching.size === 0) throw new CommandFailure(EXIT.notFound, noMatch(patterns.join(' ')));
  return [...matching.values()].filter(({ pause }) => !pause).map(({ name }) => name);
}

function collectPattern(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), readPattern(text)];
}
