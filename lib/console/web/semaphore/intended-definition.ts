import type { SemaphoreDefinition, SemaphoreOverview } from '../api/answers.js';

/** What operators mean to be in force: of a paused semaphore, what comes back when it is resumed. */
export function intendedDefinition({ definition, pause }: SemaphoreOverview): SemaphoreDefinition | undefined {
  return definition && { ...definition, ...(pause && { groupPattern: pause.groupPattern }) };
}
