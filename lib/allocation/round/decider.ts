import { type ParticipantEntry, canDecide } from './registry-view.js';

/**
 * Instance of the node that decides on the owners of a group. All nodes find it by the same texts, and usually agree. Two
 * that decide at the same time only cost refused writes, because the compare-and-set of the root is the only commit.
 *
 * | the leader of all groups                        | decides                                           |
 * | ----------------------------------------------- | ------------------------------------------------- |
 * | is among the candidates                         | the leader                                        |
 * | is not, for example because it lacks the group  | its deputy: the candidate that runs longest       |
 * | is not, and the group has no living node        | the leader: its own entry may not be written yet  |
 *
 * The candidates are the first of these sets of living nodes that is not empty:
 *
 * 1. those that have read the resources, and have not handed the decision on in their lease;
 * 2. those without a problem: they have not read the resources yet, or one could decide after all;
 * 3. all: none can decide, so it stays with the leader, which tries again. The decision never goes round in circles.
 *
 * The node that runs longest has watched the members longest, so it knows best who is over, and a join changes nothing.
 * Nodes with the weight 0 come last: they may be shutting down.
 */
export function deciderOf(living: Iterable<ParticipantEntry>, leader: string): string {
  const all = [...living];
  const sets = [all.filter(canDecide), all.filter(({ problem }) => problem === undefined), all];
  const candidates = sets.find(({ length }) => length > 0) ?? [];
  if (candidates.some(({ instance }) => instance === leader)) return leader;
  const [first = leader] = candidates.toSorted(byService).map(({ instance }) => instance);
  return first;
}

function byService(one: ParticipantEntry, other: ParticipantEntry): number {
  const isIdle = ({ weight }: ParticipantEntry) => Number(weight === 0);
  return isIdle(one) - isIdle(other) || one.startedAt - other.startedAt || (one.instance < other.instance ? -1 : 1);
}
