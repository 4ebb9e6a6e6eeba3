import { eachInPieces, type Pieces } from '../../core/async/slices.js';
import { nextToken } from '../../core/decision/index.js';
import { type Assignment, type Grant, assign } from '../assign/assign.js';
import { mostMoves } from '../assign/movement-limit.js';
import { type AllocationRoot, isRootBehind, restoreRoot } from '../map/root.js';
import { type OwnedPagesChange, rewriteMap } from './next-root.js';
import { type OwnerMap, readOwnerMap } from './owner-map.js';
import { incarnationsOf, participantsOf, surelyNotDrained } from './participants.js';
import type { ParticipantEntry } from './registry-view.js';
import type { CommitRound, Leadership, Round, RoundCounts, RoundInput } from './round.js';

/**
 * One decision of the leader: from what it read to the next root, or to nothing. Pure, in pieces. Safety does not depend
 * on there being one leader, because the compare-and-set of the root is the only commit.
 *
 *     root lost, or behind what nodes know ──▶ restored, in grace
 *     in grace ──(watched for a lease, and every living node has acknowledged)──▶ everything gets new tokens
 *     taken away from a node ──▶ limbo ──(acknowledged, or the node is over)──▶ free ──▶ granted with a new token
 */
export function* planRound(input: RoundInput): Pieces<Round> {
  const { found, copy, registry, options } = input;
  const term = termOf(found, input.leadership);
  if (term === undefined) return { kind: 'idle', why: 'not-leader' };
  // A node that joined, and got a resource, between the two readings would look absent, and its resource free.
  if (registry.readFrom < input.readAt) return { kind: 'idle', why: 'registry-too-old' };
  if (!found || (copy && isRootBehind(found, copy)) || isRolledBack(found, input)) return restored(input, term);
  const bound = { ...options, lease: Math.max(options.lease, found.lease) };
  const map = yield* readOwnerMap({ root: found, pages: input.pages, registry, bound });
  const counts = () => countsOf(map, input.resources, 0);
  if (found.grace && !isGraceOver(found, input)) return { kind: 'idle', why: 'grace', counts: yield* counts() };
  let assignment: Assignment;
  try {
    assignment = yield* divide(map, input);
  } catch (error) {
    // Resources without an owner must be known, although nothing can be granted.
    return { kind: 'idle', why: 'strategy-failed', error, counts: yield* counts() };
  }
  return yield* nextRound(found, term, map, assignment, input);
}

/**
 * The term of this leader, or undefined if another one has taken over. A leader whose permit was just confirmed raises
 * its term above that of the root. Terms never come from a clock: a clock that was ahead would shut out later leaders.
 */
export function termOf(root: AllocationRoot | undefined, { term, isConfirmed }: Leadership): number | undefined {
  if (!root || root.term === term) return term;
  if (isConfirmed) return Math.max(term, root.term + 1);
  return root.term < term ? term : undefined;
}

/**
 * Whether a living node has acknowledged a root that this one does not know: the store has put back an old text. The
 * registry is read after the root, so the root may have changed meanwhile; then the commit fails.
 */
function isRolledBack(root: AllocationRoot, { registry }: RoundInput): boolean {
  if (root.grace) return false;
  return [...registry.living.values()].some(
    ({ acked }) => acked && (acked.born === root.born ? acked.seq > root.seq : true),
  );
}

function restored({ found, copy, options, now, nonce }: RoundInput, term: number): CommitRound {
  const root = restoreRoot({ copy, found, term, lease: options.lease, now, nonce });
  return {
    kind: 'commit',
    why: 'restored',
    root,
    owned: new Map(),
    limbo: new Map(),
    revoked: [],
    granted: [],
  };
}

/** Every node that may own something by a root that was lost has given it up, or is over. */
function isGraceOver({ born, seq, lease }: AllocationRoot, { registry, bornSeenAt, options }: RoundInput): boolean {
  const watched = registry.readFrom - Math.max(registry.watchedSince, bornSeenAt);
  const hasGivenUp = ({ acked }: ParticipantEntry) => acked?.born === born && acked.seq >= seq;
  return (
    watched >= Math.max(options.lease, lease) + options.tolerance && [...registry.living.values()].every(hasGivenUp)
  );
}

/**
 * Decides the owners. Members without a registry entry keep their resources until they are over: one lost page of the
 * registry must not move the resources of all its nodes.
 */
function* divide(
  { members, owners, limbo, lost }: OwnerMap,
  { registry, resources, orders, options }: RoundInput,
): Pieces<Assignment> {
  const { living } = registry;
  const isKept = (owner: string | undefined) => owner !== undefined && !living.has(owner);
  const free: string[] = [];
  yield* eachInPieces(resources, (resource) => void (isKept(owners.get(resource)) || free.push(resource)));
  const entries = [...living.values()];
  // While pages are lost, a revoked resource could not be granted to another node. Without the orders, it may be pinned.
  const isCalm = options.isSettled && lost.length === 0 && !orders.areUnknown;
  const participants = participantsOf(entries, orders.drained);
  return yield* assign({
    resources: free,
    participants: orders.areUnknown ? surelyNotDrained(participants, members) : participants,
    current: owners,
    pins: incarnationsOf(orders.pins, owners, entries),
    ...(options.strategy && { strategy: options.strategy }),
    mostMoves: isCalm ? mostMoves(options.limit ?? {}, resources.length, limbo.size) : 0,
  });
}

function* nextRound(
  root: AllocationRoot,
  term: number,
  map: OwnerMap,
  { revoke, grant, deferred }: Assignment,
  input: RoundInput,
): Pieces<Round> {
  const changes = new Map<string, OwnedPagesChange>();
  const changeOf = (inc: string) => {
    const change = changes.get(inc) ?? { revoked: new Set<string>(), granted: [] };
    changes.set(inc, change);
    return change;
  };
  yield* eachInPieces(revoke, ({ resource, from }) => {
    changeOf(from).revoked.add(resource);
    map.owners.delete(resource);
    map.limbo.set(resource, { from, seq: root.seq + 1 });
  });
  const granted = map.lost.length > 0 ? [] : yield* grantable(grant, map);
  yield* eachInPieces(granted, ({ resource, to }) => {
    changeOf(to).granted.push(resource);
    map.owners.set(resource, to);
  });
  const counts = yield* countsOf(map, input.resources, deferred);
  const isSame = changes.size === 0 && !map.isChanged && !root.grace && root.term === term;
  if (isSame) return { kind: 'idle', why: 'settled', counts };
  const token = nextToken(Math.max(root.lastToken, ...tops(input)), input.now);
  const isLimboChanged = map.isLimboChanged || revoke.length > 0;
  const written = yield* rewriteMap({ root, term, map, changes, token, isLimboChanged, input });
  const why = root.grace ? 'grace-over' : 'changed';
  return { kind: 'commit', why, ...written, revoked: revoke, granted, counts };
}

/** Resources that no node has, and that no node may still have. */
function* grantable(grant: readonly Grant[], { limbo, owners }: OwnerMap): Pieces<Grant[]> {
  const granted: Grant[] = [];
  yield* eachInPieces(grant, (each) => {
    if (!limbo.has(each.resource) && !owners.has(each.resource)) granted.push(each);
  });
  return granted;
}

function tops({ registry }: RoundInput): number[] {
  return [...registry.living.values()].map(({ top }) => top);
}

function* countsOf(
  { owners, limbo, lost }: OwnerMap,
  resources: readonly string[],
  deferred: number,
): Pieces<RoundCounts> {
  const unownedIds: string[] = [];
  yield* eachInPieces(resources, (resource) => void (owners.has(resource) || unownedIds.push(resource)));
  const unowned = unownedIds.length;
  const counts = { owned: resources.length - unowned, limbo: limbo.size, unowned, deferred, lost: lost.length };
  return unowned > 0 ? { ...counts, unownedIds } : counts;
}
