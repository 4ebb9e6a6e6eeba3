import { type WeightedParticipant, byText } from '../assign/participant.js';
import type { ParticipantEntry } from './registry-view.js';
import type { AllocationOrders } from './round.js';

/** The part of an entry that decides who may own what. */
export type NodeEntry = Pick<ParticipantEntry, 'inc' | 'node' | 'weight'>;

/** The nodes as a division needs them. A drained one has the weight 0. */
export function participantsOf(
  living: readonly NodeEntry[],
  drained: AllocationOrders['drained'],
): readonly WeightedParticipant[] {
  return living.map(({ inc, node, weight }) => ({ id: inc, weight: drained.has(node) ? 0 : weight }));
}

/**
 * The participants while the orders are unknown: a node that owns nothing may be drained, so it gets nothing. If no node
 * owns anything, all of them count, because the work would stand still.
 *
 * @param members each with its pages
 */
export function surelyNotDrained(
  participants: readonly WeightedParticipant[],
  members: ReadonlyMap<string, ReadonlyMap<string, unknown>>,
): readonly WeightedParticipant[] {
  const isOwner = ({ id }: WeightedParticipant) => (members.get(id)?.size ?? 0) > 0;
  if (!participants.some((each) => each.weight > 0 && isOwner(each))) return participants;
  return participants.map((each) => (isOwner(each) ? each : { ...each, weight: 0 }));
}

/** Of several processes with one node name, the one that has the resource, else the one with the lowest id. */
export function incarnationsOf(
  pins: AllocationOrders['pins'],
  owners: ReadonlyMap<string, string>,
  living: readonly NodeEntry[],
): Map<string, string> {
  const able = living.filter(({ weight }) => weight > 0).toSorted((one, other) => byText(one.inc, other.inc));
  return new Map(
    [...pins].flatMap(([resource, node]) => {
      const incs = able.filter((entry) => entry.node === node).map(({ inc }) => inc);
      const inc = incs.find((each) => each === owners.get(resource)) ?? incs[0];
      return inc === undefined ? [] : [[resource, inc] as const];
    }),
  );
}
