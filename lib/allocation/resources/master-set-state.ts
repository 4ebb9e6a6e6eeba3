import { eachInPieces, type Pieces } from '../../core/async/slices.js';
import { messageOf, show } from '../../core/decision/index.js';
import { ascending } from '../assign/assign.js';
import type { MasterSet } from './master-set.js';

/**
 * The set of resources that counts, over several readings. A source that answers with nothing, or with a part, must not
 * take the work away from all nodes. So such a reading is in doubt: it counts when the next one is like it, and more than
 * half of the nodes that have read a set read the same, or when an operator confirms it.
 *
 *     reading                                    | the set that counts          | then
 *     ------------------------------------------ | ---------------------------- | ---------------------
 *     at least half of the known resources       | this one                     |
 *     at least as many as an operator confirmed  | this one                     |
 *     fewer, for the first time                  | the last one                 | wait for the next one
 *     fewer, as the reading before               | this one, if others agree    | {@link settleDoubt}
 *     fewer, in another way                      | what both lack leaves, likewise | {@link settleDoubt}
 *     an error                                   | the last one                 | the state says so
 *     errors since the node leads                | {@link withOwnerMap}         | the state says so
 */
export interface MasterSetState<T = unknown> {
  /** Absent before the first reading: then nothing may be decided. */
  readonly current?: MasterSet<T>;
  readonly doubt?: Doubt<T>;
  /** Sentence for people, if the last reading does not count. */
  readonly problem?: string;
}

/** A reading that lacks more than half of the known resources. */
export interface Doubt<T = unknown> {
  readonly reading: MasterSet<T>;
  /** Number of the known resources, and how many of them the reading has. */
  readonly known: number;
  readonly kept: number;
  /** The set that counts when other nodes agree. Absent before the second such reading. */
  readonly next?: MasterSet<T>;
  /** The two readings differ: the source changes all the time, so two nodes never read quite the same. */
  readonly isChanging: boolean;
}

/**
 * Takes a new reading.
 *
 * @param mapped ids of the owner map. They are the known resources of a node that has not read the set before
 * @param enough number of known resources with which it counts, because an operator has confirmed a set of so many
 */
export function* takeReading<T>(
  state: MasterSetState<T>,
  reading: MasterSet<T>,
  mapped: readonly string[],
  enough = Number.POSITIVE_INFINITY,
): Pieces<MasterSetState<T>> {
  const known = state.current?.ids ?? mapped;
  let kept = 0;
  yield* eachInPieces(known, (id) => void (kept += reading.items.has(id) ? 1 : 0));
  if (kept >= enough || kept * 2 >= known.length) return { current: reading };
  const former = state.doubt?.reading;
  const next = former && (yield* lackingInBoth(known, former, reading));
  const isChanging = former !== undefined && former.digest !== reading.digest;
  const doubt = { reading, known: known.length, kept, isChanging, ...(next && { next }) };
  const current = state.current ?? (yield* withOwnerMap({ ...reading, ids: [] }, mapped));
  return { current, doubt, problem: doubtful(doubt) };
}

/** The reading, and the known resources that only the former one had: what one reading has, another one may lack by chance. */
function* lackingInBoth<T>(
  known: readonly string[],
  former: MasterSet<T>,
  reading: MasterSet<T>,
): Pieces<MasterSet<T>> {
  if (former.digest === reading.digest) return reading;
  const kept: string[] = [];
  yield* eachInPieces(known, (id) => void (former.items.has(id) && kept.push(id)));
  return yield* withOwnerMap(reading, kept);
}

/** The nodes that have read a set, this one included, and how many of them read the same as it. */
export interface Votes {
  readonly agreeing: number;
  readonly all: number;
  /** Most nodes that read one other set. */
  readonly against: number;
}

/** Counts who reads the same. @param others the digests of the other living nodes */
export function votesOn({ reading, known, isChanging }: Doubt, others: readonly NodeSet[]): Votes {
  const digests = others.flatMap(({ digest }) => digest ?? []);
  const agrees = (digest: string) => digest === reading.digest || (isChanging && sizeOf(digest) * 2 < known);
  const against = new Map<string, number>();
  for (const digest of digests) if (!agrees(digest)) against.set(digest, (against.get(digest) ?? 0) + 1);
  const agreeing = 1 + digests.filter(agrees).length;
  return { agreeing, all: 1 + digests.length, against: Math.max(0, ...against.values()) };
}

/** Lets a reading in doubt count if more than half of the nodes that have read a set read the same. */
export function settleDoubt<T>(state: MasterSetState<T>, others: readonly NodeSet[]): MasterSetState<T> {
  const { doubt } = state;
  if (!doubt?.next) return state;
  const votes = votesOn(doubt, others);
  return votes.agreeing * 2 > votes.all ? { current: doubt.next } : { ...state, problem: doubtful(doubt, votes) };
}

function doubtful({ known, kept }: Doubt, votes?: Votes): string {
  const found = `resources: only ${kept} of ${known} known resources are left, and all stay`;
  const until = votes
    ? `${votes.agreeing} of ${votes.all} nodes read the same, and more than half must`
    : 'the next reading must have as few';
  return `${found}: ${until}, or confirm it: gatekeeper allocation <group> confirm`;
}

/**
 * The set of a new leader that can't read the resources: what it read before, and all that the owner map has. The reading
 * may be older than the one of the former leader, and must take nothing away.
 */
export function* withOwnerMap<T>(set: MasterSet<T>, mapped: Iterable<string>): Pieces<MasterSet<T>> {
  const ids = new Set<string>();
  for (const some of [set.ids, mapped]) yield* eachInPieces(some, (id) => void ids.add(id));
  // The digest stays that of the reading: nodes compare what they have read.
  return ids.size === set.ids.length ? set : { ...set, ids: yield* ascending([...ids]) };
}

/** Notes that the resources could not be read: the last set stays. */
export function failReading<T>({ current }: MasterSetState<T>, error: unknown): MasterSetState<T> {
  const effect = current
    ? `The ${current.ids.length} resources that are known stay`
    : 'Nothing is allocated until then';
  return { ...(current && { current }), problem: `resources: they could not be read: ${messageOf(error)}. ${effect}` };
}

/** Number of resources of a set. @returns NaN for a foreign text */
function sizeOf(digest: string): number {
  return Number.parseInt(digest, 10);
}

/** Digest of the set of a node, as its entry in the registry has it. */
export interface NodeSet {
  readonly node: string;
  readonly digest?: string | undefined;
}

/** Warnings about nodes that read other resources than the leader, whose set counts. */
export function differingSets({ ids, digest }: MasterSet, nodes: readonly NodeSet[]): string[] {
  return nodes
    .filter((each) => each.digest !== undefined && each.digest !== digest)
    .map(
      (each) =>
        `resources: node ${show(each.node)} reads other resources (${show(each.digest)}) than the leader (${ids.length} resources, ${show(digest)}). The leader's count: let all nodes read the same source`,
    );
}
