import type { SemaphoreDefinition, SemaphoreOverview } from '../api/answers.js';

/** The definition that operators intend: of a paused semaphore, the one that comes back when it is resumed. */
export function intendedDefinition({ definition, pause }: SemaphoreOverview): SemaphoreDefinition | undefined {
  return definition && { ...definition, ...(pause && { groupPattern: pause.groupPattern }) };
}
