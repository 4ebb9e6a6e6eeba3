import { type ScheduleOptions, type ScheduleResult, simulate } from './schedule.js';

/** The command that replays a schedule: the seed alone, unless more was given. */
export function replayHint(seed: number, { faultMix, length, hasMembers, hasLeaders }: ScheduleOptions): string {
  const nodes = hasLeaders ? '--leaders' : hasMembers && '--members';
  const asked = [nodes, faultMix && `--faults ${faultMix}`, length && `--length ${length}`].filter(Boolean);
  return ['npm run sim --', ...asked, `--seed ${seed}`].join(' ');
}

/** The story of one failure up to the moment of the first broken promise, for people. */
export async function story(failure: ScheduleResult, options: ScheduleOptions = {}, lines = 80): Promise<string> {
  const { seed, faultMix, length, violations } = failure;
  const { trace } = await simulate(seed, { ...options, isTraced: true });
  const end = trace.findIndex((line) => line.includes('!!!')) + 1;
  return [
    `seed ${seed}, a ${length} schedule with faults "${faultMix}", broke a promise; all of it: ${replayHint(seed, options)}`,
    ...trace.slice(Math.max(0, end - lines), end),
    ...violations,
  ].join('\n');
}
