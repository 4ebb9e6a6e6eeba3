import { eachInPieces, type Pieces } from '../../core/async/slices.js';
import { type OwnedPage, resourcesIn } from '../map/page.js';
import type { AllocationRoot, RootId } from '../map/root.js';

/**
 * A node's belief of what it owns. It is true only while the membership lease of the incarnation is held by the node's
 * own clocks; {@link noBelief} follows a lapse.
 *
 *     root gives it ──▶ owned ──(root takes it away)──▶ ending ──(callback ends, or its time)──▶ gone ──▶ acknowledged
 *
 * While the callback runs, the node still owns the resource: its work has not stopped yet.
 */
export interface Belief {
  readonly inc: string;
  /** The last root that was applied. */
  readonly applied?: RootId;
  /** The root was applied although a page of this node was missing, so a page that appears later still counts. */
  readonly isIncomplete: boolean;
  /** Resource -> token. The same object until something changes. */
  readonly owned: ReadonlyMap<string, number>;
  /** Resources that were taken away and whose callback still runs. */
  readonly ending: readonly Ending[];
  /** The highest token that this node has seen, its own or not. It survives a lapse. */
  readonly top: number;
}

/** Resources that one root took away. */
export interface Ending {
  readonly id: number;
  /** No root from this `seq` on may be acknowledged before the callback has ended. */
  readonly seq: number;
  readonly resources: ReadonlyMap<string, number>;
}

/** Result of {@link applyRoot}. */
export interface Applied {
  readonly belief: Belief;
  /** Resources that the node owns from now on. */
  readonly added: readonly OwnedResource[];
  /** Resources that the node keeps, with a new token. */
  readonly renewed: readonly OwnedResource[];
  /** Resources that were taken away. Run the callback, then call {@link endRevocation}. */
  readonly revoked?: Ending;
  /** Keys of pages that this node needs and that are missing. */
  readonly missing: readonly string[];
}

export interface OwnedResource {
  readonly id: string;
  readonly token: number;
}

/** The belief of a new incarnation. @param top of the incarnation before */
export function noBelief(inc: string, top = 0): Belief {
  return { inc, isIncomplete: false, owned: new Map(), ending: [], top };
}

/** The token of a resource, if the node owns it. Its callback may be running. */
export function tokenOf({ owned, ending }: Belief, resource: string): number | undefined {
  const token = owned.get(resource);
  if (token !== undefined) return token;
  return ending.find(({ resources }) => resources.has(resource))?.resources.get(resource);
}

/**
 * The newest root that the node may acknowledge: the last one that it applied, but none from the first one on whose
 * revocation still runs. A node reads only some of the roots. So a revocation counts from the first root that it has not
 * seen, not from the one in which it noticed the revocation.
 */
export function acknowledgementOf({ applied, ending }: Belief): RootId | undefined {
  return applied && { born: applied.born, seq: Math.min(applied.seq, ...ending.map(({ seq }) => seq - 1)) };
}

/** Ends the belief in resources whose callback has ended, or whose time is up. */
export function endRevocation(belief: Belief, { id }: Pick<Ending, 'id'>): Belief {
  return { ...belief, ending: belief.ending.filter((each) => each.id !== id) };
}

/**
 * Whether a root counts for a node.
 *
 * | root                               | counts                                                                          |
 * | ---------------------------------- | ------------------------------------------------------------------------------- |
 * | the node has applied none          | yes                                                                             |
 * | same lineage, higher `seq`         | yes                                                                             |
 * | same lineage, lower `seq`          | no: an old text was put back                                                    |
 * | other lineage, in grace            | yes                                                                             |
 * | other lineage, not in grace        | no: a grace ends only after every living node applied it, so this is an old one |
 */
export function countsFor({ applied, isIncomplete }: Belief, root: AllocationRoot): boolean {
  if (!applied) return true;
  if (applied.born !== root.born) return root.grace;
  return root.seq > applied.seq || (root.seq === applied.seq && isIncomplete);
}

/**
 * Applies a root: pure. Nothing is applied while a page of the node is missing, because a resource of that page would
 * count as taken away. In a grace the missing page counts as empty: otherwise the node would never acknowledge it, and
 * the grace would never end.
 *
 * @param pages the pages of this node that were found, by key
 */
export function* applyRoot(
  belief: Belief,
  root: AllocationRoot,
  pages: ReadonlyMap<string, OwnedPage>,
): Pieces<Applied> {
  const known = { ...belief, top: Math.max(belief.top, root.lastToken) };
  const nothing = { belief: known, added: [], renewed: [], missing: [] };
  if (!countsFor(belief, root)) return nothing;
  const keys = root.members.get(belief.inc) ?? [];
  const missing = keys.filter((key) => !pages.has(key));
  if (missing.length > 0 && !root.grace) return { ...nothing, missing };
  const given = yield* givenBy(keys.flatMap((key) => pages.get(key) ?? []));
  const revoked = yield* revocation(known, root, given);
  const { owned, ending, added, renewed } = yield* begin(known, root, given);
  const isSame = added.length + renewed.length === 0 && !revoked;
  const next: Belief = {
    ...known,
    applied: { born: root.born, seq: root.seq },
    isIncomplete: missing.length > 0,
    owned: isSame ? known.owned : owned,
    ending: [...ending, ...(revoked ? [revoked] : [])],
  };
  return { belief: next, added, renewed, ...(revoked && { revoked }), missing };
}

function* givenBy(pages: readonly OwnedPage[]): Pieces<Map<string, number>> {
  const given = new Map<string, number>();
  yield* eachInPieces(resourcesIn(pages), ([id, token]) => void given.set(id, token));
  return given;
}

function* revocation({ owned, ending, applied }: Belief, root: AllocationRoot, given: ReadonlyMap<string, number>) {
  const resources = new Map<string, number>();
  yield* eachInPieces(owned, ([id, token]) => void (given.has(id) || resources.set(id, token)));
  if (resources.size === 0) return undefined;
  const id = 1 + Math.max(0, ...ending.map((each) => each.id));
  // The root that took them away is one of those after the last that was applied.
  const seq = applied?.born === root.born ? Math.min(applied.seq + 1, root.seq) : root.seq;
  return { id, seq, resources };
}

function* begin({ owned: former, ending, applied }: Belief, root: AllocationRoot, given: ReadonlyMap<string, number>) {
  const owned = new Map<string, number>();
  const added: OwnedResource[] = [];
  const renewed: OwnedResource[] = [];
  yield* eachInPieces(given, ([id, token]) => {
    const known = former.get(id);
    // In a grace, nodes keep what they believe and begin nothing: another node may own it by a root that was lost.
    if (root.grace) return void (known !== undefined && owned.set(id, known));
    owned.set(id, token);
    if (known === undefined) added.push({ id, token });
    else if (known !== token) renewed.push({ id, token });
  });
  const isOtherLineage = applied?.born !== root.born;
  const stillEnding = ending.map((each) => ({
    ...each,
    seq: isOtherLineage ? Math.min(each.seq, root.seq) : each.seq,
  }));
  return { owned, ending: stillEnding, added, renewed };
}
