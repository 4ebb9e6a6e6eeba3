import { eachInPieces, type Pieces } from '../core/async/slices.js';
import type { AllocationPlan, MoveReason, PlannedMove, PlannedShare } from './answers.js';
import { type RevocationReason, ascending, assign } from './assign/assign.js';
import { byText } from './assign/participant.js';
import type { Strategy } from './assign/strategy.js';
import { type NodeEntry, incarnationsOf, participantsOf } from './round/participants.js';
import type { AllocationOrders } from './round/round.js';

/** A change to try without making it. Nodes are named by their names. */
export interface PlanRequest {
  /** Nodes that are to own nothing. */
  readonly drain?: readonly string[];
  /** Nodes that are gone at once, as after a crash. */
  readonly lose?: readonly string[];
  /** Nodes that join, each with its weight. */
  readonly join?: readonly {
    /** Name of the node. */
    readonly node: string;
    /** Its share, compared with the others. Default 1. */
    readonly weight?: number;
  }[];
  /** Resource and node. */
  readonly pin?: readonly (readonly [resource: string, node: string])[];
  /** Resources whose pins end. */
  readonly unpin?: readonly string[];
}

/** The owners now, and everything that decides about them. */
export interface PlanInput {
  readonly resources: readonly string[];
  readonly living: readonly NodeEntry[];
  /** Resource -> its owner by its incarnation, living or not. */
  readonly owners: ReadonlyMap<string, { readonly inc: string }>;
  readonly orders: AllocationOrders;
  readonly strategy?: Strategy | undefined;
}

/** The name of an owner that is no living member any more. */
export const GONE = '(gone)';

/**
 * Says which resources would move, from which node to which, and why, without a limit on movement. Pure: with a change, an
 * operator sees its effect before making it.
 *
 * It divides over incarnations, as a round of the leader does, because the order of their ids decides who gets one more.
 * Only the result names nodes.
 *
 * @throws AllocationStrategyError if the application's strategy gives a wrong result
 */
export function* planMoves(input: PlanInput, change: PlanRequest = {}): Pieces<AllocationPlan> {
  const { resources, living, strategy } = input;
  const current = new Map<string, string>();
  yield* eachInPieces(input.owners, ([resource, { inc }]) => void current.set(resource, inc));
  const after = livingAfter(living, change);
  const { pins, drained } = ordersAfter(input.orders, change);
  const { keep, revoke, grant } = yield* assign({
    resources,
    participants: participantsOf(after, drained),
    current,
    pins: incarnationsOf(pins, current, after),
    ...(strategy && { strategy }),
  });
  const names = new Map([...living, ...after].map(({ inc, node }) => [inc, node]));
  const nameOf = (inc: string | undefined) => (inc === undefined ? undefined : (names.get(inc) ?? GONE));
  const why = new Map<string, RevocationReason>();
  const to = new Map<string, string>();
  const kept = new Set<string>();
  const moves: PlannedMove[] = [];
  let homeless = 0;
  yield* eachInPieces(revoke, ({ resource, from, why: reason }) => {
    why.set(resource, reason);
    if (reason === 'removed') moves.push(moveOf(resource, nameOf(from), undefined, reason));
  });
  yield* eachInPieces(grant, (each) => void to.set(each.resource, each.to));
  yield* eachInPieces(keep, (resource) => void kept.add(resource));
  yield* eachInPieces(yield* ascending(resources), (resource) => {
    if (kept.has(resource)) return;
    const [source, target] = [nameOf(current.get(resource)), nameOf(to.get(resource))];
    const isSameNode = source !== undefined && source === target;
    if (target === undefined) homeless++;
    if (!isSameNode) moves.push(moveOf(resource, source, target, why.get(resource)));
  });
  const nodes = [...new Set(names.values())].toSorted(byText);
  return {
    moves,
    homeless,
    shares: yield* sharesOf(nodes, current, nameOf, moves),
    sentences: yield* sentencesOf(moves),
  };
}

/** A node that joins gets its incarnation only then, so its id here is invented, and its place among the others, too. */
function livingAfter(living: readonly NodeEntry[], { lose = [], join = [] }: PlanRequest): readonly NodeEntry[] {
  const joining = join.map(({ node, weight = 1 }, at) => ({ inc: `join-${at}`, node, weight }));
  const lost = new Set(lose);
  return [...living.filter(({ node }) => !lost.has(node)), ...joining];
}

function ordersAfter(orders: AllocationOrders, { drain = [], pin = [], unpin = [] }: PlanRequest): AllocationOrders {
  const pins = new Map([...orders.pins, ...pin]);
  for (const resource of unpin) pins.delete(resource);
  return { pins, drained: new Set([...orders.drained, ...drain]) };
}

function moveOf(resource: string, from?: string, to?: string, why?: RevocationReason): PlannedMove {
  const reason = why ?? (from === undefined ? 'no-owner' : 'owner-gone');
  return { resource, ...(from !== undefined && { from }), ...(to !== undefined && { to }), why: reason };
}

function* sharesOf(
  nodes: readonly string[],
  current: ReadonlyMap<string, string>,
  nameOf: (inc: string) => string | undefined,
  moves: readonly PlannedMove[],
): Pieces<PlannedShare[]> {
  const counts = new Map(nodes.map((node) => [node, { before: 0, change: 0 }]));
  yield* eachInPieces(current.values(), (owner) => {
    const count = counts.get(nameOf(owner) ?? '');
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
