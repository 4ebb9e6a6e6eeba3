import { eachInPieces, type Pieces } from '../../core/async/slices.js';
import { messageOf, show } from '../../core/decision/index.js';
import { AllocationStrategyError } from '../allocation.errors.js';
import { type WeightedParticipant, byText } from './participant.js';

/** Input of a strategy. Pinned resources and drained participants are left out. */
export interface StrategyInput {
  /** In ascending order, each once. */
  readonly resources: readonly string[];
  /** Living participants with a weight above 0, in ascending order of their ids. At least one. */
  readonly participants: readonly WeightedParticipant[];
  /** Resource -> participant that has it now. */
  readonly current: ReadonlyMap<string, string>;
}

/**
 * A strategy of the application: a pure function that gives each resource exactly one of the participants. It must
 * return quickly, because it runs in one go.
 */
export type StrategyFunction = (input: StrategyInput) => Iterable<readonly [resource: string, participant: string]>;

/**
 * `sticky`: even, with the fewest moves. `even`: a pure function of the sorted sets, in blocks of neighbouring ids. It
 * moves more, but the result does not depend on the past.
 */
export type Strategy = 'sticky' | 'even' | StrategyFunction;

/** Participants that have, or are pinned, so many of the resources; and the resources to divide. */
interface Division extends StrategyInput {
  readonly claimants: readonly QuotaParticipant[];
  /** Number of all resources, with those that are pinned. */
  readonly total: number;
}

/** Decides the participant of each resource that is not pinned. @throws AllocationStrategyError */
export function divide(strategy: Strategy, division: Division): Pieces<Map<string, string>> {
  if (typeof strategy === 'function') return divideBy(strategy, division);
  return strategy === 'even' ? divideEvenly(division) : divideSticky(division);
}

/** Each participant keeps its first ones, up to its quota. */
function* divideSticky(division: Division): Pieces<Map<string, string>> {
  const { resources, current, claimants, total } = division;
  const left = roomOf(quotasOf(total, claimants), claimants);
  const target = new Map<string, string>();
  const free: string[] = [];
  yield* eachInPieces(resources, (resource) => {
    const owner = current.get(resource);
    const room = owner === undefined ? 0 : (left.get(owner) ?? 0);
    if (owner === undefined || room === 0) return void free.push(resource);
    left.set(owner, room - 1);
    target.set(resource, owner);
  });
  yield* fill(free, division, left, target);
  return target;
}

function* divideEvenly(division: Division): Pieces<Map<string, string>> {
  const claimants = division.claimants.map((claimant) => ({ ...claimant, has: 0 }));
  const left = roomOf(quotasOf(division.total, claimants), claimants);
  const target = new Map<string, string>();
  yield* fill(division.resources, division, left, target);
  return target;
}

function roomOf(quotas: ReadonlyMap<string, number>, claimants: readonly QuotaParticipant[]): Map<string, number> {
  return new Map(claimants.map(({ id, pinned }) => [id, quotas.get(id)! - pinned]));
}

/** Gives free resources to the participants that have room, in the order of their ids. */
function* fill(
  free: readonly string[],
  { participants }: StrategyInput,
  left: Map<string, number>,
  target: Map<string, string>,
): Pieces<void> {
  let index = 0;
  yield* eachInPieces(free, (resource) => {
    while (index < participants.length && left.get(participants[index]!.id) === 0) index++;
    const id = participants[index]?.id;
    if (id === undefined) return;
    left.set(id, left.get(id)! - 1);
    target.set(resource, id);
  });
}

/** A strategy with many wrong pairs must not make an error text of megabytes. */
const MOST_FAULTS = 10;

function* divideBy(strategy: StrategyFunction, { resources, participants, current }: Division) {
  // A strategy need not expect this: it could not give the resources to any participant.
  if (participants.length === 0) return new Map<string, string>();
  const pairs = yield* pairsOf(strategy, { resources, participants, current });
  const living = new Set(participants.map(({ id }) => id));
  const open = new Set(resources);
  const target = new Map<string, string>();
  const faults: string[] = [];
  yield* eachInPieces(pairs, (pair) => {
    const fault = faultOf(pair, open, living, target);
    if (fault === undefined) target.set(pair[0], pair[1]);
    else if (faults.length < MOST_FAULTS) faults.push(fault);
  });
  const missing = resources.find((resource) => !target.has(resource));
  if (faults.length === 0 && missing !== undefined) {
    faults.push(`resource ${show(missing)} is missing (${resources.length - target.size} of ${resources.length} are)`);
  }
  if (faults.length > 0) throw new AllocationStrategyError(faults);
  return target;
}

function* pairsOf(strategy: StrategyFunction, input: StrategyInput): Pieces<(readonly [string, string])[]> {
  const most = input.resources.length + MOST_FAULTS;
  const pairs: (readonly [string, string])[] = [];
  try {
    // An endless iterable ends here: there are more pairs than resources, so one of them is given twice.
    for (const pair of strategy(input)) if (pairs.push(pair) > most) break;
  } catch (error) {
    throw new AllocationStrategyError([`it threw: ${messageOf(error)}`], { cause: error });
  }
  yield pairs.length;
  return pairs;
}

function faultOf(
  pair: unknown,
  open: ReadonlySet<string>,
  living: ReadonlySet<string>,
  target: ReadonlyMap<string, string>,
): string | undefined {
  if (!Array.isArray(pair)) return `${show(pair)} is not a pair [resource, participant]`;
  const [resource, participant] = pair as [string, string];
  if (!open.has(resource)) return `${show(resource)} is not a resource of its input`;
  if (!living.has(participant)) {
    return `resource ${show(resource)}: ${show(participant)} is not a living participant with a weight above 0`;
  }
  return target.has(resource) ? `resource ${show(resource)} is given twice` : undefined;
}

/** A participant with the resources that bear on its quota. */
interface QuotaParticipant extends WeightedParticipant {
  /** Number of resources that it has, or that are pinned to it. */
  readonly has: number;
  /** Number of resources that are pinned to it. */
  readonly pinned: number;
}

/**
 * How many resources each participant gets. Without pins, |quota - ideal| < 1, where the ideal is the weight's part of
 * the total: everyone gets the floor of it, and the rest goes out one by one. Those that have more than their floor come
 * first, because each of them would have to give a resource away otherwise. Then the larger remainder comes first, then
 * the lower id.
 *
 * A participant whose pins exceed its ideal gets exactly its pins, and the others divide the rest.
 *
 * The order is why a second call changes nothing: a participant that got one of the rest has more than its floor then.
 */
function quotasOf(total: number, claimants: readonly QuotaParticipant[]): Map<string, number> {
  const quotas = new Map(claimants.map(({ id, pinned }) => [id, pinned]));
  let open = claimants.filter(({ weight }) => weight > 0);
  let left = total;
  for (;;) {
    const weights = sum(open, ({ weight }) => weight);
    const isOver = ({ pinned, weight }: QuotaParticipant) => pinned * weights > left * weight;
    const over = open.filter(isOver);
    if (over.length === 0) break;
    left -= sum(over, ({ pinned }) => pinned);
    open = open.filter((claimant) => !over.includes(claimant));
  }
  for (const [id, quota] of evenQuotas(left, open)) quotas.set(id, quota);
  return quotas;
}

function evenQuotas(total: number, claimants: readonly QuotaParticipant[]): [id: string, quota: number][] {
  const weights = sum(claimants, ({ weight }) => weight);
  const rows = claimants.map(({ id, weight, has }) => {
    const floor = Math.floor((total * weight) / weights);
    return { id, floor, remainder: total * weight - floor * weights, isAbove: has > floor };
  });
  const extras = total - sum(rows, ({ floor }) => floor);
  const first = rows
    .filter(({ remainder }) => remainder > 0)
    .toSorted(
      (one, other) =>
        Number(other.isAbove) - Number(one.isAbove) || other.remainder - one.remainder || byText(one.id, other.id),
    )
    .slice(0, extras);
  const lucky = new Set(first);
  return rows.map((row) => [row.id, row.floor + (lucky.has(row) ? 1 : 0)]);
}

function sum<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((total, item) => total + count(item), 0);
}
