import { type ScheduleOptions, type ScheduleResult, simulate } from './schedule.js';

export interface Survey {
  readonly schedules: number;
  readonly grants: number;
  readonly happenings: number;
  readonly failures: readonly ScheduleResult[];
}

/** Carries out `count` schedules from seed `first` on. */
export async function survey(first: number, count: number, options: ScheduleOptions): Promise<Survey> {
  let grants = 0;
  let happenings = 0;
  const failures: ScheduleResult[] = [];
  for (let seed = first; seed < first + count; seed++) {
    const result = await simulate(seed, options);
    grants += result.grants;
    happenings += result.happenings;
    if (result.violations.length > 0) failures.push(result);
  }
  return { schedules: count, grants, happenings, failures };
}
