import { Command } from 'commander';
import { quoted } from '../../decision/index.js';
import type { MaintenanceWindow, SemaphoreOverview } from '../../gatekeeper/index.js';
import { CommandFailure, EXIT } from '../exit-code.js';
import type { Look, Operator } from '../operator.js';
import { patternMatcher, readPattern } from '../option-readers.js';
import type { Runner } from '../session.js';
import { outageLines } from '../views/health.view.js';
import { windowLines } from '../views/maintenance.view.js';
import { livingHolders, statusText } from '../views/status.view.js';

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
        const { now, semaphores, stale, health, maintenance } = await session.operate(lookWithWindows);
        const shown = select(semaphores, pattern, filter);
        if (pattern !== undefined && shown.length === 0 && stale.length === 0)
          throw new CommandFailure(EXIT.notFound, noMatch(pattern));
        const windows = maintenance && { maintenance };
        session.output.result({ now, semaphores: shown, stale, health, ...windows }, (result, isWide) =>
          [...outageLines(health), ...windowLines(maintenance), statusText(result.semaphores, isWide)].join('\n'),
        );
        return health.grants && stale.length === 0 ? EXIT.done : EXIT.unreachable;
      }),
    );
}

/** During an outage the windows are not known, and the answer has none: an empty list would say that none is open. */
async function lookWithWindows(operator: Operator): Promise<Look & { maintenance?: readonly MaintenanceWindow[] }> {
  const look = await operator.look();
  if (!look.health.grants || look.stale.length > 0) return look;
  return { ...look, maintenance: await operator.maintenance() };
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
      (!held || livingHolders(semaphore).length > 0) &&
      (!paused || semaphore.pause !== undefined) &&
      (!overridden || semaphore.isOverridden === true) &&
      (!warned || semaphore.warnings.length > 0),
  );
}

export function noMatch(pattern: string): string {
  return `no semaphore's whole name matches ${quoted(pattern)}: "gatekeeper status" lists all semaphores`;
}
