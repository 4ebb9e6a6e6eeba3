import { Command } from 'commander';
import { quoted } from '../../decision/index.js';
import type { SemaphoreOverview } from '../../gatekeeper/index.js';
import { CommandFailure, EXIT } from '../exit-code.js';
import { patternMatcher, readPattern } from '../option-readers.js';
import type { Runner } from '../session.js';
import { outageLines } from '../views/health.view.js';
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
        const { now, semaphores, stale, health } = await session.operate((operator) => operator.look());
        const shown = select(semaphores, pattern, filter);
        if (pattern !== undefined && shown.length === 0 && stale.length === 0)
          throw new CommandFailure(EXIT.notFound, noMatch(pattern));
        session.output.result({ now, semaphores: shown, stale, health }, (result, isWide) =>
          [...outageLines(health), statusText(result.semaphores, isWide)].join('\n'),
        );
        return health.grants && stale.length === 0 ? EXIT.done : EXIT.unreachable;
      }),
    );
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
