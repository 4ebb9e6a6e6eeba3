import type { MissedTicks, ScheduleMode } from '../../../lib/tasks/index.js';
import { Chance } from '../world/chance.js';

/** The cron schedule of one simulated schedule. All nodes have it. */
export interface SchedulePlan {
  readonly expression: string;
  /** ms between two ticks. */
  readonly interval: number;
  readonly mode: ScheduleMode;
  readonly missed: MissedTicks;
  /** ms for which all nodes are down after the trouble; 0 for most schedules. */
  readonly downtime: number;
  /** Whether wall clocks of nodes jump by minutes in the trouble. */
  readonly hasJumps: boolean;
  /** For draws of its own, so that old seeds keep their schedules. */
  readonly chance: Chance;
}

/** A quarter of all seeds. */
export function planSchedule(seed: number): SchedulePlan | undefined {
  if (seed % 4 !== 1) return undefined;
  const chance = new Chance(~(seed * 7));
  const seconds = chance.pick([1, 2, 3, 5, 10]);
  const mode = chance.pick(['once-per-tick', 'at-most-one-running', 'queue'] as const);
  const missed = chance.pick(
    mode === 'at-most-one-running' ? (['skip', 'once'] as const) : (['skip', 'once', 'all'] as const),
  );
  const downtime = chance.happens(0.3) ? chance.whole(70_000, 120_000) : 0;
  const hasJumps = chance.happens(0.5);
  return { hasJumps, expression: `*/${seconds} * * * * *`, interval: seconds * 1000, mode, missed, downtime, chance };
}
