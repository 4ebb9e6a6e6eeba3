/** The parts of an answer that can be out of date, with their names for people. */
export const STALE_PARTS = {
  records: 'semaphores',
  nodes: 'nodes',
  runs: 'runs',
  audit: 'changes',
} as const;

/** `records` are the semaphores, `runs` the history, `audit` the audit log. */
export type StalePartName = keyof typeof STALE_PARTS;

/** A part of an answer that could not be read now; it shows the last state that this node knows. */
export interface StalePart {
  /** The part: `records` are the semaphores, `runs` the history, `audit` the audit log. */
  readonly part: StalePartName;
  /**
   * Time of the last complete reading: ms since the epoch, cluster time. What changed later may be missing. Absent if
   * there was none; then only the data are known that this node has used.
   */
  readonly since?: number;
  /** The reason, for people. */
  readonly sentence: string;
}

/** An answer that says which of its parts are out of date. Every answer says it in this way, and only in this way. */
export interface MaybeStale {
  /** The parts that could not be read now. Absent if all is current. */
  readonly stale?: readonly StalePart[];
}

/** The field `stale` of an answer that is made of others. Of two entries for one part the last one counts. */
export function staleOf(...answers: readonly MaybeStale[]): MaybeStale {
  const parts = new Map(answers.flatMap(({ stale = [] }) => stale.map((each) => [each.part, each] as const)));
  return parts.size > 0 ? { stale: [...parts.values()] } : {};
}

/** Whether no part of an answer is out of date. */
export function isCurrent({ stale = [] }: MaybeStale): boolean {
  return stale.length === 0;
}

/** What an answer says of one of its parts. @returns undefined if the part is current */
export function stalePart({ stale = [] }: MaybeStale, part: StalePartName): StalePart | undefined {
  return stale.find((each) => each.part === part);
}

/** The name of a part for people. @param entry may be of a newer console, with a part that this version does not know */
export function partName({ part }: Pick<StalePart, 'part'>): string {
  return Object.hasOwn(STALE_PARTS, part) ? STALE_PARTS[part] : part;
}
