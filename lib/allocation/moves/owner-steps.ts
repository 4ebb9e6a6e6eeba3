import type { OwnerMoves } from './move-answers.js';
import type { OwnerMoveReason } from './move-kinds.js';
import { eachInPieces, type Pieces } from '../../core/async/slices.js';
import type { KnownIncarnation } from '../round/group-registry.js';
import { type MappedOwners, mappedOwners } from '../round/owner-map.js';
import type { CommitRound, RoundInput } from '../round/round.js';

/** One resource in one change of the owner map. */
export interface OwnerStep extends Omit<OwnerMoves, 'count' | 'resources'> {
  readonly resource: string;
}

/** The owner from whom a resource was taken, by its name and its process, and why. */
export type Taken = Required<Pick<OwnerStep, 'from' | 'why'>> & Pick<OwnerStep, 'fromInstance'>;

/** A committed round, and facts that explain it. */
interface CommittedRound {
  readonly input: Pick<RoundInput, 'found' | 'pages' | 'orders' | 'registry'>;
  readonly round: Pick<CommitRound, 'why' | 'root' | 'revoked' | 'granted'>;
  /** Resources that this leader took from their owners in former rounds, and that have no next owner yet. */
  readonly taken: ReadonlyMap<string, Taken>;
  readonly nodeOf: (incarnation: string) => KnownIncarnation;
}

/**
 * The steps of all resources in a round: first those that got an owner, then those that lost one. A resource that moves
 * between living nodes is in two rounds: it is taken in one, and given in a later one.
 */
export function* stepsOf(committed: CommittedRound): Pieces<OwnerStep[]> {
  const { round, nodeOf } = committed;
  // A restored owner map takes nothing away: nodes keep what they own, until the grace is over.
  if (round.why === 'restored') return [];
  const former = yield* mappedOwners(committed.input.found, committed.input.pages);
  const steps: OwnerStep[] = [];
  const given = new Set<string>();
  yield* eachInPieces(round.granted, ({ resource, to }) => {
    given.add(resource);
    const { node, instance } = nodeOf(to);
    const reason = reasonOf(resource, node, former, committed);
    steps.push({
      step: 'given',
      resource,
      ...reason,
      to: node,
      ...(instance !== undefined && { toInstance: instance }),
    });
  });
  yield* eachInPieces(round.revoked, ({ resource, from, why }) => {
    const owner = nodeOf(from);
    const isLeaving = why === 'drained' && !committed.input.orders.drained.has(owner.node);
    steps.push({ step: 'taken', resource, ...takenFrom(owner), why: isLeaving ? 'leaving' : why });
  });
  // An owner that is over loses everything at once, also what no other node gets in this round.
  yield* eachInPieces(former.owners, ([resource, { inc }]) => {
    if (round.root.members.has(inc) || given.has(resource)) return;
    steps.push({ step: 'taken', resource, ...wentWith(nodeOf(inc)) });
  });
  return steps;
}

/** Another leader may have taken the resource. Then the orders, and the state of the former owner, tell most reasons. */
function reasonOf(
  resource: string,
  to: string,
  { owners, limbo }: MappedOwners,
  { input: { orders, registry }, taken, nodeOf }: CommittedRound,
): Taken | { readonly why: OwnerMoveReason } {
  const known = taken.get(resource);
  if (known) return known;
  const gone = owners.get(resource)?.inc;
  if (gone !== undefined) return wentWith(nodeOf(gone));
  const inc = limbo.get(resource);
  if (inc === undefined) return { why: 'no-owner' };
  const former = nodeOf(inc);
  const from = takenFrom(former);
  if (orders.pins.get(resource) === to) return { ...from, why: 'pinned' };
  if (orders.drained.has(former.node)) return { ...from, why: 'drained' };
  const living = registry.living.get(inc);
  if (!living) return wentWith(former);
  return { ...from, why: living.weight === 0 ? 'leaving' : 'balance' };
}

/** A node that is over lost all its resources. */
function wentWith(owner: KnownIncarnation): Taken {
  return { ...takenFrom(owner), why: owner.hasLeft ? 'leaving' : 'owner-gone' };
}

function takenFrom({ node, instance }: KnownIncarnation): Omit<Taken, 'why'> {
  return { from: node, ...(instance !== undefined && { fromInstance: instance }) };
}
