import type { Pieces } from '../async/slices.js';
import { type RevocationReason, ascending, assign } from './assign/assign.js';
import { type WeightedParticipant, byText } from './assign/participant.js';
import type { Strategy } from './assign/strategy.js';
import { eachInPieces } from './each-in-pieces.js';

/** The owners now, and everything that decides about them. */
export interface PlanInput {
  readonly resources: readonly string[];
  readonly participants: readonly WeightedParticipant[];
  /** Resource -> participant. */
  readonly current: ReadonlyMap<string, string>;
  readonly pins: ReadonlyMap<string, string>;
  readonly strategy?: Strategy;
}

/** A change to try without making it. */
export interface PlannedChange {
  /** Participants that are to own nothing. */
  readonly drain?: readonly string[];
  /** Participants that are gone at once, as after a crash. */
  readonly lose?: readonly string[];
  /** Participants that join, or get another weight. */
  readonly join?: readonly WeightedParticipant[];
  /** Resource -> participant. */
  readonly pin?: ReadonlyMap<string, string>;
  readonly unpin?: readonly string[];
}

/** Why a resource gets another owner. */
export type MoveReason = RevocationReason | 'no-owner' | 'owner-gone';

/** One resource that would get another owner, or none. */
export interface PlannedMove {
  /** Id of the resource. */
  readonly resource: string;
  /** Its owner now, if it has one. */
  readonly from?: string;
  /** Absent: no participant may own it. */
  readonly to?: string;
  /** Why it moves. */
  readonly why: MoveReason;
}

/** Number of resources of one participant before and after. */
export interface PlannedShare {
  /** The participant. */
  readonly id: string;
  /** Number of its resources now. */
  readonly before: number;
  /** Number of its resources after the change. */
  readonly after: number;
}

/** Moves that a change would cause, and the resources of each node after it. */
export interface AllocationPlan {
  /** Resources that left the set first, then in ascending order. */
  readonly moves: readonly PlannedMove[];
  /** In ascending order of the ids. */
  readonly shares: readonly PlannedShare[];
  /** One sentence per pair of participants and reason, the largest first. */
  readonly sentences: readonly string[];
}

/**
 * Says which resources would move, from which participant to which, and why, without a limit on movement. Pure: with a
 * change, an operator sees its effect before making it.
 *
 * @throws AllocationStrategyError if the application's strategy gives a wrong result
 */
export function* planMoves(input: PlanInput, change: PlannedChange = {}): Pieces<AllocationPlan> {
  const { current, resources } = input;
  const participants = participantsAfter(input.participants, change);
  const pins = new Map([...input.pins, ...(change.pin ?? [])]);
  for (const resource of change.unpin ?? []) pins.delete(resource);
  const { keep, revoke, grant } = yield* assign({ ...input, participants, pins });
  const why = new Map<string, RevocationReason>();
  const to = new Map<string, string>();
  const kept = new Set<string>();
  const moves: PlannedMove[] = [];
  yield* eachInPieces(revoke, ({ resource, from, why: reason }) => {
    why.set(resource, reason);
    if (reason === 'removed') moves.push({ resource, from, why: reason });
  });
  yield* eachInPieces(grant, (each) => void to.set(each.resource, each.to));
  yield* eachInPieces(keep, (resource) => void kept.add(resource));
  yield* eachInPieces(yield* ascending(resources), (resource) => {
    if (!kept.has(resource)) moves.push(moveOf(resource, current.get(resource), to.get(resource), why.get(resource)));
  });
  const ids = [...new Set([...input.participants, ...participants].map(({ id }) => id))].toSorted(byText);
  return { moves, shares: yield* sharesOf(ids, current, moves), sentences: yield* sentencesOf(moves) };
}

function participantsAfter(
  participants: readonly WeightedParticipant[],
  { drain = [], lose = [], join = [] }: PlannedChange,
) {
  const joined = new Map([...participants, ...join].map((participant) => [participant.id, participant]));
  for (const id of lose) joined.delete(id);
  return [...joined.values()].map((each) => (drain.includes(each.id) ? { ...each, weight: 0 } : each));
}

function moveOf(resource: string, from?: string, to?: string, why?: RevocationReason): PlannedMove {
  const reason = why ?? (from === undefined ? 'no-owner' : 'owner-gone');
  return { resource, ...(from !== undefined && { from }), ...(to !== undefined && { to }), why: reason };
}

function* sharesOf(
  ids: readonly string[],
  current: ReadonlyMap<string, string>,
  moves: readonly PlannedMove[],
): Pieces<PlannedShare[]> {
  const counts = new Map(ids.map((id) => [id, { before: 0, change: 0 }]));
  yield* eachInPieces(current.values(), (owner) => {
    const count = counts.get(owner);
    if (count) count.before++;
  });
  yield* eachInPieces(moves, ({ from, to }) => {
    const [source, target] = [counts.get(from ?? ''), counts.get(to ?? '')];
    if (source) source.change--;
    if (target) target.change++;
  });
  return [...counts].map(([id, { before, change }]) => ({ id, before, after: before + change }));
}

const REASONS: Record<MoveReason, string> = {
  removed: 'no longer in the master set',
  pinned: 'pinned',
  drained: 'the node is drained',
  balance: 'for balance',
  'no-owner': 'without an owner now',
  'owner-gone': 'the owner is gone',
};

function* sentencesOf(moves: readonly PlannedMove[]): Pieces<string[]> {
  const groups = new Map<string, { readonly move: PlannedMove; count: number }>();
  yield* eachInPieces(moves, (move) => {
    const key = JSON.stringify([move.from, move.to, move.why]);
    const group = groups.get(key) ?? { move, count: 0 };
    groups.set(key, group);
    group.count++;
  });
  const largestFirst = [...groups.values()].toSorted((one, other) => other.count - one.count);
  return largestFirst.map(({ move, count }) => sentenceOf(move, count));
}

function sentenceOf({ from, to, why }: PlannedMove, count: number): string {
  const resources = count === 1 ? '1 resource' : `${count} resources`;
  const way = [...(from === undefined ? [] : [`from ${from}`]), to === undefined ? 'to no node' : `to ${to}`];
  return `${resources} ${way.join(' ')}: ${REASONS[why]}`;
}
