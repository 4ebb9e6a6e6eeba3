import { type ScheduleOptions, type ScheduleResult, simulate } from './schedule.js';

/** What to run to see a schedule again. */
export function replayHint(seed: number, { weather }: ScheduleOptions): string {
  return `npm run sim -- --weather ${weather} --seed ${seed}`;
}

/** The story of one failure up to the moment of the first broken promise, for people. */
export async function story(failure: ScheduleResult, options: ScheduleOptions, lines = 80): Promise<string> {
  const { trace } = await simulate(failure.seed, { ...options, isTraced: true });
  const end = trace.findIndex((line) => line.includes('!!!')) + 1;
  return [
    `seed ${failure.seed} in ${options.weather} weather broke a promise; all of it: ${replayHint(failure.seed, options)}`,
    ...trace.slice(Math.max(0, end - lines), end),
    ...failure.violations,
  ].join('\n');
}
