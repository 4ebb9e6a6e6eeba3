import type { SemaphoreDefinition, SemaphoreOverview } from '../api/answers.js';

/** Returns the definition without regard to a pause: for a paused semaphore, the one that applies after the resume. */
export function intendedDefinition({ definition, pause }: SemaphoreOverview): SemaphoreDefinition | undefined {
  return definition && { ...definition, ...(pause && { groupPattern: pause.groupPattern }) };
}
