import type { ParticipantEntry } from './registry-view.js';

/**
 * Instance of the node that decides on the owners of a group. All nodes find it by the same texts, and usually agree. Two
 * that decide at the same time only cost refused writes, because the compare-and-set of the root is the only commit.
 *
 * | the leader of all groups                        | decides                                           |
 * | ----------------------------------------------- | ------------------------------------------------- |
 * | is among the living nodes of the group          | the leader                                        |
 * | is not, for example because it lacks the group  | its deputy: the node of the group that runs longest |
 * | is not, and the group has no living node        | the leader: its own entry may not be written yet  |
 *
 * The node that runs longest has watched the members longest, so it knows best who is over, and a join changes nothing.
 * Nodes with the weight 0 come last: they may be shutting down.
 */
export function deciderOf(living: Iterable<ParticipantEntry>, leader: string): string {
  const all = [...living];
  if (all.some(({ instance }) => instance === leader)) return leader;
  const [first = leader] = all.toSorted(byService).map(({ instance }) => instance);
  return first;
}

function byService(one: ParticipantEntry, other: ParticipantEntry): number {
  const isIdle = ({ weight }: ParticipantEntry) => Number(weight === 0);
  return isIdle(one) - isIdle(other) || one.startedAt - other.startedAt || (one.instance < other.instance ? -1 : 1);
}
