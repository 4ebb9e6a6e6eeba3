import type { ScheduleKind } from '../kind/schedule-kind.js';
import { spreadText } from '../kind/spread-text.js';
import { FAULTS, type Fault } from './faults.js';
import { type AllocationScheduleResult, SOON, simulateAllocation } from './schedule.js';

export const allocationKind: ScheduleKind<AllocationScheduleResult> = {
  name: 'allocation',
  about: 'nodes divide resources',
  faults: FAULTS,
  simulate: (seed, options) => simulateAllocation(seed, options as { readonly faults?: readonly Fault[] }),
  summary(results) {
    const total = (of: 'changes' | 'excusedTokens') => results.reduce((sum, each) => sum + each[of], 0);
    const settled = (isGrace: boolean) =>
      results.flatMap((each) =>
        each.needsGrace === isGrace && each.settledAfter !== undefined ? [each.settledAfter] : [],
      );
    return [
      `${total('changes')} changes of owners; ${total('excusedTokens')} tokens went back after a clock jump with lost data`,
      `settled after lease + tolerance + ms: ${spreadText(settled(false), SOON)}`,
      `  after lost data, wrong clocks, or a split: ${spreadText(settled(true), SOON)}`,
    ];
  },
  end: ({ settledAfter }) =>
    settledAfter === undefined
      ? 'a lost shard has a grace'
      : `settled lease + tolerance + ${settledAfter.toFixed(0)} ms after the trouble`,
};
