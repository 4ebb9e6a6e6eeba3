/**
 * The incarnations of one simulated process, as `lib/core/members/incarnation.ts` makes them. An incarnation is one unbroken membership lease. The leader sets the resources of an
 * incarnation free once it is over, so a node must never own anything under an incarnation that was over for a moment:
 *
 * | event                                      | this incarnation | why                                                   |
 * | ------------------------------------------ | ---------------- | ----------------------------------------------------- |
 * | its lease is renewed in time               | stays            |                                                       |
 * | its lease ran out by the node's own clocks | ends             | another node may own its resources                    |
 * | the outcome of its first write is unknown  | ends             | the write may come late, after it was seen as absent  |
 */
export interface Incarnation {
  /** Random id of the process. */
  readonly instance: string;
  readonly number: number;
  /** Former ones that the registry may still have. The node marks them as ended with its next write. */
  readonly former: readonly string[];
}

export function firstIncarnation(instance: string): Incarnation {
  return { instance, number: 0, former: [] };
}

/** Its id in the registry and in the owner map. */
export function incarnationId({ instance, number }: Pick<Incarnation, 'instance' | 'number'>): string {
  return `${instance}#${number}`;
}

/** After a lapse, and after a first write with unknown outcome. */
export function nextIncarnation(incarnation: Incarnation): Incarnation {
  const { instance, number, former } = incarnation;
  return { instance, number: number + 1, former: [...former, incarnationId(incarnation)] };
}

/** After a write that marked these as ended. */
export function withoutFormer(incarnation: Incarnation, marked: readonly string[]): Incarnation {
  return { ...incarnation, former: incarnation.former.filter((inc) => !marked.includes(inc)) };
}
