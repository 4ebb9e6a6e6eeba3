import type { HistoryEntry } from '../api/answers.js';
import { hrefOf } from '../router.js';

/** Identifies a run in an address. */
export interface RunPlace {
  readonly semaphore: string;
  readonly job: string;
  readonly instance: string;
  readonly at: number;
}

/** The address of a run's details. @param query filters of the page behind them */
export function runHref(entry: HistoryEntry, query: Record<string, string | undefined> = {}): string {
  const { semaphore, job, node, at } = entry;
  return hrefOf(['runs'], { ...query, run: JSON.stringify([semaphore, job, node.instance, at]) });
}

/** Reads the run of an address. @returns undefined if there is none, or if the text is no run */
export function placeOf(text: string | null): RunPlace | undefined {
  try {
    const [semaphore, job, instance, at] = JSON.parse(text ?? '') as unknown[];
    const isPlace = [semaphore, job, instance].every((each) => typeof each === 'string') && typeof at === 'number';
    return isPlace ? ({ semaphore, job, instance, at } as RunPlace) : undefined;
  } catch {
    return undefined; // a text that a user typed
  }
}

export function isAt({ semaphore, job, node, at }: HistoryEntry, place: RunPlace): boolean {
  return at === place.at && job === place.job && semaphore === place.semaphore && node.instance === place.instance;
}
