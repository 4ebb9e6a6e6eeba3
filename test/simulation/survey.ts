import { type ScheduleOptions, type ScheduleResult, simulate } from './schedule.js';

/** Results of some schedules. */
export interface Survey {
  readonly schedules: number;
  readonly grants: number;
  /** How many terms of leadership began. */
  readonly terms: number;
  readonly happenings: number;
  /** By seed, without traces. */
  readonly failures: readonly ScheduleResult[];
}

const NOTHING: Survey = { schedules: 0, grants: 0, terms: 0, happenings: 0, failures: [] };

/** Carries out `count` schedules from seed `first` on. */
export async function survey(first: number, count: number, options: ScheduleOptions = {}): Promise<Survey> {
  let sum = NOTHING;
  for (let seed = first; seed < first + count; seed++) {
    const result = await simulate(seed, options);
    const { grants, terms, happenings, violations } = result;
    sum = sumOf([sum, { schedules: 1, grants, terms, happenings, failures: violations.length > 0 ? [result] : [] }]);
  }
  return sum;
}

/** The same, in whichever order the parts were done. */
export function sumOf(parts: readonly Survey[]): Survey {
  const total = (of: 'schedules' | 'grants' | 'terms' | 'happenings') => parts.reduce((sum, part) => sum + part[of], 0);
  const failures = parts.flatMap((part) => part.failures).toSorted((one, other) => one.seed - other.seed);
  return {
    schedules: total('schedules'),
    grants: total('grants'),
    terms: total('terms'),
    happenings: total('happenings'),
    failures,
  };
}
