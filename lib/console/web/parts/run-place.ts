import type { HistoryEntry } from '../api/answers.js';
import { hrefOf } from './router.js';

/** Identifies a run in an address. */
export interface RunPlace {
  readonly semaphore: string;
  readonly job: string;
  readonly instance: string;
  readonly at: number;
}

/** The part of an address that says that a run follows. A task's id has other characters. */
export const ONE_RUN = 'of';

/** The address of a run's page. It stays the same, so it can be sent to others. */
export function runHref({ semaphore, job, node, at }: HistoryEntry): string {
  return hrefOf(['runs', ONE_RUN, semaphore, job, node.instance, String(at)]);
}

/** Reads the run of an address. @returns undefined if a user typed something else */
export function placeOf([, , semaphore, job, instance, time]: readonly string[]): RunPlace | undefined {
  const at = Number(time);
  if (semaphore === undefined || job === undefined || instance === undefined) return undefined;
  return Number.isSafeInteger(at) ? { semaphore, job, instance, at } : undefined;
}

/** Whether an entry is the run of an address. */
export function isAt({ semaphore, job, node, at }: HistoryEntry, place: RunPlace): boolean {
  return at === place.at && job === place.job && semaphore === place.semaphore && node.instance === place.instance;
}

/** The filters that the list of runs had when it was shown last. */
let lastFilters: Record<string, string> = {};

/** Remembers the filters of the list, for {@link runsHref}. */
export function keepFilters(query: URLSearchParams): void {
  lastFilters = Object.fromEntries(query);
}

/** The address of the list of runs, as it was left. */
export function runsHref(): string {
  return hrefOf(['runs'], lastFilters);
}
