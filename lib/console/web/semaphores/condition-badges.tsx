import type { SemaphoreOverview } from '../api/answers.js';
import { Badge } from '../parts/badge.js';
import { CONDITION_TONES, conditionOf, isHeld } from './condition.js';

/** Shows the state of a semaphore, and whether its definition differs from the one in code. */
export function ConditionBadges({ semaphore }: { readonly semaphore: SemaphoreOverview }) {
  const condition = conditionOf(semaphore);
  return (
    <span class="badges">
      <Badge tone={CONDITION_TONES[condition]}>{condition}</Badge>
      {condition === 'paused' && isHeld(semaphore) && (
        <Badge tone={CONDITION_TONES.held} title="Runs that had a permit before the pause may finish">
          held
        </Badge>
      )}
      {semaphore.isOverridden && (
        <Badge tone="neutral" title="The definition differs from the one in this node’s code">
          {semaphore.source === 'code' ? 'other code' : 'overridden'}
        </Badge>
      )}
    </span>
  );
}
