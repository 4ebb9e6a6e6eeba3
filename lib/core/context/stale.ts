import type { MaybeStale, StalePart, StalePartName } from './stale-answers.js';

export type { MaybeStale, StalePart, StalePartName };

/** The parts of an answer that can be out of date, with their names for people. */
export const STALE_PARTS: Readonly<Record<StalePartName, string>> = {
  records: 'semaphores',
  nodes: 'nodes',
  runs: 'runs',
  audit: 'changes',
};

/** The field `stale` of an answer that is made of others. Of two entries for one part the last one counts. */
export function staleOf(...answers: readonly MaybeStale[]): MaybeStale {
  const parts = new Map(answers.flatMap(({ stale = [] }) => stale.map((each) => [each.part, each] as const)));
  return parts.size > 0 ? { stale: [...parts.values()] } : {};
}

/** Whether no part of an answer is out of date. */
export function isCurrent({ stale = [] }: MaybeStale): boolean {
  return stale.length === 0;
}

/** The entry of a part that is out of date. @returns undefined if the part is current */
export function stalePart({ stale = [] }: MaybeStale, part: StalePartName): StalePart | undefined {
  return stale.find((each) => each.part === part);
}

/** The name of a part for people. @param entry may be of a newer console, with a part that this version does not know */
export function partName({ part }: Pick<StalePart, 'part'>): string {
  return Object.hasOwn(STALE_PARTS, part) ? STALE_PARTS[part] : part;
}
