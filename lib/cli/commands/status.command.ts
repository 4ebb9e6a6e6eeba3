import { Command } from 'commander';
import { isCurrent } from '../../core/context/stale.js';
import { messageOf, quoted } from '../../core/decision/index.js';
import type { MaintenanceWindow, SemaphoreOverview } from '../../gatekeeper/index.js';
import { heldBy } from '../../console/lists/semaphores.js';
import { CommandFailure, EXIT, exitCodeOf } from '../options/exit-code.js';
import { type AnswerOf, OPERATIONS } from '../operator/operator.js';
import type { AssuredOperator } from '../session/assured.js';
import { patternMatcher, readPattern } from '../options/option-readers.js';
import type { Runner } from '../session/session.js';
import { warningLines } from '../views/health.view.js';
import { windowLines } from '../views/maintenance.view.js';
import { statusText } from '../views/status.view.js';

export interface StatusFilter {
  readonly held?: true;
  readonly paused?: true;
  readonly overridden?: true;
  readonly warned?: true;
}

export function statusCommand(runner: Runner): Command {
  return new Command('status')
    .description('show semaphores: their holders, the definitions in force, and warnings')
    .argument('[pattern]', 'RE2; must match the whole name', readPattern)
    .option('--held', 'only semaphores with a held permit')
    .option('--paused', 'only paused semaphores')
    .option('--overridden', "only semaphores where an operator's edit overrides the code")
    .option('--warned', 'only semaphores with a warning')
    .action(
      runner.action<StatusFilter, [string | undefined]>(async (session, filter, pattern) => {
        const { now, semaphores, stale, health, maintenance, problem } = await session.operate(look);
        if (problem !== undefined) session.output.note(`maintenance windows can't be read: ${problem}`);
        const named = select(semaphores, pattern);
        if (pattern !== undefined && named.length === 0 && isCurrent({ stale }))
          throw new CommandFailure(EXIT.notFound, noMatch(pattern));
        const shown = select(named, undefined, filter);
        const windows = maintenance && { maintenance };
        session.output.result(
          { now, semaphores: shown, ...(stale && { stale }), health, ...windows },
          (result, isWide) =>
            [
              ...warningLines(health, { stale }),
              ...windowLines(maintenance),
              shownText(result.semaphores, named.length, isWide),
            ].join('\n'),
        );
        return health.grants && isCurrent({ stale }) ? EXIT.done : EXIT.unreachable;
      }),
    );
}

/** @param all number of semaphores before the options left some out: "no semaphores" would say that there are none */
function shownText(shown: readonly SemaphoreOverview[], all: number, isWide: boolean): string {
  return shown.length === 0 && all > 0 ? `0 of ${all} semaphores` : statusText(shown, isWide);
}

/** The semaphores and the health. During an outage they are the last known ones: `stale` and `health` say since when, and why. */
interface Look extends AnswerOf<'semaphores'> {
  readonly health: AnswerOf<'health'>;
  /** Absent if they are not known: an empty list would say that none is open. */
  readonly maintenance?: readonly MaintenanceWindow[];
  /** Why they can't be read, although the store answers. */
  readonly problem?: string;
}

/** A record of the windows that can't be read must not hide everything else. */
async function look(operator: AssuredOperator): Promise<Look> {
  const [overview, health] = await Promise.all([
    operator.show(OPERATIONS.semaphores),
    operator.show(OPERATIONS.health),
  ]);
  const shown = { ...overview, health };
  if (!health.grants || !isCurrent(overview)) return shown;
  try {
    const { windows } = await operator.call(OPERATIONS.maintenance);
    return { ...shown, maintenance: windows };
  } catch (error) {
    if (exitCodeOf(error) === EXIT.unreachable) throw error;
    return { ...shown, problem: messageOf(error) };
  }
}

export function select(
  semaphores: readonly SemaphoreOverview[],
  pattern: string | undefined,
  { held, paused, overridden, warned }: StatusFilter = {},
): SemaphoreOverview[] {
  const isNamed = patternMatcher(pattern);
  return semaphores.filter(
    (semaphore) =>
      isNamed(semaphore.name) &&
      (!held || heldBy(semaphore).length > 0) &&
      (!paused || semaphore.pause !== undefined) &&
      (!overridden || semaphore.isOverridden === true) &&
      (!warned || semaphore.warnings.length > 0),
  );
}

export function noMatch(pattern: string): string {
  return `no semaphore's whole name matches ${quoted(pattern)}: "gatekeeper status" lists all semaphores`;
}
