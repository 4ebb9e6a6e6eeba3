import { eachInPieces, inSlices, type Pieces } from '../core/async/slices.js';
import type { Context } from '../core/context/context.js';
import type { GroupNode, OwnedBy, SetInDoubt } from './answers.js';
import { ascending } from './assign/assign.js';
import { byText } from './assign/participant.js';
import type { MapStore } from './map-store.js';
import { GONE } from './plan.js';
import { type MappedOwners, NO_PAGES, mappedOwners } from './round/owner-map.js';
import type { ParticipantEntry } from './round/registry-view.js';
import type { AllocationOrders } from './round/round.js';

/** All resources of a group, and its nodes. */
export interface GroupOverview {
  /** Name of the group. */
  readonly name: string;
  /** Whether the owner map is new, or was lost: nothing is granted until every member has confirmed it. */
  readonly isRecovering: boolean;
  /** Those without an owner first, then by id. */
  readonly resources: readonly OwnedBy[];
  /** By name. */
  readonly nodes: readonly GroupNode[];
  /** Resource and node of each pin. */
  readonly pins: readonly (readonly [resource: string, node: string])[];
  /** Names of the drained nodes. */
  readonly drained: readonly string[];
  /** Faults and warnings, in sentences, as far as this node knows them. The leader knows most. */
  readonly faults: readonly string[];
  /** The set that counts only if other nodes read the same, or an operator confirms it, if there is one. */
  readonly doubt?: SetInDoubt;
}

/** The owner map as the store has it. */
interface StoredOwners extends MappedOwners {
  readonly isRecovering: boolean;
}

/** Reads the owner map. @throws StoreUnavailableError, CorruptRecordError, NewerRecordError */
export async function readOwners(map: MapStore, { nodeClock }: Pick<Context, 'nodeClock'>): Promise<StoredOwners> {
  const { root } = await map.readRoot();
  const owners = await inSlices(mappedOwners(root, root ? await map.readAll(root) : NO_PAGES), nodeClock);
  return { ...owners, isRecovering: root?.grace ?? false };
}

interface OverviewFacts {
  readonly name: string;
  /** The resources as this node read them; undefined if it could not. */
  readonly ids: readonly string[] | undefined;
  readonly owners: StoredOwners;
  readonly living: readonly ParticipantEntry[];
  readonly orders: AllocationOrders;
  readonly faults: readonly string[];
  readonly doubt: SetInDoubt | undefined;
}

/** Puts the owner map, the members and the orders together. */
export function* overviewOf({
  name,
  ids,
  owners,
  living,
  orders,
  faults,
  doubt,
}: OverviewFacts): Pieces<GroupOverview> {
  const members = new Map(living.map((each) => [each.inc, each]));
  const counts = new Map<string, number>();
  const [orphaned, owned]: [OwnedBy[], OwnedBy[]] = [[], []];
  yield* eachInPieces(yield* ascending(yield* allIds(ids ?? [], owners)), (id) => {
    const owner = owners.owners.get(id);
    const from = owners.limbo.get(id);
    const pinnedTo = orders.pins.get(id);
    if (owner) counts.set(owner.inc, (counts.get(owner.inc) ?? 0) + 1);
    (owner ? owned : orphaned).push({
      id,
      ...(owner && ownerOf(owner, members.get(owner.inc))),
      ...(from !== undefined && { from: members.get(from)?.node ?? GONE }),
      ...(pinnedTo !== undefined && { pinnedTo }),
    });
  });
  const nodes = living.map(({ inc, node, weight }) => ({
    node,
    incarnation: inc,
    weight,
    owned: counts.get(inc) ?? 0,
    isDrained: orders.drained.has(node),
    ...exclusionOf(weight, orders.drained.has(node)),
  }));
  return {
    name,
    isRecovering: owners.isRecovering,
    resources: [...orphaned, ...owned],
    nodes: nodes.toSorted((one, other) => byText(one.node, other.node)),
    pins: [...orders.pins],
    drained: [...orders.drained],
    faults,
    ...(doubt && { doubt }),
  };
}

function ownerOf({ token }: { readonly token: number }, member: ParticipantEntry | undefined) {
  return member ? { node: member.node, instance: member.instance, token } : { node: GONE, token };
}

function exclusionOf(weight: number, isDrained: boolean): { readonly excluded?: string } {
  if (isDrained) return { excluded: 'an operator drains it' };
  return weight === 0 ? { excluded: 'it has the weight 0, or shuts down' } : {};
}

/** The resources of the set, in its order, and then those that only the owner map has. */
function* allIds(ids: readonly string[], { owners, limbo }: MappedOwners): Pieces<readonly string[]> {
  const all = new Set<string>();
  for (const some of [ids, owners.keys(), limbo.keys()]) yield* eachInPieces(some, (id) => void all.add(id));
  return [...all];
}
