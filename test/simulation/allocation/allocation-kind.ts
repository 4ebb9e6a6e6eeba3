import type { ScheduleKind } from '../kind/schedule-kind.js';
import { spreadText } from '../kind/spread-text.js';
import { FAULTS, type Fault } from './faults.js';
import { type AllocationScheduleResult, CAUSES, type Cause, SOON, simulateAllocation } from './schedule.js';

export const allocationKind: ScheduleKind<AllocationScheduleResult> = {
  name: 'allocation',
  about: 'nodes divide resources',
  faults: FAULTS,
  simulate: (seed, options) => simulateAllocation(seed, options as { readonly faults?: readonly Fault[] }),
  summary(results) {
    const total = (of: 'changes' | 'excusedTokens') => results.reduce((sum, each) => sum + each[of], 0);
    const settled = results.filter((each) => each.settledAfter !== undefined);
    const shareOf = (cause: Cause) => {
      const late = settled.filter(({ lateBy }) => lateBy === cause).length;
      return `${((100 * late) / settled.length).toFixed(2)} % ${cause}`;
    };
    return [
      `${total('changes')} changes of owners; ${total('excusedTokens')} tokens went back after a clock jump with lost data`,
      `settled after lease + tolerance + ms: ${spreadText(
        settled.map((each) => each.settledAfter!),
        SOON,
      )}`,
      `  later than ${SOON} because of: ${CAUSES.map(shareOf).join(', ')}`,
    ];
  },
  end: ({ settledAfter }) =>
    settledAfter === undefined
      ? 'a lost shard has a grace'
      : `settled lease + tolerance + ${settledAfter.toFixed(0)} ms after the trouble`,
};
