import type { Pieces } from '../../async/slices.js';
import { messageOf, show } from '../../decision/index.js';
import { ascending } from '../assign/assign.js';
import { eachInPieces } from '../each-in-pieces.js';
import type { MasterSet } from './master-set.js';

/**
 * The set of resources that counts, over several readings. A source that answers with nothing, or with a part, must not
 * take the work away from all nodes. So such a reading counts only when the next one is the same.
 *
 *     reading                                    | the set that counts  | then
 *     ------------------------------------------ | -------------------- | ---------------------
 *     at least half of the known resources       | this one             |
 *     fewer, for the first time                  | the last one         | wait for the next one
 *     fewer, the same as the reading before      | this one             |
 *     an error                                   | the last one         | the state says so
 *     errors since the node leads                | {@link withOwnerMap} | the state says so
 */
export interface MasterSetState<T = unknown> {
  /** Absent before the first valid reading: then nothing may be decided. */
  readonly current?: MasterSet<T>;
  /** Digest of the last reading, if it lacked more than half of the known resources. */
  readonly suspect?: string;
  /** Sentence for people, if the last reading does not count. */
  readonly problem?: string;
}

/**
 * Takes a new reading.
 *
 * @param owned ids of the owner map. They are the known resources of a node that has not read the set before.
 */
export function* takeReading<T>(
  state: MasterSetState<T>,
  reading: MasterSet<T>,
  owned: readonly string[],
): Pieces<MasterSetState<T>> {
  const known = state.current?.ids ?? owned;
  let kept = 0;
  yield* eachInPieces(known, (id) => void (kept += reading.items.has(id) ? 1 : 0));
  const isSuspicious = kept * 2 < known.length;
  if (!isSuspicious || state.suspect === reading.digest) return { current: reading };
  return {
    ...state,
    suspect: reading.digest,
    problem: `resources: only ${kept} of ${known.length} known resources are left. The former ones stay until the next reading returns the same`,
  };
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
