/** A node that may own resources. */
export interface WeightedParticipant {
  /** Id of the participant. */
  readonly id: string;
  /** A whole number: its share, compared with the others. 0 for a drained node, which owns nothing. */
  readonly weight: number;
}

/** Largest weight. Larger ones would not make shares finer, and could leave nothing for others by mistake. */
export const MOST_WEIGHT = 1000;

/** Order of ids: by UTF-16 code units, so it is the same on every machine. */
export function byText(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
