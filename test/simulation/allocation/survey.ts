import { type AllocationScheduleOptions, type AllocationScheduleResult, simulateAllocation } from './schedule.js';

/** Results of some schedules of the allocation. */
export interface AllocationSurvey {
  readonly schedules: number;
  readonly changes: number;
  readonly happenings: number;
  readonly excusedTokens: number;
  /** ms from the end of the trouble until all was settled, less lease and tolerance, in the order of the seeds. */
  readonly settled: { readonly inTime: readonly number[]; readonly afterGrace: readonly number[] };
  /** By seed, without traces. */
  readonly failures: readonly AllocationScheduleResult[];
}

const NOTHING: AllocationSurvey = {
  schedules: 0,
  changes: 0,
  happenings: 0,
  excusedTokens: 0,
  settled: { inTime: [], afterGrace: [] },
  failures: [],
};

/** Carries out `count` schedules from seed `first` on. */
export async function surveyAllocation(
  first: number,
  count: number,
  options: AllocationScheduleOptions = {},
): Promise<AllocationSurvey> {
  const parts: AllocationSurvey[] = [];
  for (let seed = first; seed < first + count; seed++) parts.push(surveyOf(await simulateAllocation(seed, options)));
  return sumOfAllocation(parts);
}

/** The same, in whichever order the parts were done. */
export function sumOfAllocation(parts: readonly AllocationSurvey[]): AllocationSurvey {
  const total = (of: 'schedules' | 'changes' | 'happenings' | 'excusedTokens') =>
    parts.reduce((sum, part) => sum + part[of], NOTHING[of]);
  const settled = (of: 'inTime' | 'afterGrace') => parts.flatMap((part) => part.settled[of]);
  return {
    schedules: total('schedules'),
    changes: total('changes'),
    happenings: total('happenings'),
    excusedTokens: total('excusedTokens'),
    settled: { inTime: settled('inTime'), afterGrace: settled('afterGrace') },
    failures: parts.flatMap((part) => part.failures).toSorted((one, other) => one.seed - other.seed),
  };
}

function surveyOf(result: AllocationScheduleResult): AllocationSurvey {
  const { changes, happenings, excusedTokens, settledAfter, needsGrace, violations } = result;
  const settled = settledAfter === undefined ? [] : [settledAfter];
  return {
    schedules: 1,
    changes,
    happenings,
    excusedTokens,
    settled: { inTime: needsGrace ? [] : settled, afterGrace: needsGrace ? settled : [] },
    failures: violations.length > 0 ? [result] : [],
  };
}
