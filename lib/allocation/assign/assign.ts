import { eachInPieces, type Pieces } from '../../core/async/slices.js';
import { sortedInPieces } from '../../core/async/sorted.js';
import { type WeightedParticipant, byText } from './participant.js';
import { type Strategy, divide } from './strategy.js';

/** Input of {@link assign}. */
export interface AssignRequest {
  /** Ids in any order, each once. */
  readonly resources: readonly string[];
  /** The living participants, in any order, each once. */
  readonly participants: readonly WeightedParticipant[];
  /** Resource -> participant that has it now, living or not. */
  readonly current: ReadonlyMap<string, string>;
  /**
   * Resource -> participant that an operator wants for it. A pin to a participant that is absent or drained has no
   * effect: the resource needs an owner.
   */
  readonly pins?: ReadonlyMap<string, string>;
  /** Default: `sticky`. */
  readonly strategy?: Strategy;
  /**
   * Largest number of resources that may move from one living participant to another for balance alone. Pins, drains
   * and resources without an owner do not count: an operator asked for them, or the work stands still.
   */
  readonly mostMoves?: number;
}

/** Why a participant must give a resource back. */
export type RevocationReason = 'removed' | 'pinned' | 'drained' | 'balance';

/** A resource that its participant must give back. */
export interface Revocation {
  readonly resource: string;
  readonly from: string;
  readonly why: RevocationReason;
}

/** A resource that a participant is to get, after `from` has given it back. */
export interface Grant {
  readonly resource: string;
  readonly to: string;
  /** The living participant that has it now. */
  readonly from?: string;
}

/** Result of {@link assign}. All lists are in ascending order of the resources. */
export interface Assignment {
  readonly keep: readonly string[];
  readonly revoke: readonly Revocation[];
  readonly grant: readonly Grant[];
  /** Number of resources that would move too, if `mostMoves` allowed it. */
  readonly deferred: number;
}

/**
 * Divides resources over participants. Pure, and the same for the same sets, whatever their order.
 *
 * - Even: a share differs from the ideal by less than 1 (see `quotasOf`).
 * - Sticky: no division that is as even takes fewer resources away from living participants.
 * - Idempotent: after its result, it changes nothing.
 *
 * The work is done in pieces: 100,000 resources take longer than the event loop may be blocked.
 *
 * @throws AllocationStrategyError if the application's strategy gives a wrong result
 */
export function* assign(request: AssignRequest): Pieces<Assignment> {
  const resources = yield* ascending(request.resources);
  const participants = request.participants.toSorted((one, other) => byText(one.id, other.id));
  const weights = new Map(participants.map(({ id, weight }) => [id, weight]));
  const pins = new Map([...(request.pins ?? [])].filter(([, id]) => weights.get(id)));
  const target = yield* targetOf({ ...request, resources, participants, pins });
  const { current, mostMoves = Infinity } = request;
  return yield* difference({ resources, current, target, weights, pins, mostMoves });
}

/** Sorts, unless the list is in order already, as that of a master set is. */
export function* ascending(ids: readonly string[]): Pieces<readonly string[]> {
  let isAscending = true;
  let former: string | undefined;
  yield* eachInPieces(ids, (id) => {
    isAscending &&= former === undefined || former <= id;
    former = id;
  });
  return isAscending ? ids : yield* sortedInPieces(ids, byText);
}

type Prepared = AssignRequest & { readonly pins: ReadonlyMap<string, string> };

/** The participant of each resource, with pins. Resources are left out only if there is no participant to own them. */
function* targetOf({ resources, participants, current, pins, strategy }: Prepared): Pieces<Map<string, string>> {
  const able = participants.filter(({ weight }) => weight > 0);
  const counts = new Map(able.map(({ id }) => [id, { has: 0, pinned: 0 }]));
  const free: string[] = [];
  const pinned: [resource: string, participant: string][] = [];
  yield* eachInPieces(resources, (resource) => {
    const pin = pins.get(resource);
    const count = counts.get(pin ?? current.get(resource) ?? '');
    if (count) count.has++;
    if (pin === undefined) return void free.push(resource);
    counts.get(pin)!.pinned++;
    pinned.push([resource, pin]);
  });
  const claimants = able.map((participant) => ({ ...participant, ...counts.get(participant.id)! }));
  const division = { resources: free, participants: able, current, claimants, total: resources.length };
  const target = yield* divide(strategy ?? 'sticky', division);
  for (const [resource, participant] of pinned) target.set(resource, participant);
  return target;
}

interface Difference {
  readonly resources: readonly string[];
  readonly current: ReadonlyMap<string, string>;
  readonly target: ReadonlyMap<string, string>;
  readonly weights: ReadonlyMap<string, number>;
  readonly pins: ReadonlyMap<string, string>;
  readonly mostMoves: number;
}

function* difference({ resources, current, target, weights, pins, mostMoves }: Difference): Pieces<Assignment> {
  const keep: string[] = [];
  const revoke: Revocation[] = [];
  const grant: Grant[] = [];
  let moved = 0;
  let deferred = 0;
  const reasonOf = (resource: string, from: string): RevocationReason => {
    if (pins.has(resource)) return 'pinned';
    return weights.get(from) === 0 ? 'drained' : 'balance';
  };
  yield* eachInPieces(resources, (resource) => {
    const from = current.get(resource);
    const to = target.get(resource);
    if (from === undefined || !weights.has(from)) return void (to !== undefined && grant.push({ resource, to }));
    if (from === to) return void keep.push(resource);
    const why = reasonOf(resource, from);
    if (why === 'balance' && moved === mostMoves) {
      deferred++;
      return void keep.push(resource);
    }
    if (why === 'balance') moved++;
    revoke.push({ resource, from, why });
    if (to !== undefined) grant.push({ resource, to, from });
  });
  const removed = yield* removedFrom(current, resources, weights);
  return { keep, revoke: [...removed, ...revoke], grant, deferred };
}

/** Resources that left the master set. */
function* removedFrom(
  current: ReadonlyMap<string, string>,
  resources: readonly string[],
  weights: ReadonlyMap<string, number>,
): Pieces<Revocation[]> {
  const wanted = new Set<string>();
  yield* eachInPieces(resources, (resource) => void wanted.add(resource));
  const removed: Revocation[] = [];
  yield* eachInPieces(current, ([resource, from]) => {
    if (!wanted.has(resource) && weights.has(from)) removed.push({ resource, from, why: 'removed' });
  });
  return removed;
}
