import type { SemaphoreOverview } from '../api/answers.js';

/** Kind of work that a semaphore guards. */
export type Kind = 'schedule' | 'lock' | 'leader' | 'queue';

/** The filters, in their order. */
export const KIND_LABELS: Record<Kind, string> = {
  schedule: 'Schedules',
  lock: 'Locks',
  leader: 'Leaders',
  queue: 'Queues',
};

/** As LEADER_PREFIX of the library. */
const LEADER = 'leader:';
const QUEUE = 'task:';

export function isLeader(name: string): boolean {
  return name.startsWith(LEADER);
}

export function isQueue(name: string): boolean {
  return name.startsWith(QUEUE);
}

/** Type of the tasks that a semaphore limits. */
export function taskTypeOf(name: string): string {
  return name.slice(QUEUE.length);
}

/** Name of the scope whose leader holds the permit of a semaphore. */
export function scopeOf(name: string): string {
  return name.slice(LEADER.length);
}

export function kindOf({ name, jobs }: Pick<SemaphoreOverview, 'name' | 'jobs'>): Kind {
  if (isLeader(name)) return 'leader';
  if (isQueue(name)) return 'queue';
  return jobs.some(({ schedule }) => schedule) ? 'schedule' : 'lock';
}

/** The kinds that occur, in the order of their filters. */
export function usedKinds(semaphores: readonly SemaphoreOverview[]): Kind[] {
  const used = new Set(semaphores.map(kindOf));
  return (Object.keys(KIND_LABELS) as Kind[]).filter((kind) => used.has(kind));
}
