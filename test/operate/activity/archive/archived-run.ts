import type { ArchivedRun } from 'nestjs-gatekeeper';

export const DAY = 86_400_000;
/** 2023-11-14 at 12:00 UTC. */
export const NOON = Date.UTC(2023, 10, 14, 12);

/** A run that took a second, as it is archived. */
export function archivedRun(number: number, rest: Partial<ArchivedRun> = {}): ArchivedRun {
  const node = { group: 'default', acquirer: 'app1', instance: 'cafe' };
  const run = { kind: 'run', semaphore: 'job', job: 'Jobs.export', node, at: NOON, took: 1000, outcome: 'ok' } as const;
  return { ...run, id: `cafe-${number}`, ...rest };
}

/** @param first number of the first run */
export const numbered = (count: number, rest: Partial<ArchivedRun> = {}, first = 0) =>
  Array.from({ length: count }, (_, index) => archivedRun(first + index, rest));
